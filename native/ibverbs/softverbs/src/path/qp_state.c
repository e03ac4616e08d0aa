/*
 * The state of a queue pair as it and its peers see it, and how it fails. Transitions that a program asks for are in
 * qp_modify.c.
 */
#include "base/lock.h"
#include "model/delay.h"
#include "object/async.h"
#include "object/cq.h"
#include "object/layout.h"
#include "object/qp.h"
#include "path/completion.h"
#include "path/late.h"
#include "path/pending.h"
#include "path/qp_state.h"
#include "path/waiting.h"
#include "peer/peer.h"
#include "peer/quiesce.h"
#include "peer/remote.h"
#include "peer/robust.h"
#include "peer/watch.h"

void sv_qp_publish_state(struct sv_qp *qp)
{
	if (qp->dying)
		return; /* there is no such QP any more */
	bool down = sv_config.link_down || atomic_load(&sv_own_port(qp)->down);
	uint32_t state = SV_QP_LIVE | (uint32_t)qp->state | (down ? SV_QP_UNREACHABLE : 0);
	uint64_t access = qp->attr.qp_access_flags & ~(qp->attr.max_dest_rd_atomic ? 0u : SV_ANSWERED_ACCESS);
	uint64_t gate = access << 32 | qp->attr.dest_qp_num;

	atomic_store_explicit(&qp->entry->state, state, memory_order_release);
	/* behind a faulty port no post of a peer executes at once: it takes the long way, which looks at the port */
	bool open = sv_accepts(state) && !atomic_load(&sv_own_port(qp)->faulty);

	atomic_store_explicit(&qp->entry->gate, open ? gate : 0, memory_order_release);
}

void sv_qp_shut(struct sv_qp *qp)
{
	atomic_store_explicit(&qp->entry->gate, 0, memory_order_release);
}

void sv_qp_update_direct(struct sv_qp *qp)
{
	/* only RC: unreliable QPs must ignore errors at the far end */
	qp->direct = qp->state == IBV_QPS_RTS && qp->target.segment && qp->qp.qp_type == IBV_QPT_RC &&
	             qp->pending_head == qp->pending_tail && !atomic_load(&qp->peer->dead) && !sv_is_delayed(qp);
}

bool sv_qp_fail_finish(struct sv_qp *qp)
{
	if (qp->qp.qp_type == IBV_QPT_UD) {
		uint64_t holder = atomic_load(&qp->entry->rq.lock);

		if (holder && sv_robust_lives(holder))
			return false;
	} else if (!sv_copier_out(qp, qp->failing_copier)) {
		return false;
	}
	qp->failing = false;
	sv_waiting_update(qp);
	struct sv_cq *cq = sv_cq(qp->qp.recv_cq);

	sv_lock_control(&qp->recv_lock);
	sv_lock_control(&cq->lock);
	qp->flush_receives = true;
	sv_unlock(&cq->lock, false);
	sv_unlock(&qp->recv_lock, false);
	sv_cq_flush_arrived(cq);
	if (qp->qp.srq)
		sv_async_raise(qp->qp.context, IBV_EVENT_QP_LAST_WQE_REACHED, qp->index, qp->qp.qp_num);
	return true;
}

void sv_qp_fail(struct sv_qp *qp)
{
	enum sv_fault fault = atomic_load(&qp->entry->fault);

	if (qp->state == IBV_QPS_ERR || qp->state == IBV_QPS_RESET)
		return;
	qp->state = IBV_QPS_ERR;
	qp->direct = false;
	sv_qp_publish_state(qp);
	sv_send_flush(qp);
	if (fault == SV_FAULT_ACCESS)
		sv_async_raise(qp->qp.context, IBV_EVENT_QP_ACCESS_ERR, qp->index, qp->qp.qp_num);
	else if (fault == SV_FAULT_REQUEST)
		sv_async_raise(qp->qp.context, IBV_EVENT_QP_REQ_ERR, qp->index, qp->qp.qp_num);
	else if (fault == SV_FAULT_LOST)
		sv_async_raise(qp->qp.context, IBV_EVENT_QP_FATAL, qp->index, qp->qp.qp_num);
	/* receives are flushed once no sender can still be filling one; the helper waits for that, a post must not */
	qp->failing = true;
	qp->failing_copier = sv_copier_now(qp);
	sv_delay_publish(qp);
	if (!sv_qp_fail_finish(qp)) {
		sv_watch_start();
		sv_waiting_update(qp);
	}
}

/* Fail the send queue of an unreliable QP alone: the QP still receives. */
static void fail_sends(struct sv_qp *qp)
{
	if (qp->state != IBV_QPS_RTS && qp->state != IBV_QPS_SQD)
		return;
	qp->state = IBV_QPS_SQE;
	qp->direct = false;
	sv_qp_publish_state(qp);
	sv_send_flush(qp);
}

void sv_send_fail(struct sv_qp *qp, const struct ibv_send_wr *wr, int status, uint32_t sequence)
{
	/* an unreliable QP loses the send that failed, and nothing else; FATAL_ERR is a fault on request */
	if (qp->qp.qp_type != IBV_QPT_RC && status != IBV_WC_FATAL_ERR) {
		sv_complete(qp, wr, status, 0, sequence);
		fail_sends(qp);
		return;
	}
	/*
	 * close the gate before the completion: a thread that has seen the completion must not post to a QP of ours that is
	 * about to fail; see post_direct in send.c
	 */
	sv_qp_shut(qp);
	sv_complete(qp, wr, status, 0, sequence);
	sv_qp_fail(qp);
}
