/* Completion queues: creation, resizing, destruction. */
#include "base/calls.h"
#include "base/lock.h"
#include "base/macros.h"
#include "model/config.h"
#include "device/cq.h"
#include "device/open.h"
#include "object/cq.h"
#include "object/layout.h"
#include "object/limits.h"
#include "object/process.h"
#include "path/poll.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int claim_index(struct sv_cq *cq)
{
	for (uint32_t i = 0; i < SV_CQS; i++) {
		uint32_t index = sv_process.next_cq++ % SV_CQS;

		if (index == 0)
			sv_process.cq_generation++;
		if (sv_process.cqs[index])
			continue;
		cq->index = index;
		cq->entry = &sv_process.segment->cqs[index];
		memset(cq->entry, 0, sizeof(*cq->entry));
		atomic_store(&sv_process.cq_polled_ns[index], 0);
		cq->entry->event = (uint32_t)sv_process.cq_generation << 12 | index;
		sv_process.cqs[index] = cq;
		return 0;
	}
	return ENOMEM;
}

static struct sv_cq *create(
    struct ibv_context *context, uint32_t cqe, void *cq_context, struct ibv_comp_channel *channel, uint32_t vector)
{
	if (cqe == 0 || cqe > SV_MAX_CQE || vector >= (uint32_t)context->num_comp_vectors) {
		errno = EINVAL;
		return NULL;
	}
	struct sv_cq *cq = sv_calloc(1, sizeof(*cq));
	uint32_t size = 1;

	while (size < cqe)
		size *= 2;
	if (cq)
		cq->ring = sv_calloc(size, sizeof(*cq->ring));
	if (!cq || !cq->ring) {
		free(cq);
		errno = ENOMEM;
		return NULL;
	}
	cq->mask = size - 1;
	cq->cq.context = context;
	cq->cq.channel = channel;
	cq->cq.cq_context = cq_context;
	cq->cq.cqe = (int)size;
	pthread_mutex_init(&cq->cq.mutex, NULL);
	pthread_cond_init(&cq->cq.cond, NULL);
	sv_lock_init(&cq->lock);
	if (atomic_load(&sv_config.delayed))
		sv_lock_share(&cq->lock); /* the helper completes too */
	sv_lock_init(&cq->reading);
	pthread_mutex_lock(&sv_process.lock);
	int error = claim_index(cq);

	if (!error) {
		cq->cq.handle = cq->index;
		if (channel) {
			struct sv_channel *c = container_of(channel, struct sv_channel, channel);

			channel->refcnt++;
			cq->entry->channel_fd = (uint32_t)channel->fd;
			cq->entry->channel_ino = c->ino;
		}
	}
	pthread_mutex_unlock(&sv_process.lock);
	if (error) {
		free(cq->ring);
		free(cq);
		errno = error;
		return NULL;
	}
	sv_context_get(context);
	return cq;
}

SV_API struct ibv_cq *ibv_create_cq(
    struct ibv_context *context, int cqe, void *cq_context, struct ibv_comp_channel *channel, int vector)
{
	struct sv_cq *cq = create(context, cqe < 0 ? 0 : (uint32_t)cqe, cq_context, channel, (uint32_t)vector);

	return cq ? &cq->cq : NULL;
}

struct ibv_cq_ex *sv_create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
	const uint64_t known =
	    IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;

	if ((attr->comp_mask & ~(uint32_t)IBV_CQ_INIT_ATTR_MASK_FLAGS) || (attr->wc_flags & ~known) ||
	    ((attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) &&
	        (attr->flags & ~(uint32_t)IBV_CREATE_CQ_ATTR_SINGLE_THREADED))) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	struct sv_cq *cq = create(context, attr->cqe, attr->cq_context, attr->channel, attr->comp_vector);

	if (!cq)
		return NULL;
	sv_cq_ex_init(&cq->ex);
	return &cq->ex;
}

SV_API int ibv_resize_cq(struct ibv_cq *ibcq, int cqe)
{
	struct sv_cq *cq = sv_cq(ibcq);
	uint32_t size = 1;

	if (cqe <= 0 || cqe > SV_MAX_CQE)
		return EINVAL;
	while (size < (uint32_t)cqe)
		size *= 2;
	struct sv_cqe *ring = sv_calloc(size, sizeof(*ring));

	if (!ring)
		return ENOMEM;
	sv_lock_control(&cq->lock);
	uint32_t count = cq->tail - cq->head;
	bool fits = count <= size;

	if (fits) {
		for (uint32_t i = 0; i < count; i++)
			ring[i] = cq->ring[(cq->head + i) & cq->mask];
		free(cq->ring);
		cq->ring = ring;
		cq->mask = size - 1;
		cq->head = 0;
		cq->tail = count;
		ibcq->cqe = atomic_load(&cq->overrun) ? 0 : (int)size;
	}
	sv_unlock(&cq->lock, false);
	if (!fits)
		free(ring);
	return fits ? 0 : EINVAL;
}

SV_API int ibv_destroy_cq(struct ibv_cq *ibcq)
{
	struct sv_cq *cq = sv_cq(ibcq);

	pthread_mutex_lock(&sv_process.lock);
	if (atomic_load(&cq->users)) {
		pthread_mutex_unlock(&sv_process.lock);
		return EBUSY;
	}
	sv_process.cqs[cq->index] = NULL; /* from here on no event is reported for it */
	if (ibcq->channel)
		ibcq->channel->refcnt--;
	uint32_t events = cq->events_reported, async = cq->async_reported;

	pthread_mutex_unlock(&sv_process.lock);
	pthread_mutex_lock(&ibcq->mutex);
	while (ibcq->comp_events_completed != events || ibcq->async_events_completed != async)
		pthread_cond_wait(&ibcq->cond, &ibcq->mutex);
	pthread_mutex_unlock(&ibcq->mutex);
	sv_context_put(ibcq->context);
	pthread_mutex_destroy(&ibcq->mutex);
	pthread_cond_destroy(&ibcq->cond);
	free(cq->ring);
	free(cq);
	return 0;
}
