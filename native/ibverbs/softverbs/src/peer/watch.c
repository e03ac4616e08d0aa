/*
 * What wakes the helper thread: a pipe of the process, the pipes of peers that are hung up, connections to the socket.
 * There is one helper per process, started when its first QP becomes ready to receive. What it then does is in
 * path/helper.c.
 */
#include "base/calls.h"
#include "object/process.h"
#include "peer/watch.h"

#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/* What woke the helper. */
enum { FROM_PROCESS, FROM_PEER, FROM_CALLER };

#define STACK_BYTES (256 * 1024)

static pthread_mutex_t watch_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t thread;
static void *(*helper)(void *);
static bool running;
_Atomic bool sv_watch_stopping;
static _Atomic bool wake_written;
static int epoll_fd = -1;

/*
 * Accept and close connections to our socket: the connection itself is all that the other process needs. If we lack a
 * descriptor, the next connection brings us back here.
 */
static void dismiss_callers(void)
{
	int fd;

	while ((fd = sv_accept(sv_process.listener)) >= 0)
		close(fd);
}

void sv_watch_init(void *(*body)(void *))
{
	helper = body;
}

bool sv_watch_wait(int timeout_ms)
{
	struct epoll_event events[16];
	char drain[256];
	int n = epoll_wait(epoll_fd, events, 16, timeout_ms);

	for (int i = 0; i < n; i++) {
		if (events[i].data.u32 == FROM_PROCESS)
			while (read(sv_process.wake_read, drain, sizeof(drain)) == sizeof(drain))
				;
		else if (events[i].data.u32 == FROM_CALLER)
			dismiss_callers();
	}
	/*
	 * This comes after the pipe was emptied: a message that was read while the mark is still set would suppress every
	 * later one. It is an exchange, so that the thread which found the mark set, and wrote nothing, has its earlier
	 * stores seen after this.
	 */
	atomic_exchange(&wake_written, false);
	return n > 0;
}

int sv_watch_start(void)
{
	int error = 0;

	pthread_mutex_lock(&watch_lock);
	if (!running) {
		struct epoll_event wake = {.events = EPOLLIN, .data.u32 = FROM_PROCESS};
		struct epoll_event caller = {.events = EPOLLIN | EPOLLET, .data.u32 = FROM_CALLER};
		sigset_t all, before;
		pthread_attr_t attr;

		atomic_store(&sv_watch_stopping, false);
		atomic_store(&wake_written, false);
		epoll_fd = sv_epoll_create();
		if (epoll_fd < 0 || sv_epoll_add(epoll_fd, sv_process.wake_read, &wake) ||
		    sv_epoll_add(epoll_fd, sv_process.listener, &caller))
			error = errno;
		if (!error) {
			/* signals of the program are handled by the program's threads */
			sigfillset(&all);
			pthread_sigmask(SIG_SETMASK, &all, &before);
			pthread_attr_init(&attr);
			pthread_attr_setstacksize(&attr, STACK_BYTES);
			error = sv_thread_create(&thread, &attr, helper);
			pthread_attr_destroy(&attr);
			pthread_sigmask(SIG_SETMASK, &before, NULL);
		}
		if (error) {
			if (epoll_fd >= 0)
				close(epoll_fd);
			epoll_fd = -1;
		} else {
			pthread_setname_np(thread, "softverbs");
			running = true;
		}
	}
	pthread_mutex_unlock(&watch_lock);
	return error;
}

void sv_watch_stop(void)
{
	pthread_mutex_lock(&watch_lock);
	if (running) {
		atomic_store(&sv_watch_stopping, true);
		sv_watch_wake();
		pthread_join(thread, NULL);
		close(epoll_fd);
		epoll_fd = -1;
		running = false;
	}
	pthread_mutex_unlock(&watch_lock);
}

void sv_watch_wake(void)
{
	/* one message until it is read: a helper that gets no core must not cost each post a system call */
	if (atomic_exchange(&wake_written, true))
		return;
	/* the pipe is full: the helper is awake */
	if (sv_write(sv_process.wake_write, "w", 1) < 0 && errno != EAGAIN)
		atomic_store(&wake_written, false);
}

int sv_watch_add(int fd)
{
	struct epoll_event event = {.data.u32 = FROM_PEER}; /* a hang-up is always reported */

	return sv_epoll_add(epoll_fd, fd, &event) ? errno : 0;
}

void sv_watch_remove(int fd)
{
	epoll_ctl(epoll_fd, EPOLL_CTL_DEL, fd, NULL);
}

/* After a fork: the thread exists only in the parent. */
void sv_watch_after_fork(void)
{
	pthread_mutex_init(&watch_lock, NULL);
	if (epoll_fd >= 0)
		close(epoll_fd);
	epoll_fd = -1;
	running = false;
	atomic_store(&wake_written, false);
}
