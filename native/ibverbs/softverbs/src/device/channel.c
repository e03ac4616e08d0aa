/*
 * Completion channels. A channel is a pipe. Its messages name a CQ by index and generation, so that a message whose CQ
 * is gone is skipped. Peers open the writing end through /proc: no thread of ours runs for an event.
 */
#include "base/calls.h"
#include "base/macros.h"
#include "base/pipe.h"
#include "device/open.h"
#include "object/cq.h"
#include "object/layout.h"
#include "object/process.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

SV_API struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	struct sv_channel *channel = sv_calloc(1, sizeof(*channel));
	int fds[2];
	int error;

	if (!channel)
		return NULL;
	if ((error = sv_pipe(fds, false, &channel->ino))) {
		free(channel);
		errno = error;
		return NULL;
	}
	channel->channel = (struct ibv_comp_channel){.context = context, .fd = fds[0]};
	channel->write_fd = fds[1];
	sv_context_get(context);
	return &channel->channel;
}

SV_API int ibv_destroy_comp_channel(struct ibv_comp_channel *ibchannel)
{
	struct sv_channel *channel = container_of(ibchannel, struct sv_channel, channel);

	pthread_mutex_lock(&sv_process.lock);
	bool busy = ibchannel->refcnt != 0;
	pthread_mutex_unlock(&sv_process.lock);
	if (busy)
		return EBUSY;
	close(ibchannel->fd);
	close(channel->write_fd);
	sv_context_put(ibchannel->context);
	free(channel);
	return 0;
}

SV_API int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **out, void **cq_context)
{
	for (;;) {
		uint32_t event;
		ssize_t n = read(channel->fd, &event, sizeof(event));

		if (n != sizeof(event))
			return -1; /* EAGAIN, EINTR: as with a device's file */
		pthread_mutex_lock(&sv_process.lock);
		struct sv_cq *cq = sv_process.cqs[event % SV_CQS];
		bool known = cq && cq->entry->event == event && cq->cq.channel == channel;

		if (known)
			cq->events_reported++;
		pthread_mutex_unlock(&sv_process.lock);
		if (known) {
			*out = &cq->cq;
			*cq_context = cq->cq.cq_context;
			return 0;
		}
	}
}

SV_API void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int events)
{
	pthread_mutex_lock(&cq->mutex);
	cq->comp_events_completed += events;
	pthread_cond_signal(&cq->cond);
	pthread_mutex_unlock(&cq->mutex);
}
