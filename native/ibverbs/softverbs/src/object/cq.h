/* Completion queues, and the channels of their events. */
#pragma once
#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/lock.h"
#include "base/macros.h"
#include "object/layout.h"

struct sv_qp;

struct sv_channel {
	struct ibv_comp_channel channel;
	int write_fd;
	uint64_t ino;
};

/*
 * A finished send. It is written and read in words of 8 bytes: a wider read just after the writes would miss store
 * forwarding, which costs more than the rest of a poll.
 */
struct sv_cqe {
	uint64_t wr_id;
	uint64_t status_opcode;  /* laid out as in struct ibv_wc */
	uint64_t bytes_sequence; /* low half: byte_len; high: up to here the send queue is free once this is polled */
	struct sv_qp *qp;
};

struct sv_cq {
	union {
		struct ibv_cq cq;
		struct ibv_cq_ex ex;
	};
	struct sv_lock lock;
	struct sv_cq_entry *entry;
	struct sv_cqe *ring;
	uint32_t mask;
	uint32_t head, tail; /* head: next to poll */
	uint32_t arrivals;   /* seen */
	bool receives_waiting, receives_first;
	_Atomic bool overrun;
	_Atomic uint32_t stalled;      /* how many QPs that send to this CQ wait (waiting.c) */
	_Atomic uint32_t waiting_from; /* the index of the QP at which the next search begins (waiting.c) */
	struct sv_qp *receivers;       /* QPs that receive into it */
	struct sv_qp *next_receiver;
	uint32_t index;
	_Atomic unsigned users;
	uint32_t events_reported, async_reported;
	/* for extended CQs, which read a completion field by field (cq_ex.c) */
	struct ibv_wc current;
	struct sv_lock reading;
	bool reading_biased;
};

static inline struct sv_cq *sv_cq(struct ibv_cq *cq)
{
	return container_of(cq, struct sv_cq, cq);
}
