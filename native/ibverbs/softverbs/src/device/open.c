/* The device in this process: what is made when it is first opened, and goes when it is last closed, or is lost in a fork. */
#include "device/open.h"
#include "fault/settings.h"
#include "model/config.h"
#include "object/process.h"
#include "path/helper.h"
#include "peer/peer.h"
#include "peer/watch.h"

/* Whether the process has the device open: the first to open it creates all this, the last to close it releases it. */
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;

/* The child of a fork has none of our mappings (MADV_DONTFORK); what remains of the parent must not keep its name
 * alive. */
static void after_fork_in_child(void)
{
	if (sv_process.opens == 0)
		return;
	sv_process_forget();
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

void sv_process_close(void)
{
	pthread_mutex_lock(&opening);
	if (--sv_process.opens == 0) {
		/* not under the process lock, which the helper takes; nobody opens the device again meanwhile */
		sv_watch_stop();
		sv_process_release();
		sv_model_report();
	}
	pthread_mutex_unlock(&opening);
}
