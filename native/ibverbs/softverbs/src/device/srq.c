/* Shared receive queues: a ring that the senders to several QPs consume, under a lock that survives its holder. */
#include "base/calls.h"
#include "base/lock.h"
#include "base/macros.h"
#include "device/open.h"
#include "object/async.h"
#include "object/context.h"
#include "object/layout.h"
#include "object/limits.h"
#include "object/process.h"
#include "object/srq.h"
#include "path/rq.h"
#include "peer/watch.h"

#include <errno.h>
#include <stdlib.h>

static int claim_index(struct sv_srq *srq)
{
	for (uint32_t i = 0; i < SV_SRQS; i++) {
		uint32_t index = sv_process.next_srq++ % SV_SRQS;

		if (sv_process.srqs[index])
			continue;
		srq->index = index;
		srq->srq.handle = sv_process.next_srq;
		sv_process.srqs[index] = srq;
		return 0;
	}
	return ENOMEM;
}

SV_API struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *init)
{
	if (init->attr.max_wr == 0 || init->attr.max_wr > SV_MAX_SRQ_WR || init->attr.max_sge > SV_MAX_SGE) {
		errno = EINVAL;
		return NULL;
	}
	if (init->attr.max_sge == 0)
		init->attr.max_sge = 1;
	struct sv_srq *srq = sv_calloc(1, sizeof(*srq));

	if (!srq)
		return NULL;
	srq->srq.context = pd->context;
	srq->srq.pd = pd;
	srq->srq.srq_context = init->srq_context;
	pthread_mutex_init(&srq->srq.mutex, NULL);
	pthread_cond_init(&srq->srq.cond, NULL);
	sv_lock_init(&srq->lock);
	pthread_mutex_lock(&sv_process.lock);
	int error = claim_index(srq);

	if (!error) {
		error = sv_rq_init(&srq->rq, &sv_process.segment->srqs[srq->index], init->attr.max_wr, init->attr.max_sge);
		if (error)
			sv_process.srqs[srq->index] = NULL;
	}
	pthread_mutex_unlock(&sv_process.lock);
	if (error) {
		free(srq);
		errno = error;
		return NULL;
	}
	atomic_fetch_add(&sv_pd(pd)->users, 1);
	sv_context_get(pd->context);
	return &srq->srq;
}

SV_API int ibv_modify_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr, int mask)
{
	struct sv_srq *srq = sv_srq(ibsrq);

	if (mask & ~(IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT))
		return EINVAL;
	if (mask & IBV_SRQ_MAX_WR)
		return EOPNOTSUPP;
	if (mask & IBV_SRQ_LIMIT) {
		if (attr->srq_limit > srq->rq.max_wr)
			return EINVAL;
		/* the helper raises the event, after a sender has noticed */
		int error = attr->srq_limit ? sv_watch_start() : 0;

		if (error)
			return error;
		atomic_store(&srq->rq.entry->limit, attr->srq_limit);
		if (atomic_load(&srq->rq.entry->tail) - atomic_load(&srq->rq.entry->head) < attr->srq_limit &&
		    atomic_exchange(&srq->rq.entry->limit, 0))
			sv_async_raise(ibsrq->context, IBV_EVENT_SRQ_LIMIT_REACHED, srq->index, ibsrq->handle);
	}
	return 0;
}

SV_API int ibv_query_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr)
{
	struct sv_srq *srq = sv_srq(ibsrq);

	*attr = (struct ibv_srq_attr){
	    .max_wr = srq->rq.max_wr, .max_sge = srq->rq.max_sge, .srq_limit = atomic_load(&srq->rq.entry->limit)};
	return 0;
}

SV_API int ibv_destroy_srq(struct ibv_srq *ibsrq)
{
	struct sv_srq *srq = sv_srq(ibsrq);

	pthread_mutex_lock(&sv_process.lock);
	if (atomic_load(&srq->users)) {
		pthread_mutex_unlock(&sv_process.lock);
		return EBUSY;
	}
	/* no QP uses it, so no sender does */
	sv_process.srqs[srq->index] = NULL;
	uint32_t events = srq->async_reported;

	sv_rq_destroy(&srq->rq);
	pthread_mutex_unlock(&sv_process.lock);
	pthread_mutex_lock(&ibsrq->mutex);
	while (ibsrq->events_completed != events)
		pthread_cond_wait(&ibsrq->cond, &ibsrq->mutex);
	pthread_mutex_unlock(&ibsrq->mutex);
	atomic_fetch_sub(&sv_pd(ibsrq->pd)->users, 1);
	sv_context_put(ibsrq->context);
	pthread_mutex_destroy(&ibsrq->mutex);
	pthread_cond_destroy(&ibsrq->cond);
	free(srq);
	return 0;
}
