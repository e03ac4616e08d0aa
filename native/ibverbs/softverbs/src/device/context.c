/* Contexts: an open device. The inline functions of verbs.h call through the operations that are set here. */
#include "base/calls.h"
#include "base/macros.h"
#include "base/pipe.h"
#include "device/cq.h"
#include "device/device.h"
#include "device/mw.h"
#include "device/open.h"
#include "device/qp.h"
#include "object/context.h"
#include "object/process.h"
#include "path/poll.h"
#include "path/rq.h"
#include "path/send.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

SV_API struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct sv_context *context = sv_calloc(1, sizeof(*context));
	uint64_t ino;
	int fds[2];
	int error;

	if (!context)
		return NULL;
	error = sv_process_open();
	if (!error && (error = sv_pipe(fds, false, &ino)))
		sv_process_close();
	/* programs use it as a descriptor; no kernel driver would answer on it */
	int command = error ? -1 : sv_open("/dev/null", O_RDWR);

	if (!error && command < 0) {
		error = errno;
		close(fds[0]);
		close(fds[1]);
		sv_process_close();
	}
	if (error) {
		free(context);
		errno = error;
		return NULL;
	}
	struct verbs_context *verbs = &context->verbs;
	struct ibv_context *c = &verbs->context;

	verbs->sz = sizeof(*verbs);
	verbs->query_port = sv_query_port;
	verbs->query_device_ex = sv_query_device_ex;
	verbs->create_qp_ex = sv_create_qp_ex;
	verbs->create_cq_ex = sv_create_cq_ex;
	verbs->query_rt_values = sv_query_rt_values;
	c->device = device;
	context->device = sv_device_index(device);
	c->abi_compat = __VERBS_ABI_IS_EXTENDED;
	c->num_comp_vectors = 1;
	c->cmd_fd = command;
	c->async_fd = fds[0];
	context->async_write = fds[1];
	atomic_init(&context->users, 1);
	pthread_mutex_init(&c->mutex, NULL);
	pthread_mutex_lock(&sv_process.lock);
	context->next = sv_process.contexts;
	sv_process.contexts = context;
	pthread_mutex_unlock(&sv_process.lock);
	c->ops.poll_cq = sv_poll_cq;
	c->ops.req_notify_cq = sv_req_notify_cq;
	c->ops.post_send = sv_post_send;
	c->ops.post_recv = sv_post_recv;
	c->ops.post_srq_recv = sv_post_srq_recv;
	c->ops.alloc_mw = sv_alloc_mw;
	c->ops.dealloc_mw = sv_dealloc_mw;
	c->ops.bind_mw = sv_bind_mw;
	return c;
}

/* Some programs close the device and leave objects behind (perftest does): those work until they are destroyed. */
SV_API int ibv_close_device(struct ibv_context *c)
{
	sv_context_put(c);
	return 0;
}
