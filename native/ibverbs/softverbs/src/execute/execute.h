/* Executing a work request. The inner parts are inlined into posts. */
#pragma once
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/copy.h"
#include "base/macros.h"
#include "object/limits.h"
#include "object/mr.h"
#include "object/qp.h"
#include "execute/access.h"

int sv_execute(struct sv_qp *qp, const struct ibv_send_wr *wr, uint32_t *bytes);
/* Check our own elements: 0 or the local error. */
int sv_check_local(struct sv_qp *qp, const struct ibv_send_wr *wr, unsigned access, uint64_t *total);

SV_INLINE bool sv_execute_plain(
    struct sv_qp *qp, const struct ibv_send_wr *wr, bool write, unsigned granted_to_qp, uint32_t *bytes)
{
	const struct ibv_sge *sge = wr->sg_list;
	uint64_t length = sge->length;
	uint8_t *local = (uint8_t *)(uintptr_t)sge->addr;

	if (wr->send_flags & IBV_SEND_INLINE) {
		if (unlikely(length > qp->max_inline || !write))
			return false;
	} else {
		const struct sv_mr_entry *entry =
		    sv_mr_local(sge->lkey, qp->pd_handle, sge->addr, length, write ? 0 : IBV_ACCESS_LOCAL_WRITE);

		if (unlikely(!entry))
			return false;
		local = (uint8_t *)(uintptr_t)(sge->addr - entry->iova + entry->addr);
	}
	struct sv_remote *remote = sv_remote_granted(qp, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr, length,
	    write ? IBV_ACCESS_REMOTE_WRITE : IBV_ACCESS_REMOTE_READ, granted_to_qp);

	/* 8 is tested apart, so that the length that is copied in one word needs no other test */
	if (unlikely(!remote || !remote->base || (length != 8 && length - 1 >= SV_MAX_MESSAGE)))
		return false;
	uint8_t *there = remote->base + (wr->wr.rdma.remote_addr - remote->iova);

	if (write)
		sv_copy_write(there, local, length, &qp->heat);
	else
		sv_copy_read(local, there, length, &qp->heat);
	*bytes = (uint32_t)length;
	return true;
}

/*
 * Check and execute, without a call, the operations that matter most: one element, a region that we reach directly, no
 * unusual flag. False: it is not such an operation, or something is wrong with it; nothing was done, and it has to be
 * checked and executed by sv_execute, which reports the error.
 */
SV_INLINE bool sv_execute_simple(
    struct sv_qp *qp, const struct ibv_send_wr *wr, unsigned granted_to_qp, uint32_t *bytes)
{
	if (unlikely(
	        wr->num_sge != 1 || (wr->send_flags & ~(unsigned)(IBV_SEND_FENCE | IBV_SEND_SIGNALED | IBV_SEND_INLINE))))
		return false;
	if (wr->opcode == IBV_WR_RDMA_WRITE)
		return sv_execute_plain(qp, wr, true, granted_to_qp, bytes);
	if (likely(wr->opcode == IBV_WR_RDMA_READ))
		return sv_execute_plain(qp, wr, false, granted_to_qp, bytes);
	return false;
}
