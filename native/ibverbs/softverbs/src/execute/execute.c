/*
 * Executing one send work request at once, in the initiator. Returns a completion status or a reason to wait. Checks
 * come in the order of the specification: errors on our side first, then those on the peer's.
 */
#include "base/copy.h"
#include "base/macros.h"
#include "execute/access.h"
#include "execute/deliver.h"
#include "execute/execute.h"
#include "execute/write.h"
#include "model/delay.h"
#include "object/layout.h"
#include "object/limits.h"
#include "object/mr.h"
#include "object/pending.h"
#include "object/qp.h"
#include "peer/link.h"
#include "peer/peer.h"
#include "peer/remote.h"
#include "peer/robust.h"
#include "peer/vm.h"

static int refuse(struct sv_qp *qp, enum sv_fault fault, int status)
{
	sv_peer_fault(qp, fault);
	return status;
}

/* How many READs and atomics wait in the send queue. */
static uint32_t answers_awaited(const struct sv_qp *qp)
{
	uint32_t count = 0;

	for (uint32_t at = qp->pending_head; at != qp->pending_tail; at++) {
		const struct sv_pending *p = qp->pending[at & qp->pending_mask];

		count += !p->done && sv_is_answered(&p->wr);
	}
	return count;
}

/*
 * Check that max_rd_atomic of ours, and max_dest_rd_atomic of the peer, allow a READ or an atomic. Only one is in
 * flight at a time, unless operations are delayed: then all that wait are.
 */
static int check_depth(struct sv_qp *qp)
{
	uint32_t ours = qp->attr.max_rd_atomic,
	         theirs = atomic_load_explicit(&qp->remote_entry->max_dest_rd_atomic, memory_order_relaxed);
	uint32_t under_way = 1;

	if (likely(ours && theirs >= ours))
		return IBV_WC_SUCCESS;
	if (ours == 0)
		return IBV_WC_LOC_QP_OP_ERR;
	if (sv_is_delayed(qp))
		under_way = answers_awaited(qp);
	return (under_way < ours ? under_way : ours) > theirs ? refuse(qp, SV_FAULT_REQUEST, IBV_WC_REM_INV_REQ_ERR)
	                                                      : IBV_WC_SUCCESS;
}

static int read_remote(struct sv_qp *qp, const struct ibv_send_wr *wr, uint64_t total)
{
	if (total == 0)
		return IBV_WC_SUCCESS;
	struct sv_remote *remote =
	    sv_remote_check(qp, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr, total, IBV_ACCESS_REMOTE_READ);

	if (unlikely(!remote))
		return refuse(qp, SV_FAULT_ACCESS, IBV_WC_REM_ACCESS_ERR);
	uint64_t at = wr->wr.rdma.remote_addr - remote->iova;

	for (int i = 0; i < wr->num_sge; i++) {
		const struct ibv_sge *sge = &wr->sg_list[i];

		if (likely(remote->base != NULL)) {
			sv_copy_read(sv_local_address(sge), remote->base + at, sge->length, &qp->heat);
		} else {
			int status = remote->kind == SV_MR_SHARED
			                 ? sv_remote_unmapped(qp, remote)
			                 : sv_remote_vm_read(qp, remote->addr + at, sv_local_address(sge), sge->length);

			if (status)
				return status;
		}
		at += sge->length;
	}
	return IBV_WC_SUCCESS;
}

