/*
 * Memory regions. The entry in the control segment is the region: peers read it there. The lkey and the rkey are the
 * same number. A key is retired by storing 0 into it, and its index is reused only after every copier that may have
 * loaded the key is out (quiesce.c); if one does not get out in time, deregistration returns EBUSY and can be tried
 * again.
 */
#include "base/calls.h"
#include "base/macros.h"
#include "device/backing.h"
#include "device/files.h"
#include "device/mr.h"
#include "device/open.h"
#include "model/config.h"
#include "object/context.h"
#include "object/layout.h"
#include "object/mr.h"
#include "object/process.h"
#include "peer/peer.h"
#include "peer/quiesce.h"

#include <errno.h>
#include <stdlib.h>

#undef ibv_reg_mr
#undef ibv_reg_mr_iova

#define KNOWN_ACCESS \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC | \
	    IBV_ACCESS_MW_BIND | IBV_ACCESS_ZERO_BASED | IBV_ACCESS_HUGETLB | IBV_ACCESS_OPTIONAL_RANGE)

int sv_mr_claim(struct sv_mr *mr)
{
	for (uint32_t i = 0; i < SV_MRS; i++) {
		uint32_t index = sv_process.next_mr++ % SV_MRS;

		if (index == 0)
			sv_process.mr_generation++;
		if (sv_process.mrs[index])
			continue;
		sv_process.mrs[index] = mr;
		mr->index = index;
		mr->entry = &sv_process.segment->mrs[index];
		return 0;
	}
	return ENOMEM;
}

uint32_t sv_mr_new_key(uint32_t index)
{
	uint32_t key = (uint32_t)sv_process.mr_generation << 24 | index << 8 | (index * 37u & 0xff);

	return key ? key : 1;
}

static struct ibv_mr *reg(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned access)
{
	struct sv_backing backing;
	struct sv_mr *mr = NULL;
	int error = 0;

	if (access & ~(unsigned)KNOWN_ACCESS)
		error = (access & IBV_ACCESS_ON_DEMAND) ? EOPNOTSUPP : EINVAL;
	else if (((access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)) && !(access & IBV_ACCESS_LOCAL_WRITE)) ||
	         iova + length < iova)
		error = EINVAL;
	else
		error = sv_backing_find(addr, length, access & IBV_ACCESS_LOCAL_WRITE, &backing);
	if (error) {
		errno = error;
		return NULL;
	}
	/* a fault on request: a limit on the bytes that may be registered */
	uint64_t limit = sv_config.memlock;

	if (atomic_fetch_add(&sv_config.registered, length) + length <= limit || !limit)
		mr = sv_calloc(1, sizeof(*mr));
	if (!mr) {
		atomic_fetch_sub(&sv_config.registered, length);
		sv_files_release(backing.files);
		errno = ENOMEM;
		return NULL;
	}
	pthread_mutex_lock(&sv_process.keys_lock);
	error = sv_mr_claim(mr);
	if (!error) {
		uint32_t key = sv_mr_new_key(mr->index);
		struct sv_mr_entry *entry = mr->entry;

		entry->access = access;
		entry->pd = pd->handle;
		entry->iova = iova;
		entry->length = length;
		entry->addr = (uint64_t)(uintptr_t)addr;
		entry->fd = backing.fd;
		entry->qpn = 0;
		entry->ino = backing.ino;
		entry->offset = backing.offset;
		mr->files = backing.files;
		mr->mr = (struct ibv_mr){.context = pd->context,
		    .pd = pd,
		    .addr = addr,
		    .length = length,
		    .handle = mr->index,
		    .lkey = key,
		    .rkey = key};
		atomic_fetch_add(&sv_pd(pd)->users, 1);
		sv_context_get(pd->context);
		sv_mr_show(entry, key, (uint16_t)backing.kind);
	}
	pthread_mutex_unlock(&sv_process.keys_lock);
	if (error) {
		atomic_fetch_sub(&sv_config.registered, length);
		sv_files_release(backing.files);
		free(mr);
		errno = error;
		return NULL;
	}
	return &mr->mr;
}

SV_API struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	return reg(pd, addr, length, (access & IBV_ACCESS_ZERO_BASED) ? 0 : (uintptr_t)addr, (unsigned)access);
}

SV_API struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, int access)
{
	return reg(pd, addr, length, iova, (unsigned)access);
}

SV_API struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned access)
{
	return reg(pd, addr, length, (access & IBV_ACCESS_ZERO_BASED) ? 0 : iova, access);
}

SV_API int ibv_dereg_mr(struct ibv_mr *ibmr)
{
	struct sv_mr *mr = container_of(ibmr, struct sv_mr, mr);
	struct sv_mr_entry *entry = mr->entry;
	bool mapped = entry->kind == SV_MR_SHARED;

	/* under the lock under which a bind counts itself in `windows` */
	pthread_mutex_lock(&sv_process.keys_lock);
	bool bound = atomic_load(&mr->windows) != 0;

	if (!bound)
		atomic_store(&entry->key, 0);
	pthread_mutex_unlock(&sv_process.keys_lock);
	if (bound || !sv_quiesce_domain(entry->pd))
		return EBUSY;
	pthread_mutex_lock(&sv_process.keys_lock);
	sv_process.mrs[mr->index] = NULL;
	pthread_mutex_unlock(&sv_process.keys_lock);
	atomic_fetch_sub(&sv_config.registered, ibmr->length);
	sv_files_release(mr->files);
	if (mapped)
		sv_peers_unmap(mr->index); /* memory that is freed here must not stay mapped in peers */
	atomic_fetch_sub(&sv_pd(ibmr->pd)->users, 1);
	sv_context_put(ibmr->context);
	free(mr);
	return 0;
}

SV_API int ibv_rereg_mr(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr, size_t length, int access)
{
	(void)mr, (void)flags, (void)pd, (void)addr, (void)length, (void)access;
	errno = EOPNOTSUPP;
	return IBV_REREG_MR_ERR_INPUT;
}
