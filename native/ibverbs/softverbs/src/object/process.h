/*
 * The process that has the device open: what it shows to its peers, and a table for each kind of object. Locks are
 * taken in this order: process, qp.send, qp.recv, cq, peers, peer.
 */
#pragma once
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "object/layout.h"

struct sv_qp;
struct sv_cq;
struct sv_srq;
struct sv_mr;
struct sv_context;

#define SV_WAITING_WORDS (SV_QPS / 64)

struct sv_process {
	pthread_mutex_t lock;
	pthread_mutex_t keys_lock; /* mrs; a leaf */
	unsigned opens;
	uint32_t slot;
	int life_write;
	uint64_t life_ino;
	int listener;
	int segment_fd;
	int wake_read, wake_write;
	struct sv_segment *segment;
	struct sv_qp *qps[SV_QPS];
	struct sv_cq *cqs[SV_CQS];
	struct sv_srq *srqs[SV_SRQS];
	struct sv_mr *mrs[SV_MRS];
	uint32_t next_qp, next_cq, next_srq, next_mr;
	uint32_t next_pd;
	uint8_t mr_generation, cq_generation;
	_Atomic bool overrun; /* a CQ was overrun, and its QPs may not know */
	/* Each post to an idle QP writes these. */
	_Alignas(SV_LINE) _Atomic unsigned stalled; /* QPs that wait for something: the helper looks again after a while */
	_Atomic uint64_t waiting[SV_WAITING_WORDS]; /* a bit for each of those QPs (waiting.c) */
	/* The helper reads these again and again, so they are apart from the words that each post writes. */
	_Alignas(SV_LINE) _Atomic uint64_t waiting_words; /* a bit for each word of `waiting` that is not 0 */
	_Atomic bool spinning;                            /* the helper is awake and looks without being woken */
	_Atomic uint64_t polled_ns;                       /* when a program last polled for something that waits */
	_Atomic uint64_t polled_all_ns;                   /* when it last did so and executed all that was due */
	_Atomic uint64_t cq_polled_ns[SV_CQS];            /* when it last polled for what waits in this CQ */
	_Atomic uint32_t send_cqs[SV_QPS];                /* the index of the CQ that each QP sends to */
	/* For each QP, for threads that hold no lock that keeps the QP alive. */
	struct sv_due {
		_Atomic uint64_t next;     /* when something of it is due next; 0: it waits for something other than time */
#define SV_NOTHING_DUE UINT64_MAX  /* it is at rest, and stays in the list for the next post to it */
		_Atomic uint64_t delivery; /* when something that its peer sees is due; 0: nothing. At rest: since when */
		_Atomic bool helped;       /* polls leave the QP to the helper; set and cleared under the send lock */
	} due[SV_QPS];
	_Alignas(SV_LINE) struct sv_context *contexts;
	uint32_t port_changes, ports_down; /* as far as we have followed them; a bit for each device */
};

extern struct sv_process sv_process;

/* Create the slot, the segment and the pipes when the device is opened. Returns 0 or errno. */
int sv_process_create(void);
void sv_process_release(void);
/* After a fork: all of it belongs to the parent. */
void sv_process_forget(void);
/*
 * Find the process that has this slot: 0, or -1 with errno. ESRCH: another user has taken its name, as any user can:
 * then no process that we could talk to has the slot.
 */
int sv_slot_owner(uint32_t slot, pid_t *pid);

static inline uint32_t sv_qpn_slot(uint32_t qpn)
{
	return qpn >> 12;
}

static inline uint32_t sv_qpn_index(uint32_t qpn)
{
	return qpn & (SV_QPS - 1);
}
