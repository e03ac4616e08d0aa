/* Trying one send: is its peer there to take it, and if so, executing it. */
#include "base/calls.h"
#include "base/macros.h"
#include "execute/deliver.h"
#include "execute/execute.h"
#include "execute/ud.h"
#include "execute/window.h"
#include "object/layout.h"
#include "object/pending.h"
#include "object/qp.h"
#include "path/busy.h"
#include "path/try.h"
#include "peer/link.h"
#include "peer/peer.h"

#include <errno.h>

/* Is the peer's QP there, ready and connected to us? Between sv_enter and sv_leave. */
SV_INLINE bool peer_ready(const struct sv_qp *qp)
{
	return likely(sv_accepts(atomic_load_explicit(&qp->remote_entry->state, memory_order_acquire)) &&
	              atomic_load_explicit(&qp->remote_entry->dest_qpn, memory_order_relaxed) == qp->qp.qp_num);
}

/* The reason to wait if the peer does not take our requests. */
static int absence(struct sv_qp *qp)
{
	uint32_t state = atomic_load_explicit(&qp->remote_entry->state, memory_order_acquire);

	if (state & SV_QP_UNREACHABLE)
		return SV_STALL_NOT_READY;
	if (!(state & SV_QP_LIVE) || state == (SV_QP_LIVE | IBV_QPS_ERR) || qp->seen_ready)
		return SV_STALL_GONE;
	return SV_STALL_NOT_READY;
}

/* The reason to wait if we did not get to the peer's process. */
static int unreached(int error)
{
	if (sv_is_shortage(error))
		return SV_STALL_SHORTAGE;
	return error == EAGAIN ? SV_STALL_NOT_READY : SV_STALL_GONE; /* EAGAIN: it has not accepted its connections yet */
}

static int try_reliably(struct sv_qp *qp, const struct ibv_send_wr *wr, uint32_t *bytes)
{
	int status;

	if (wr->opcode == IBV_WR_LOCAL_INV)
		return sv_mw_invalidate(qp, wr->invalidate_rkey);
	if (wr->opcode == IBV_WR_BIND_MW)
		return sv_mw_bind(qp, wr, container_of(wr, struct sv_pending, wr)->region); /* binds are always queued first */
	if (qp->qp.qp_type == IBV_QPT_UD) {
		sv_busy(qp);
		status = sv_execute_ud(qp, wr, bytes);
		sv_busy(qp);
		return status;
	}
	if (!qp->remote_entry && qp->bounded)
		return SV_STALL_HELPER;
	if (!qp->remote_entry && !sv_qp_connect(qp))
		return unreached(errno);
	if (atomic_load_explicit(&qp->peer->dead, memory_order_relaxed))
		return SV_STALL_GONE;
	if (!peer_ready(qp))
		return absence(qp);
	sv_enter(qp);
	if (peer_ready(qp)) {
		qp->seen_ready = true;
		status = qp->target.segment || sv_target_init(&qp->target, qp->peer->segment, qp->attr.dest_qp_num)
		             ? sv_execute(qp, wr, bytes)
		             : IBV_WC_REM_OP_ERR;
	} else {
		status = absence(qp);
	}
	sv_leave(qp);
	return status;
}

/* On an unreliable connection errors of the other end do not reach us: what it does not take is lost. */
int sv_send_try(struct sv_qp *qp, const struct ibv_send_wr *wr, uint32_t *bytes)
{
	int status = try_reliably(qp, wr, bytes);

	if (qp->qp.qp_type == IBV_QPT_UC && status != IBV_WC_LOC_PROT_ERR && status != IBV_WC_LOC_LEN_ERR &&
	    status != IBV_WC_LOC_QP_OP_ERR && status != SV_STALL_SHORTAGE && status != SV_STALL_HELPER)
		status = IBV_WC_SUCCESS;
	return status;
}
