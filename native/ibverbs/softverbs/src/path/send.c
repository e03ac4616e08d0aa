/*
 * Posting sends. A connected QP on which nothing waits executes its WRs inside the post. A send that cannot run yet
 * (the receiver has posted no receive, the peer is not ready) is copied into the send queue and tried again: by polls
 * of the CQ, by further posts, and by the helper thread, which the receiver wakes.
 */
#include "base/clock.h"
#include "base/lock.h"
#include "base/macros.h"
#include "execute/execute.h"
#include "model/delay.h"
#include "object/qp.h"
#include "path/completion.h"
#include "path/busy.h"
#include "path/late.h"
#include "path/pending.h"
#include "path/progress.h"
#include "path/qp_state.h"
#include "path/send.h"
#include "path/waiting.h"

#include <errno.h>

#define KNOWN_FLAGS (IBV_SEND_FENCE | IBV_SEND_SIGNALED | IBV_SEND_SOLICITED | IBV_SEND_INLINE)

#define BIT(opcode) (1u << (opcode))
#define LOCAL_OPCODES (BIT(IBV_WR_LOCAL_INV) | BIT(IBV_WR_BIND_MW))
#define INLINE_OPCODES \
	(BIT(IBV_WR_RDMA_WRITE) | BIT(IBV_WR_RDMA_WRITE_WITH_IMM) | BIT(IBV_WR_SEND) | BIT(IBV_WR_SEND_WITH_IMM) | \
	    BIT(IBV_WR_SEND_WITH_INV))

SV_INLINE bool is_full(const struct sv_qp *qp)
{
	return qp->sequence - atomic_load_explicit(&qp->freed, memory_order_acquire) >= qp->max_send_wr;
}

/* Find an error for which a post refuses a WR at once. Returns an errno. */
static __attribute__((noinline)) int check(const struct sv_qp *qp, const struct ibv_send_wr *wr)
{
	if (unlikely(wr->opcode > IBV_WR_SEND_WITH_INV || !(qp->opcodes >> wr->opcode & 1)))
		return wr->opcode > IBV_WR_SEND_WITH_INV ? EOPNOTSUPP : EINVAL;
	if (unlikely((wr->send_flags & ~(unsigned)KNOWN_FLAGS) || (uint32_t)wr->num_sge > qp->max_send_sge))
		return EINVAL;
	if (wr->send_flags & IBV_SEND_INLINE) {
		uint64_t bytes = 0;

		for (int i = 0; i < wr->num_sge; i++)
			bytes += wr->sg_list[i].length;
		if (unlikely(bytes > qp->max_inline || !(INLINE_OPCODES >> wr->opcode & 1)))
			return EINVAL;
	}
	return unlikely(is_full(qp)) ? ENOMEM : 0;
}

int sv_send_check(const struct sv_qp *qp, const struct ibv_send_wr *wr)
{
	return check(qp, wr);
}

/* Is the gate of the peer's QP open to us? */
SV_INLINE bool is_open(const struct sv_qp *qp, unsigned *granted)
{
	uint64_t gate = atomic_load_explicit(&qp->remote_entry->gate, memory_order_acquire);

	*granted = (unsigned)(gate >> 32);
	return likely((uint32_t)gate == qp->qp.qp_num);
}

static __attribute__((noinline)) int post_waiting(struct sv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	int error = 0;

	for (; wr; wr = wr->next) {
		if (qp->state != IBV_QPS_RTS && qp->state != IBV_QPS_SQD && qp->state != IBV_QPS_ERR &&
		    qp->state != IBV_QPS_SQE)
			error = EINVAL;
		else
			error = check(qp, wr);
		if (!error && qp->qp.qp_type == IBV_QPT_UD && !wr->wr.ud.ah)
			error = EINVAL;
		if (error)
			break;
		if (qp->state == IBV_QPS_ERR || qp->state == IBV_QPS_SQE) {
			sv_complete(qp, wr, IBV_WC_WR_FLUSH_ERR, 0, qp->sequence++);
			continue;
		}
		if ((error = sv_pending_add(qp, wr, qp->sequence)))
			break;
		qp->sequence++;
		if (likely(!sv_is_delayed(qp)))
			sv_send_progress(qp, sv_now_ns());
	}
	if (error)
		*bad = wr;
	/* a delayed operation never executes in its post */
	sv_delay_publish(qp);
	sv_waiting_update(qp);
	return error;
}

/*
 * Execute in the post. The peer's gate says all that has to be known, also that our own QP is not in error: a peer
 * whose request put our QP into error fails its own QP, which closes its gate. A peer that died leaves its gate open,
 * but once the helper has noticed its death, posts are not direct.
 */
SV_INLINE int post_direct(struct sv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	int status = IBV_WC_SUCCESS, error = 0;
	unsigned granted;

	sv_enter(qp);
	if (unlikely(!is_open(qp, &granted))) {
		sv_leave(qp);
		qp->direct = false;
		return post_waiting(qp, wr, bad);
	}
	for (; wr; wr = wr->next) {
		uint32_t bytes;

		if (unlikely(is_full(qp) || !sv_execute_simple(qp, wr, granted, &bytes))) {
			if ((error = check(qp, wr))) {
				*bad = wr;
				break;
			}
			if (LOCAL_OPCODES >> wr->opcode & 1) {
				/* these operations wait for copiers, possibly for this QP itself: not between enter and leave */
				sv_leave(qp);
				return post_waiting(qp, wr, bad);
			}
			if ((status = sv_execute(qp, wr, &bytes)))
				break;
		}
		uint32_t sequence = qp->sequence++;

		if (sv_signaled(qp, wr))
			sv_push(qp, wr, IBV_WC_SUCCESS, bytes, sequence);
	}
	sv_leave(qp);
	if (likely(status == IBV_WC_SUCCESS))
		return error;
	if (status >= SV_STALL_RNR) {
		qp->direct = false;
		return post_waiting(qp, wr, bad);
	}
	sv_send_fail(qp, wr, status, qp->sequence++);
	return wr->next ? post_waiting(qp, wr->next, bad) : 0;
}

/* The same for one WR of the usual kind. False: nothing was done. */
SV_INLINE bool post_single(struct sv_qp *qp, const struct ibv_send_wr *wr)
{
	uint32_t bytes;
	unsigned granted;

	if (unlikely(is_full(qp)))
		return false;
	sv_enter(qp);
	bool done = is_open(qp, &granted) && likely(sv_execute_simple(qp, wr, granted, &bytes));

	sv_leave(qp);
	if (unlikely(!done))
		return false;
	uint32_t sequence = qp->sequence++;

	if (sv_signaled(qp, wr))
		sv_push(qp, wr, IBV_WC_SUCCESS, bytes, sequence);
	return true;
}

static __attribute__((noinline)) int post_locked(struct sv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	return likely(qp->direct) ? post_direct(qp, wr, bad) : post_waiting(qp, wr, bad);
}

int sv_post_send_locked(struct sv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	return post_locked(qp, wr, bad);
}

static __attribute__((noinline)) int post_shared(struct sv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	bool biased = sv_lock(&qp->lock);
	int error = post_locked(qp, wr, bad);

	sv_unlock(&qp->lock, biased);
	return error;
}

int sv_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct sv_qp *qp = sv_qp(ibqp);

	if (unlikely(!sv_lock_own(&qp->lock)))
		return post_shared(qp, wr, bad);
	int error = likely(qp->direct && !wr->next && post_single(qp, wr)) ? 0 : post_locked(qp, wr, bad);

	sv_unlock(&qp->lock, true);
	return error;
}
