/* What a queue pair may reach at its peer, and how it reaches it. Inlined into executing. */
#pragma once
#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdint.h>

#include "base/copy.h"
#include "base/macros.h"
#include "object/layout.h"
#include "object/process.h"
#include "object/qp.h"
#include "peer/remote.h"
#include "peer/vm.h"

/* What `key` means at the peer, if this connection is granted the whole range and the access; else NULL. */
SV_INLINE struct sv_remote *sv_remote_granted(
    struct sv_qp *qp, uint32_t key, uint64_t addr, uint64_t bytes, unsigned access, unsigned granted_to_qp)
{
	struct sv_remote *remote = sv_remote_place(&qp->remotes, key);

	if (unlikely(remote->key != key || !sv_remote_is_live(&qp->remotes, remote, key))) {
		remote = sv_remote_load(qp, key);
		if (!remote)
			return NULL;
	}
	uint64_t offset = addr - remote->iova;

	if (unlikely(offset > remote->length || bytes > remote->length - offset))
		return NULL;
	/* the peer's QP must allow it, too (local write is for receives, which it always allows) */
	if (unlikely(access & ~(remote->access & (granted_to_qp | IBV_ACCESS_LOCAL_WRITE))))
		return NULL;
	return remote;
}

SV_INLINE struct sv_remote *sv_remote_check(
    struct sv_qp *qp, uint32_t key, uint64_t addr, uint64_t bytes, unsigned access)
{
	return sv_remote_granted(
	    qp, key, addr, bytes, access, atomic_load_explicit(&qp->remote_entry->access, memory_order_relaxed));
}

static inline int sv_remote_write(
    struct sv_qp *qp, struct sv_remote *remote, uint64_t at, const void *from, uint64_t bytes)
{
	if (likely(remote->base != NULL)) {
		sv_copy_write(remote->base + at, from, bytes, &qp->heat);
		return IBV_WC_SUCCESS;
	}
	if (remote->kind == SV_MR_SHARED)
		return sv_remote_unmapped(qp, remote);
	return sv_remote_vm_write(qp, remote->addr + at, from, bytes);
}

/*
 * The address here of a checked element of ours: a region with an iova of its own is not at the address that its
 * elements name.
 */
static inline void *sv_local_address(const struct ibv_sge *sge)
{
	const struct sv_mr_entry *entry = &sv_process.segment->mrs[SV_KEY_INDEX(sge->lkey)];

	return (void *)(uintptr_t)(sge->addr - entry->iova + entry->addr);
}
