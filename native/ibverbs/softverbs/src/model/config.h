/*
 * The values of the settings: the device executes operations at once, or as late and in as much disorder as the
 * specification allows (order=weak), or like a certain NIC (model=...), or with faults. Read from SOFTVERBS (a list of
 * settings, or @FILE) when the device is first opened, and changed at run time by softverbs_control().
 */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct sv_config {
	/* one of the settings that delay operations is on: then no operation executes inside its post */
	_Atomic bool delayed;
	_Atomic bool weak;
	_Atomic bool model;
	uint64_t seed;
	_Atomic bool roce; /* ports are on Ethernet, with more GIDs and no LID */
	uint32_t devices;  /* how many devices this process has, each a machine with a NIC of its own; 0: one */

	/* the model, in nanoseconds and bytes */
	char model_name[32];
	uint64_t latency;               /* one way, wire to wire */
	uint64_t message;               /* how long a message occupies the NIC */
	double bytes_per_ns;            /* of the link */
	uint64_t fetch;                 /* to fetch a payload that was not inline */
	uint64_t jitter;                /* up to this much later, at random */
	uint32_t max_inline, max_depth; /* 0: the device's */
	bool allow_misses;

	/* faults */
	_Atomic bool link_down;
	_Atomic uint32_t straggler_ppm;
	_Atomic uint64_t straggler_ns;
	_Atomic uint32_t corrupt_ppm;
	_Atomic uint32_t corrupt_read_ppm;
	_Atomic uint64_t qp_error_after; /* after this many operations of one QP; 0: never */
	_Atomic uint64_t memlock;        /* how many bytes may be registered; 0: no limit */
	_Atomic uint64_t registered;
};

extern struct sv_config sv_config;

/* Take the constants of a known NIC. Returns 0 or errno. */
int sv_model_preset(const char *name);
void sv_random_seed(uint64_t seed);
/* A number in [0, bound), from the seed. */
uint64_t sv_random(uint64_t bound);
bool sv_chance(uint32_t ppm);
/*
 * Count an executed operation of the model that can be late, and was by late_ns: one whose effect a peer can see. Under
 * the QP's send lock.
 */
void sv_model_count(uint32_t qp, uint64_t late_ns);
/* Count an executed operation that cannot be judged: a READ, or one that was posted before the model was on. */
void sv_model_count_unjudged(uint32_t qp);
/* The counts since the last report: operations that can be late, and how many of them were. */
void sv_model_counted(uint64_t *done, uint64_t *late);
/* Print what the model counted, when the device is closed for the last time. */
void sv_model_report(void);
