/* Memory windows: allocation, and the binding of type 1. How a bind executes is in window.c. */
#include "base/calls.h"
#include "base/macros.h"
#include "device/mr.h"
#include "device/mw.h"
#include "device/open.h"
#include "execute/window.h"
#include "object/context.h"
#include "object/mr.h"
#include "object/process.h"
#include "path/send.h"
#include "peer/quiesce.h"

#include <errno.h>
#include <stdlib.h>

struct ibv_mw *sv_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	if (type != IBV_MW_TYPE_1 && type != IBV_MW_TYPE_2) {
		errno = EINVAL;
		return NULL;
	}
	struct sv_mw *mw = sv_calloc(1, sizeof(*mw));

	if (!mw)
		return NULL;
	pthread_mutex_lock(&sv_process.keys_lock);
	int error = sv_mr_claim(&mw->slot);

	if (!error)
		mw->mw = (struct ibv_mw){.context = pd->context,
		    .pd = pd,
		    .rkey = sv_mr_new_key(mw->slot.index),
		    .handle = mw->slot.index,
		    .type = type};
	if (!error)
		mw->slot.window = mw;
	pthread_mutex_unlock(&sv_process.keys_lock);
	if (error) {
		free(mw);
		errno = error;
		return NULL;
	}
	mw->slot.entry->pd = pd->handle;
	atomic_fetch_add(&sv_pd(pd)->users, 1);
	sv_context_get(pd->context);
	return &mw->mw;
}

int sv_dealloc_mw(struct ibv_mw *ibmw)
{
	struct sv_mw *mw = container_of(ibmw, struct sv_mw, mw);

	/* from here on no bind or invalidation finds it */
	sv_mw_shut(mw);
	if (!sv_quiesce_domain(mw->slot.entry->pd))
		return EBUSY; /* the region stays held, too */
	sv_mw_release(mw);
	pthread_mutex_lock(&sv_process.keys_lock);
	sv_process.mrs[mw->slot.index] = NULL;
	pthread_mutex_unlock(&sv_process.keys_lock);
	atomic_fetch_sub(&sv_pd(ibmw->pd)->users, 1);
	sv_context_put(ibmw->context);
	free(mw);
	return 0;
}

int sv_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
	struct ibv_send_wr wr = {.wr_id = bind->wr_id, .opcode = IBV_WR_BIND_MW, .send_flags = bind->send_flags}, *bad;

	/* any QP of the domain may be using a type 1 window: wait for all of them before any lock is taken */
	atomic_store(&container_of(mw, struct sv_mw, mw)->slot.entry->key, 0);
	if (!sv_quiesce_domain(mw->pd->handle))
		return EBUSY;
	wr.bind_mw.mw = mw;
	wr.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
	wr.bind_mw.bind_info = bind->bind_info;
	int error = sv_post_send(qp, &wr, &bad);

	if (!error)
		mw->rkey = wr.bind_mw.rkey;
	return error;
}
