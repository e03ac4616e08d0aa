/* How completions get into a queue. */
#pragma once
#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/lock.h"
#include "base/macros.h"
#include "object/cq.h"
#include "object/layout.h"
#include "object/qp.h"

void sv_cq_attach(struct sv_cq *cq, struct sv_qp *qp);
void sv_cq_detach(struct sv_cq *cq, struct sv_qp *qp);
/* Remove the completions of this QP. */
void sv_cq_forget(struct sv_cq *cq, struct sv_qp *qp);
void sv_cq_notify(struct sv_cq *cq, bool solicited);
/* Receives were flushed, for which no sender published anything: make the next poll look, and raise an event. */
void sv_cq_flush_arrived(struct sv_cq *cq);
/*
 * Raise an event for what is there: a peer may have died after it published a record and before its event, or could not
 * write the event.
 */
void sv_cq_notify_arrived(struct sv_cq *cq);
/* Move the QPs of CQs that were overrun into error. Under the process lock. */
void sv_cq_fail_users(void);

/* A completion found no room. The QP fails as soon as the next post or the helper notices. */
void sv_completion_lost(struct sv_qp *qp);

SV_INLINE void sv_push(struct sv_qp *qp, const struct ibv_send_wr *wr, int status, uint32_t bytes, uint32_t sequence)
{
	static const uint8_t opcodes[] = {
	    [IBV_WR_RDMA_WRITE] = IBV_WC_RDMA_WRITE,
	    [IBV_WR_RDMA_WRITE_WITH_IMM] = IBV_WC_RDMA_WRITE,
	    [IBV_WR_SEND] = IBV_WC_SEND,
	    [IBV_WR_SEND_WITH_IMM] = IBV_WC_SEND,
	    [IBV_WR_RDMA_READ] = IBV_WC_RDMA_READ,
	    [IBV_WR_ATOMIC_CMP_AND_SWP] = IBV_WC_COMP_SWAP,
	    [IBV_WR_ATOMIC_FETCH_AND_ADD] = IBV_WC_FETCH_ADD,
	    [IBV_WR_LOCAL_INV] = IBV_WC_LOCAL_INV,
	    [IBV_WR_BIND_MW] = IBV_WC_BIND_MW,
	    [IBV_WR_SEND_WITH_INV] = IBV_WC_SEND,
	};
	struct sv_cq *cq = sv_cq(qp->qp.send_cq);
	bool biased = sv_lock(&cq->lock);

	if (unlikely(cq->tail - cq->head >= (uint32_t)cq->cq.cqe)) {
		sv_unlock(&cq->lock, biased);
		sv_completion_lost(qp);
		return;
	}
	struct sv_cqe *cqe = &cq->ring[cq->tail++ & cq->mask];

	cqe->wr_id = wr->wr_id;
	cqe->status_opcode = (uint32_t)status | (uint64_t)opcodes[wr->opcode] << 32;
	cqe->bytes_sequence = bytes | (uint64_t)(sequence + 1) << 32;
	cqe->qp = qp;
	if (unlikely(atomic_load_explicit(&cq->entry->armed, memory_order_relaxed) & SV_ARMED_FOR))
		sv_cq_notify(cq, status != IBV_WC_SUCCESS);
	sv_unlock(&cq->lock, biased);
}

/* The same, as a function. */
void sv_complete(struct sv_qp *qp, const struct ibv_send_wr *wr, int status, uint32_t bytes, uint32_t sequence);

static inline bool sv_signaled(const struct sv_qp *qp, const struct ibv_send_wr *wr)
{
	return qp->sq_sig_all || (wr->send_flags & IBV_SEND_SIGNALED);
}
