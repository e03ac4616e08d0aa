/*
 * The table of verbs functions. dlopen with RTLD_LOCAL, and a table filled by dlsym, let a JVM choose between the
 * system's libibverbs and softverbs at run time, start without libibverbs installed, and share the process with other
 * users of libibverbs.
 */
#define _GNU_SOURCE
#include "verbs_shim.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#undef ibv_get_device_list
#undef ibv_query_port
#undef ibv_reg_mr

/* name, return type, parameters */
#define VERBS(X) \
	X(get_device_list, struct ibv_device **, (int *)) \
	X(free_device_list, void, (struct ibv_device **)) \
	X(get_device_name, const char *, (struct ibv_device *)) \
	X(get_device_guid, __be64, (struct ibv_device *)) \
	X(open_device, struct ibv_context *, (struct ibv_device *)) \
	X(close_device, int, (struct ibv_context *)) \
	X(query_device, int, (struct ibv_context *, struct ibv_device_attr *)) \
	X(query_port, int, (struct ibv_context *, uint8_t, struct ibv_port_attr *)) \
	X(query_gid, int, (struct ibv_context *, uint8_t, int, union ibv_gid *)) \
	X(alloc_pd, struct ibv_pd *, (struct ibv_context *)) \
	X(dealloc_pd, int, (struct ibv_pd *)) \
	X(reg_mr, struct ibv_mr *, (struct ibv_pd *, void *, size_t, int)) \
	X(dereg_mr, int, (struct ibv_mr *)) \
	X(create_comp_channel, struct ibv_comp_channel *, (struct ibv_context *)) \
	X(destroy_comp_channel, int, (struct ibv_comp_channel *)) \
	X(get_cq_event, int, (struct ibv_comp_channel *, struct ibv_cq **, void **)) \
	X(ack_cq_events, void, (struct ibv_cq *, unsigned int)) \
	X(create_cq, struct ibv_cq *, (struct ibv_context *, int, void *, struct ibv_comp_channel *, int)) \
	X(destroy_cq, int, (struct ibv_cq *)) \
	X(create_qp, struct ibv_qp *, (struct ibv_pd *, struct ibv_qp_init_attr *)) \
	X(destroy_qp, int, (struct ibv_qp *)) \
	X(modify_qp, int, (struct ibv_qp *, struct ibv_qp_attr *, int)) \
	X(query_qp, int, (struct ibv_qp *, struct ibv_qp_attr *, int, struct ibv_qp_init_attr *)) \
	X(wc_status_str, const char *, (enum ibv_wc_status))

static struct {
#define MEMBER(name, type, parameters) type(*name) parameters;
	VERBS(MEMBER)
#undef MEMBER
	/* NULL before libibverbs 31: callers check it. */
	ssize_t (*query_gid_table)(struct ibv_context *, struct ibv_gid_entry *, size_t, uint32_t, size_t);
	int (*query_gid_ex)(struct ibv_context *, uint32_t, uint32_t, struct ibv_gid_entry *, uint32_t, size_t);
} verbs;

static pthread_mutex_t load_lock = PTHREAD_MUTEX_INITIALIZER;
static char *loaded_path;
static char message[1024];
static __thread int last_errno;

/* Keeps errno if a call that creates an object failed. */
#define CREATED(call) \
	({ \
		errno = 0; \
		__typeof__(call) created = (call); \
		if (!created) \
			last_errno = errno; \
		created; \
	})

static const char *load(const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		snprintf(message, sizeof message, "%s", dlerror());
		return message;
	}
