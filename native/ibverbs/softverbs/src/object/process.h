/*
 * One per process that has the device open: what it shows to its peers, and a table of each kind of object.
 * Locks are taken in this order: process, qp.send, qp.recv, cq, peers, peer.
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
	_Atomic bool overrun; /* a CQ was, and its QPs may not know */
	/* Each post to an idle QP writes these. */
	_Alignas(SV_LINE) _Atomic unsigned stalled; /* QPs that wait for something: the helper looks again after a while */
	_Atomic uint64_t waiting[SV_WAITING_WORDS]; /* those QPs, a bit each (waiting.c) */
	/* The helper reads these again and again: apart from what each post writes. */
	_Alignas(SV_LINE) _Atomic uint64_t waiting_words; /* a bit for each of those words that is not 0 */
	_Atomic bool spinning;                            /* the helper is awake and looks by itself */
	_Atomic uint64_t polled_ns;                       /* when a program last polled for something that waits */
	_Atomic uint64_t polled_all_ns;                   /* and did whatever was due of all that waits */
	_Atomic uint64_t cq_polled_ns[SV_CQS];            /* when it last polled for what waits in that CQ */
	_Atomic uint32_t send_cqs[SV_QPS];                /* the index of the CQ that each QP sends to */
	/* Of each QP, for who holds no lock that keeps it alive. */
	struct sv_due {
		_Atomic uint64_t next;     /* when something of it is due next; 0: it waits for something else than time */
#define SV_NOTHING_DUE UINT64_MAX  /* it is at rest, and in the list for whoever posts to it again */
		_Atomic uint64_t delivery; /* and something that its peer sees; 0: nothing. At rest: since when it is */
		_Atomic bool helped;       /* polls leave it to the helper; set and cleared under the send lock */
	} due[SV_QPS];
	_Alignas(SV_LINE) struct sv_context *contexts;
	uint32_t port_changes, ports_down; /* that we have followed; a bit each */
};

extern struct sv_process sv_process;

/* The slot, the segment and the pipes, for who opens the device; 0 or errno. */
int sv_process_create(void);
void sv_process_release(void);
/* After a fork: all of it is the parent's. */
void sv_process_forget(void);
/*
 * The process that has this slot: 0, or -1 with errno. ESRCH if it is another user's, since any user can take any name:
 * then no process that we could talk to has it.
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
