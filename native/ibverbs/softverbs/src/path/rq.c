/* Receive queues, of QPs and SRQs: rings in our segment that senders read, and posting to them. */
#include "base/lock.h"
#include "base/macros.h"
#include "object/async.h"
#include "object/cq.h"
#include "object/layout.h"
#include "object/process.h"
#include "object/qp.h"
#include "object/segment.h"
#include "object/srq.h"
#include "path/completion.h"
#include "path/rq.h"
#include "peer/peer.h"

#include <errno.h>
#include <string.h>

static uint32_t power_of_two(uint32_t n)
{
	uint32_t p = 1;

	while (p < n)
		p *= 2;
	return p;
}

/* Under the process lock. */
int sv_rq_init(struct sv_rq *rq, struct sv_rq_entry *entry, uint32_t max_wr, uint32_t max_sge)
{
	uint32_t entries = power_of_two(max_wr ? max_wr : 1);

	memset(rq, 0, sizeof(*rq));
	rq->stride = (uint32_t)(sizeof(struct sv_recv_wqe) + max_sge * sizeof(struct sv_sge));
	rq->bytes = (size_t)entries * rq->stride;
	uint64_t offset = sv_segment_alloc(rq->bytes);

	if (!offset)
		return ENOMEM;
	rq->entry = entry;
	rq->wqes = (uint8_t *)sv_process.segment + offset;
	rq->max_wr = max_wr;
	rq->max_sge = max_sge;
	rq->mask = entries - 1;
	entry->wqes = offset;
	entry->stride = rq->stride;
	entry->max_sge = max_sge;
	entry->entries = entries;
	/* all but the lock: a sender to the QP that was here before may hold it for a moment more */
	atomic_store(&entry->tail, 0);
	atomic_store(&entry->limit, 0);
	atomic_store(&entry->head, 0);
	atomic_store(&entry->intent_qp, 0);
	atomic_store(&entry->limit_hit, 0);
	return 0;
}

/* Under the process lock. */
void sv_rq_destroy(struct sv_rq *rq)
{
	if (rq->entry)
		sv_segment_free(rq->entry->wqes, rq->bytes);
	rq->entry = NULL;
}

static int post(struct sv_rq *rq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	uint32_t tail = atomic_load_explicit(&rq->entry->tail, memory_order_relaxed);
	int error = 0;

	for (; wr; wr = wr->next) {
		if (wr->num_sge < 0 || (uint32_t)wr->num_sge > rq->max_sge) {
			error = EINVAL;
			break;
		}
		if (tail - atomic_load_explicit(&rq->polled, memory_order_acquire) >= rq->max_wr) {
			error = ENOMEM;
			break;
		}
		struct sv_recv_wqe *wqe = (struct sv_recv_wqe *)(rq->wqes + (size_t)(tail & rq->mask) * rq->stride);

		wqe->wr_id = wr->wr_id;
		wqe->num_sge = (uint32_t)wr->num_sge;
		for (int i = 0; i < wr->num_sge; i++)
			wqe->sge[i] = (struct sv_sge){wr->sg_list[i].addr, wr->sg_list[i].length, wr->sg_list[i].lkey};
		atomic_store_explicit(&rq->entry->tail, ++tail, memory_order_release);
	}
	if (error && bad)
		*bad = wr;
	return error;
}

static void wake_sender(struct sv_qp *qp)
{
	/* another thread has it: then the sender finds the receive without being woken, a little later */
	if (!sv_lock_try(&qp->lock, false))
		return;
	if (atomic_exchange(&qp->entry->sender_waits, 0) && qp->peer)
		sv_peer_wake(qp->peer);
	sv_unlock(&qp->lock, false);
}

int sv_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct sv_qp *qp = sv_qp(ibqp);
	bool biased = sv_lock(&qp->recv_lock);
	int error;

	/* the published state, since `qp->state` is under the send lock */
	if (unlikely(
	        (atomic_load_explicit(&qp->entry->state, memory_order_relaxed) & 0xff) == IBV_QPS_RESET || ibqp->srq)) {
		error = EINVAL;
		if (bad)
			*bad = wr;
	} else {
		error = post(&qp->rq, wr, bad);
	}
	bool waiting = atomic_load_explicit(&qp->entry->sender_waits, memory_order_relaxed);
	bool flushing = qp->flush_receives;

	sv_unlock(&qp->recv_lock, biased);
	if (unlikely(waiting))
		wake_sender(qp);
	if (unlikely(flushing))
		sv_cq_flush_arrived(sv_cq(ibqp->recv_cq));
	return error;
}

int sv_post_srq_recv(struct ibv_srq *ibsrq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct sv_srq *srq = sv_srq(ibsrq);
	bool biased = sv_lock(&srq->lock);
	int error = post(&srq->rq, wr, bad);

	sv_unlock(&srq->lock, biased);
	return error;
}

void sv_srq_look(struct sv_srq *srq)
{
	if (atomic_exchange(&srq->rq.entry->limit_hit, 0))
		sv_async_raise(srq->srq.context, IBV_EVENT_SRQ_LIMIT_REACHED, srq->index, srq->srq.handle);
}