#define RESOLVE(name, type, parameters) \
	if (!(*(void **)&verbs.name = dlsym(library, "ibv_" #name))) { \
		snprintf(message, sizeof message, "%s has no ibv_%s", path, #name); \
		dlclose(library); \
		return message; \
	}
	VERBS(RESOLVE)
#undef RESOLVE
	*(void **)&verbs.query_gid_ex = dlsym(library, "_ibv_query_gid_ex");
	loaded_path = strdup(path);
	return NULL;
}

const char *farheap_verbs_load(const char *path)
{
	const char *error = NULL;
	pthread_mutex_lock(&load_lock);
	if (!loaded_path) {
		error = load(path);
	} else if (strcmp(loaded_path, path) != 0) {
		snprintf(message, sizeof message, "this process already uses %s", loaded_path);
		error = message;
	}
	pthread_mutex_unlock(&load_lock);
	return error;
}

void farheap_verbs_forget(void)
{
	pthread_mutex_lock(&load_lock);
	free(loaded_path);
	loaded_path = NULL;
	pthread_mutex_unlock(&load_lock);
}

int farheap_errno(void)
{
	return last_errno;
}

unsigned long long farheap_post_send_address(struct ibv_context *context)
{
	return (uintptr_t)context->ops.post_send;
}

unsigned long long farheap_post_recv_address(struct ibv_context *context)
{
	return (uintptr_t)context->ops.post_recv;
}

unsigned long long farheap_poll_cq_address(struct ibv_context *context)
{
	return (uintptr_t)context->ops.poll_cq;
}

unsigned long long farheap_req_notify_cq_address(struct ibv_context *context)
{
	return (uintptr_t)context->ops.req_notify_cq;
}

void *farheap_get_device_list(int *num_devices)
{
	return CREATED(verbs.get_device_list(num_devices));
}

void farheap_free_device_list(void *list)
{
	verbs.free_device_list(list);
}

struct ibv_device *farheap_device_at(void *list, int index)
{
	return ((struct ibv_device **)list)[index];
}

const char *farheap_get_device_name(struct ibv_device *device)
{
	return verbs.get_device_name(device);
}

unsigned long long farheap_get_device_guid(struct ibv_device *device)
{
	return __builtin_bswap64(verbs.get_device_guid(device));
}

struct ibv_context *farheap_open_device(struct ibv_device *device)
{
	return CREATED(verbs.open_device(device));
}

int farheap_close_device(struct ibv_context *context)
{
	return verbs.close_device(context);
}

int farheap_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	return verbs.query_device(context, attr);
}

int farheap_query_port(struct ibv_context *context, int port, struct ibv_port_attr *attr)
{
	/* The plain symbol fills an older, shorter structure. */
	memset(attr, 0, sizeof *attr);
	return verbs.query_port(context, (uint8_t)port, attr);
}

int farheap_query_gid(struct ibv_context *context, int port, int index, void *gid)
{
	return verbs.query_gid(context, (uint8_t)port, index, gid);
}

int farheap_query_gid_type(struct ibv_context *context, int port, int index)
{
	struct ibv_gid_entry entry;
	if (!verbs.query_gid_ex ||
	    verbs.query_gid_ex(context, (uint32_t)port, (uint32_t)index, &entry, 0, sizeof entry) != 0)
		return -1;
	return (int)entry.gid_type;
}

struct ibv_pd *farheap_alloc_pd(struct ibv_context *context)
{
	return CREATED(verbs.alloc_pd(context));
}

int farheap_dealloc_pd(struct ibv_pd *pd)
{
	return verbs.dealloc_pd(pd);
}

struct ibv_mr *farheap_reg_mr(struct ibv_pd *pd, unsigned long long address, unsigned long long length, int access)
{
	return CREATED(verbs.reg_mr(pd, (void *)(uintptr_t)address, length, access));
}

int farheap_dereg_mr(struct ibv_mr *mr)
{
	return verbs.dereg_mr(mr);
}

struct ibv_comp_channel *farheap_create_comp_channel(struct ibv_context *context)
{
	struct ibv_comp_channel *channel = CREATED(verbs.create_comp_channel(context));
	/*
	 * Non-blocking, since an event disappears with its queue: the channel may have been readable a moment ago and have
	 * no event now, and no thread may block until the next one.
	 */
	if (channel)
		fcntl(channel->fd, F_SETFL, fcntl(channel->fd, F_GETFL) | O_NONBLOCK);
	return channel;
}

int farheap_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	return verbs.destroy_comp_channel(channel);
}

static int readable(int fd)
{
	struct pollfd descriptor = {.fd = fd, .events = POLLIN};
	return poll(&descriptor, 1, 0) > 0;
}

int farheap_take_cq_event(struct ibv_comp_channel *channel)
{
	struct ibv_cq *cq;
	void *context;
	if (!readable(channel->fd))
		return 0;
	if (verbs.get_cq_event(channel, &cq, &context) != 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	verbs.ack_cq_events(cq, 1);
	return 1;
}

struct ibv_cq *farheap_create_cq(struct ibv_context *context, int entries, struct ibv_comp_channel *channel)
{
	return CREATED(verbs.create_cq(context, entries, NULL, channel, 0));
}

int farheap_destroy_cq(struct ibv_cq *cq)
{
	return verbs.destroy_cq(cq);
}

struct ibv_qp *farheap_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	return CREATED(verbs.create_qp(pd, attr));
}

int farheap_destroy_qp(struct ibv_qp *qp)
{
	return verbs.destroy_qp(qp);
}

int farheap_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	return verbs.modify_qp(qp, attr, mask);
}

int farheap_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init)
{
	return verbs.query_qp(qp, attr, mask, init);
}

int farheap_post_empty_recv(struct ibv_qp *qp, unsigned long long wr_id)
{
	struct ibv_recv_wr wr = {.wr_id = wr_id};
	struct ibv_recv_wr *bad;
	return qp->context->ops.post_recv(qp, &wr, &bad);
}

const char *farheap_wc_status_str(int status)
{
	return verbs.wc_status_str((enum ibv_wc_status)status);
}
