#include "model/config.h"
#include "object/layout.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct sv_config sv_config;

/*
 * The constants of a preset were fixed here, each with its source, before anything was measured with it. No source
 * could be found for the one that is marked (*): a result that rests on it must say so.
 *
 * connectx5: ConnectX-5 at 100 Gbit/s, one switch away.
 *  - latency 1450: half of the 2.9 us network round trip in Redy (VLDB 2022), which measured on such NICs
 *  - message 5 (*): 200 million messages a second. The product brief says "extremely high message rates"; that of its
 *    successor, ConnectX-6 EN, 215 million
 *  - gbps 100: the link
 *  - fetch 550: a card's DMA read of 64 bytes from the local socket's memory: 550 to 562 ns on the average on Xeon E5
 *    v1 to v4 (one of v3: 599); LAT_DMA_RD in github.com/pcie-bench/data at b2abf2f, the measurements of Neugebauer et
 *    al., "Understanding PCIe performance for end host networking", SIGCOMM 2018
 *  - inline 172, depth 16: Redy's NIC
 *
 * distance3, distance5: the same over 3 and 5 switches, each further one 300 ns: Mellanox Spectrum-2, in "Spectrum-2
 * Debuts 200GbE", Linley Newsletter, July 31, 2017
 */
static const struct preset {
	const char *name;
	uint64_t latency;
} presets[] = {{"connectx5", 1450}, {"distance1", 1450}, {"distance3", 2050}, {"distance5", 2650}};

static _Atomic uint64_t random_state;
/* By QP, under its send lock. An atomic addition would wait for all earlier stores of the operation. */
static struct {
	_Atomic uint64_t operations, misses, worst_ns, unjudged;
} counted[SV_QPS];

/* An operation that was executed later than this after it was due is a missed deadline. */
#define MISS_NS 1000

void sv_random_seed(uint64_t seed)
{
	atomic_store(&random_state, seed);
}

uint64_t sv_random(uint64_t bound)
{
	uint64_t x = atomic_fetch_add_explicit(&random_state, 0x9e3779b97f4a7c15ull, memory_order_relaxed);

	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9ull;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebull;
	x ^= x >> 31;
	return bound ? x % bound : x;
}

bool sv_chance(uint32_t ppm)
{
	return ppm && sv_random(1000000) < ppm;
}

int sv_model_preset(const char *name)
{
	for (size_t i = 0; i < sizeof(presets) / sizeof(presets[0]); i++) {
		if (strcmp(name, presets[i].name) != 0)
			continue;
		snprintf(sv_config.model_name, sizeof(sv_config.model_name), "%s", name);
		sv_config.latency = presets[i].latency;
		sv_config.message = 5;
		sv_config.bytes_per_ns = 100.0 / 8;
		sv_config.fetch = 550;
		sv_config.max_inline = 172;
		sv_config.max_depth = 16;
		atomic_store(&sv_config.model, true);
		return 0;
	}
	return EINVAL;
}

static void add(_Atomic uint64_t *to, uint64_t n)
{
	atomic_store_explicit(to, atomic_load_explicit(to, memory_order_relaxed) + n, memory_order_relaxed);
}

void sv_model_count(uint32_t qp, uint64_t late_ns)
{
	add(&counted[qp].operations, 1);
	if (late_ns > MISS_NS)
		add(&counted[qp].misses, 1);
	if (late_ns > atomic_load_explicit(&counted[qp].worst_ns, memory_order_relaxed))
		atomic_store_explicit(&counted[qp].worst_ns, late_ns, memory_order_relaxed);
}

void sv_model_count_unjudged(uint32_t qp)
{
	add(&counted[qp].unjudged, 1);
}

static _Atomic uint64_t reported_done, reported_late;

void sv_model_counted(uint64_t *done, uint64_t *late)
{
	*done = -atomic_load(&reported_done);
	*late = -atomic_load(&reported_late);
	for (uint32_t i = 0; i < SV_QPS; i++) {
		*done += atomic_load_explicit(&counted[i].operations, memory_order_relaxed);
		*late += atomic_load_explicit(&counted[i].misses, memory_order_relaxed);
	}
}

static uint64_t take_worst(void)
{
	uint64_t worst = 0;

	for (uint32_t i = 0; i < SV_QPS; i++) {
		uint64_t most = atomic_exchange(&counted[i].worst_ns, 0);

		if (most > worst)
			worst = most;
	}
	return worst;
}

static uint64_t take_unjudged(void)
{
	uint64_t unjudged = 0;

	for (uint32_t i = 0; i < SV_QPS; i++)
		unjudged += atomic_exchange(&counted[i].unjudged, 0);
	return unjudged;
}

/* A destructor, too, for programs that exit without closing the device. */
__attribute__((destructor)) void sv_model_report(void)
{
	uint64_t done, late, unjudged = take_unjudged();

	sv_model_counted(&done, &late);
	if (!done && !unjudged)
		return;
	atomic_fetch_add(&reported_done, done);
	atomic_fetch_add(&reported_late, late);
	double share = done ? 100.0 * (double)late / (double)done : 0;
	bool invalid = share > 1 && !sv_config.allow_misses;

	fprintf(stderr,
	    "softverbs: NIC model %s: %lu operations, %lu more than %d ns late (%.2f%%), the worst by %lu ns; "
	    "%lu READs not judged%s\n",
	    sv_config.model_name, done, late, MISS_NS, share, take_worst(), unjudged,
	    invalid ? ": INVALID, over 1% (misses=allow lets it pass)" : "");
	if (invalid) {
		fflush(NULL);
		_exit(99);
	}
}
