/*
 * The device in this process: it is created when it is first opened, released when the last context is closed and its
 * last object destroyed, and given up in the child of a fork.
 */
#include "base/calls.h"
#include "device/files.h"
#include "device/open.h"
#include "fault/settings.h"
#include "model/config.h"
#include "object/context.h"
#include "object/process.h"
#include "path/helper.h"
#include "peer/peer.h"
#include "peer/watch.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* Guards whether the process has the device open: the first open creates all of this, the last close releases it. */
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;

/*
 * The child of a fork has none of our mappings (MADV_DONTFORK). It closes our descriptors, which would keep the
 * parent's name alive.
 */
static void after_fork_in_child(void)
{
	if (sv_process.opens == 0)
		return;
	sv_process_forget();
	sv_files_after_fork();
	sv_peers_after_fork();
	sv_watch_after_fork();
	pthread_mutex_init(&opening, NULL);
}

int sv_process_open(void)
{
	static bool fork_handler;
	int error = 0;

	pthread_mutex_lock(&opening);
	if (!fork_handler) {
		fork_handler = true;
		pthread_atfork(NULL, NULL, after_fork_in_child);
	}
	if (sv_process.opens == 0 && (error = sv_config_load()) == 0) {
		sv_watch_init(sv_helper);
		error = sv_process_create();
	}
	if (!error)
		sv_process.opens++;
	pthread_mutex_unlock(&opening);
	return error;
}

uint32_t sv_process_devices(void)
{
	pthread_mutex_lock(&opening);
	/* errors in the settings are reported when a device is opened */
	int error = sv_config_load();
	uint32_t devices = error || !sv_config.devices ? 1 : sv_config.devices;

	pthread_mutex_unlock(&opening);
	errno = error;
	return sv_is_shortage(error) ? 0 : devices;
}

void sv_process_close(void)
{
	pthread_mutex_lock(&opening);
	if (--sv_process.opens == 0) {
		/* not under the process lock, which the helper takes; `opening` keeps the device from being opened meanwhile */
		sv_watch_stop();
		sv_process_release();
		sv_model_report();
	}
	pthread_mutex_unlock(&opening);
}

void sv_context_get(struct ibv_context *c)
{
	atomic_fetch_add(&sv_context(c)->users, 1);
}

void sv_context_put(struct ibv_context *c)
{
	struct sv_context *context = sv_context(c);

	if (atomic_fetch_sub(&context->users, 1) != 1)
		return;
	pthread_mutex_lock(&sv_process.lock);
	for (struct sv_context **at = &sv_process.contexts; *at; at = &(*at)->next) {
		if (*at == context) {
			*at = context->next;
			break;
		}
	}
	pthread_mutex_unlock(&sv_process.lock);
	close(c->cmd_fd);
	close(c->async_fd);
	close(context->async_write);
	pthread_mutex_destroy(&c->mutex);
	free(context);
	sv_process_close();
}