static uint64_t apply(uint64_t old, const struct ibv_send_wr *wr)
{
	if (wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		return old + wr->wr.atomic.compare_add;
	return old == wr->wr.atomic.compare_add ? wr->wr.atomic.swap : old;
}

/*
 * Atomics on private memory: read, change and write back under the owner's lock, which all initiators take, the owner
 * included.
 */
static int atomic_private(
    struct sv_qp *qp, const struct ibv_send_wr *wr, struct sv_remote *remote, uint64_t at, uint64_t *old)
{
	_Atomic uint64_t *lock = &qp->peer->segment->header.atomic_lock;
	int status;

	if (sv_robust_lock(lock) == SV_ROBUST_HELD)
		return SV_STALL_NOT_READY; /* as if the peer did not answer */
	if (qp->peer->self) {
		uint64_t *word = (uint64_t *)(remote->base + at);

		*old = __atomic_load_n(word, __ATOMIC_SEQ_CST);
		__atomic_store_n(word, apply(*old, wr), __ATOMIC_SEQ_CST);
		status = IBV_WC_SUCCESS;
	} else {
		status = sv_remote_vm_read(qp, remote->addr + at, old, 8);
		if (status == IBV_WC_SUCCESS) {
			uint64_t changed = apply(*old, wr);

			status = sv_remote_vm_write(qp, remote->addr + at, &changed, 8);
		}
	}
	sv_robust_unlock(lock);
	return status;
}

static int atomic_remote(struct sv_qp *qp, const struct ibv_send_wr *wr)
{
	uint64_t old;

	if (wr->wr.atomic.remote_addr & 7)
		return refuse(qp, SV_FAULT_REQUEST, IBV_WC_REM_INV_REQ_ERR);
	struct sv_remote *remote =
	    sv_remote_check(qp, wr->wr.atomic.rkey, wr->wr.atomic.remote_addr, 8, IBV_ACCESS_REMOTE_ATOMIC);

	if (!remote)
		return refuse(qp, SV_FAULT_ACCESS, IBV_WC_REM_ACCESS_ERR);
	uint64_t at = wr->wr.atomic.remote_addr - remote->iova;

	if (remote->kind == SV_MR_SHARED && remote->base) {
		uint64_t *word = (uint64_t *)(remote->base + at);

		if (wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
			old = __atomic_fetch_add(word, wr->wr.atomic.compare_add, __ATOMIC_SEQ_CST);
		} else {
			old = wr->wr.atomic.compare_add;
			__atomic_compare_exchange_n(word, &old, wr->wr.atomic.swap, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
		}
	} else {
		int status =
		    remote->kind == SV_MR_SHARED ? sv_remote_unmapped(qp, remote) : atomic_private(qp, wr, remote, at, &old);

		if (status)
			return status;
	}
	memcpy(sv_local_address(&wr->sg_list[0]), &old, 8);
	return IBV_WC_SUCCESS;
}

/* Check our own elements: 0 or the local error. */
int sv_check_local(struct sv_qp *qp, const struct ibv_send_wr *wr, unsigned access, uint64_t *total)
{
	*total = 0;
	for (int i = 0; i < wr->num_sge; i++) {
		const struct ibv_sge *sge = &wr->sg_list[i];

		*total += sge->length;
		if (!(wr->send_flags & IBV_SEND_INLINE) && sge->length &&
		    unlikely(!sv_mr_local(sge->lkey, qp->pd_handle, sge->addr, sge->length, access)))
			return IBV_WC_LOC_PROT_ERR;
	}
	return unlikely(*total > SV_MAX_MESSAGE) ? IBV_WC_LOC_LEN_ERR : IBV_WC_SUCCESS;
}

int sv_execute(struct sv_qp *qp, const struct ibv_send_wr *wr, uint32_t *bytes)
{
	uint64_t total = 0;
	int status;

	switch (wr->opcode) {
	case IBV_WR_RDMA_WRITE:
		status = sv_check_local(qp, wr, 0, &total);
		if (likely(!status))
			status = sv_write(qp, wr);
		break;
	case IBV_WR_RDMA_READ:
		status = sv_check_local(qp, wr, IBV_ACCESS_LOCAL_WRITE, &total);
		if (likely(!status))
			status = check_depth(qp);
		if (likely(!status))
			status = read_remote(qp, wr, total);
		break;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		status = sv_check_local(qp, wr, IBV_ACCESS_LOCAL_WRITE, &total);
		if (!status && (wr->num_sge != 1 || total != 8))
			status = IBV_WC_LOC_LEN_ERR;
		if (likely(!status))
			status = check_depth(qp);
		if (likely(!status))
			status = atomic_remote(qp, wr);
		break;
	case IBV_WR_SEND:
	case IBV_WR_SEND_WITH_IMM:
	case IBV_WR_SEND_WITH_INV:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		status = sv_check_local(qp, wr, 0, &total);
		if (likely(!status))
			status = sv_deliver(qp, wr, (uint32_t)total);
		break;
	default:
		status = IBV_WC_LOC_QP_OP_ERR;
		break;
	}
	*bytes = (uint32_t)total;
	return status;
}
