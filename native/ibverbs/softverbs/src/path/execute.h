/* The inner parts of executing a work request, inlined into it. */
#pragma once
#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/copy.h"
#include "base/macros.h"
#include "object/limits.h"
#include "object/layout.h"
#include "object/mr.h"
#include "object/process.h"
#include "object/qp.h"
#include "peer/remote.h"

int sv_execute(struct sv_qp *qp, const struct ibv_send_wr *wr, uint32_t *bytes);
/* Our request put the peer's QP into error. */
void sv_peer_fault(struct sv_qp *qp, enum sv_fault fault);

int sv_remote_vm_write(struct sv_qp *qp, uint64_t addr, const void *from, uint64_t bytes);
int sv_remote_unmapped(struct sv_qp *qp);
int sv_remote_vm_read(struct sv_qp *qp, uint64_t addr, void *to, uint64_t bytes);

/* What `key` means at the peer, if the whole range and the access are granted to this connection; else NULL. */
SV_INLINE struct sv_remote *sv_remote_granted(struct sv_qp *qp, uint32_t key, uint64_t addr, uint64_t bytes,
					      unsigned access, unsigned granted_to_qp)
{
	struct sv_remote *remote = &qp->remotes[SV_KEY_INDEX(key) % SV_REMOTES];

	if (unlikely(remote->key != key || atomic_load_explicit(remote->live, memory_order_acquire) != key)) {
		remote = sv_remote_load(qp, key);
		if (!remote)
			return NULL;
	}
	uint64_t offset = addr - remote->iova;

	if (unlikely(offset > remote->length || bytes > remote->length - offset))
		return NULL;
	/* the QP must allow it too (local write is for receives, which it always does) */
	if (unlikely(access & ~(remote->access & (granted_to_qp | IBV_ACCESS_LOCAL_WRITE))))
		return NULL;
	return remote;
}

SV_INLINE struct sv_remote *sv_remote_check(struct sv_qp *qp, uint32_t key, uint64_t addr, uint64_t bytes,
					    unsigned access)
{
	return sv_remote_granted(qp, key, addr, bytes, access,
				 atomic_load_explicit(&qp->remote_entry->access, memory_order_relaxed));
}

static inline int sv_remote_write(struct sv_qp *qp, struct sv_remote *remote, uint64_t at, const void *from,
				  uint64_t bytes)
{
	if (likely(remote->base != NULL)) {
		sv_copy_write(remote->base + at, from, bytes, &qp->heat);
		return IBV_WC_SUCCESS;
	}
	if (remote->kind == SV_MR_SHARED)
		return sv_remote_unmapped(qp);
	return sv_remote_vm_write(qp, remote->addr + at, from, bytes);
}

/* Where the bytes of a (checked) element are here: regions with an iova of their own are elsewhere than they say. */
static inline void *sv_local_address(const struct ibv_sge *sge)
{
	const struct sv_mr_entry *entry = &sv_process.segment->mrs[SV_KEY_INDEX(sge->lkey)];

	return (void *)(uintptr_t)(sge->addr - entry->iova + entry->addr);
}

/* Our own elements: 0 or the local error. */
int sv_check_local(struct sv_qp *qp, const struct ibv_send_wr *wr, unsigned access, uint64_t *total);
int sv_write(struct sv_qp *qp, const struct ibv_send_wr *wr);

SV_INLINE bool sv_execute_plain(struct sv_qp *qp, const struct ibv_send_wr *wr, bool write, unsigned granted_to_qp,
				uint32_t *bytes)
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

	/* 8 apart, so that nothing else is asked of the length that is copied in one word */
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
 * The operations that matter most, one element, a region that we reach directly, nothing unusual asked for: checked and
 * executed without a call. False: not such a one, or something is wrong with it; then it is checked and executed the
 * long way, which says what.
 */
SV_INLINE bool sv_execute_simple(struct sv_qp *qp, const struct ibv_send_wr *wr, unsigned granted_to_qp, uint32_t *bytes)
{
	if (unlikely(wr->num_sge != 1 ||
		     (wr->send_flags & ~(unsigned)(IBV_SEND_FENCE | IBV_SEND_SIGNALED | IBV_SEND_INLINE))))
		return false;
	if (wr->opcode == IBV_WR_RDMA_WRITE)
		return sv_execute_plain(qp, wr, true, granted_to_qp, bytes);
	if (likely(wr->opcode == IBV_WR_RDMA_READ))
		return sv_execute_plain(qp, wr, false, granted_to_qp, bytes);
	return false;
}
