/* Queue pairs. */
#pragma once
#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/copy.h"
#include "base/lock.h"
#include "base/macros.h"
#include "object/layout.h"
#include "object/link.h"
#include "object/srq.h"

struct sv_builder;
struct sv_pending;

/* Results of executing a WR other than enum ibv_wc_status: reasons to wait. */
enum {
	SV_STALL_RNR = 100,
	SV_STALL_NOT_READY,
	SV_STALL_GONE,
	SV_STALL_COPIER,
	SV_STALL_OUT_OF_REACH, /* the peer's memory is not where it was: the peer may be ending */
	SV_STALL_SHORTAGE,     /* we lack descriptors or memory: the peer may be well */
	SV_STALL_HELPER        /* it takes more than the calling thread may do: the helper thread does it */
};

struct sv_qp {
	union {
		struct ibv_qp qp;
		struct ibv_qp_ex ex;
	};
	/* what a post needs */
	struct sv_lock lock;
	struct sv_qp_entry *entry;
	uint32_t turn; /* the value that we stored last into the shared word `busy` */
	union {
		struct sv_link link;
		struct { /* the same, by shorter names */
			struct sv_peer *peer;
			struct sv_qp_entry *remote_entry;
			struct sv_remotes remotes;
			struct sv_target target;
			bool seen_ready;
		};
	};
	struct sv_heat heat;
	struct sv_link *ud_links; /* SV_UD_LINKS, by QP number; the one in use is copied into `link` */
	uint32_t max_send_wr, max_send_sge, max_inline;
	uint32_t sequence;      /* sends posted */
	_Atomic uint32_t freed; /* sends whose slot is free again */
	bool sq_sig_all;
	uint32_t opcodes; /* allowed: a bit each */
	bool direct;      /* RTS, connected, nothing waits: a post executes at once */
	uint32_t pd_handle;

	/* sends that wait */
	struct sv_pending **pending; /* ring of max_send_wr */
	uint32_t pending_head, pending_tail, pending_mask;
	uint64_t stall_since_ns; /* 0: not stalled */
	int stall_reason;
	uint64_t last_start, last_due, last_due_complete;
	uint32_t undelivered; /* how many of those the peer will see: not READs, and not those that are done */
	uint64_t operations;  /* how many were executed, while they are counted */
	bool waiting;         /* its bit is set (waiting.c) */
	/* of the thread that runs its sends now; under the send lock */
	bool bounded; /* it may not connect or map */
	bool helped;  /* it is the helper, which populates what it maps once it has released its locks */
	bool mapped;  /* it is the helper, and has mapped something that may need populating */

	/* receive side */
	struct sv_lock recv_lock;
	struct sv_rq rq;
	struct sv_recv_record *records;
	uint32_t record_mask, record_tail; /* under the recv CQ's lock */
	bool flush_receives;
	struct sv_qp *next_receiver;
	size_t record_bytes;

	enum ibv_qp_state state;
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init;
	uint32_t index;
	bool dying;       /* ibv_destroy_qp was called and waits for a copier; under the send lock */
	uint32_t changes; /* calls of ibv_modify_qp; under the send lock */
	bool failing;     /* quiescing the peer before the receives are flushed; under the send lock */
	uint32_t failing_copier;
	uint32_t async_reported;
	struct sv_builder *builder;
};

/* Does a QP in this published state take requests? */
static inline bool sv_accepts(uint32_t state)
{
	return state >= (SV_QP_LIVE | IBV_QPS_RTR) && state <= (SV_QP_LIVE | IBV_QPS_SQE);
}

static inline struct sv_qp *sv_qp(struct ibv_qp *qp)
{
	return container_of(qp, struct sv_qp, qp);
}
