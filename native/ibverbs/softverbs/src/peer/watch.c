/*
 * The helper thread: one per process, started when its first QP becomes ready to receive, asleep in epoll until
 * something happens that no program's thread can be relied on to notice: a peer came or died, a peer's request put one
 * of our QPs into error, a region of a peer is gone, or sends wait (then it looks again every millisecond, and sooner
 * when it is woken).
 */
#include "base/clock.h"
#include "base/lock.h"
#include "model/config.h"
#include "object/cq.h"
#include "object/layout.h"
#include "object/process.h"
#include "object/qp.h"
#include "path/cq.h"
#include "path/qp_state.h"
#include "path/rq.h"
#include "path/send.h"
#include "path/waiting.h"
#include "peer/peer.h"
#include "peer/remote.h"
#include "peer/watch.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/* Who woke us. */
enum { FROM_PROCESS, FROM_PEER, FROM_CALLER };

#define RETRY_MS 1
#define STACK_BYTES (256 * 1024)
/* The model: what is due later than this is not waited for by spinning; how long to go on spinning when all is done;
 * how many rounds before the rest is seen to; how long what was posted meanwhile may be overlooked, and where a
 * program polls; how often such a program is looked at. */
#define SPIN_NS 2000000
#define LINGER_NS 200000
#define SPIN_ROUNDS 32768
#define LOOK_NS 1000
#define LOOK_POLLED_NS 3000
#define SEEN_NS 300
/*
 * A program that polled this recently is polling, and does the work itself: two that do the same work take each other's
 * locks and cache lines. Only what its peer waits for is done here, once it is overdue for so long, which is still in
 * time; a completion that is late is seen by the next poll at the earliest, which does it.
 */
#define POLLED_NS 20000
#define GRACE_NS 500

static pthread_mutex_t watch_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t thread;
static bool running;
static _Atomic bool stopping;
static _Atomic bool wake_written;
static int epoll_fd = -1;

/* Under the process lock, so that no QP goes away meanwhile. False: it is taken; look again. */
static bool look_at_qp(struct sv_qp *qp, bool bereaved, bool sweep)
{
	bool fault = atomic_load_explicit(&qp->entry->fault, memory_order_acquire) != SV_FAULT_NONE;

	if (!fault && !bereaved && !sweep)
		return true;
	if (!sv_lock_try(&qp->lock, false))
		return false;
	if (bereaved)
		sv_qp_update_direct(qp); /* posts to a dead peer no longer execute at once */
	if (fault)
		sv_qp_fail(qp);
	if (sweep)
		sv_remote_sweep(qp);
	sv_unlock(&qp->lock, false);
	return true;
}

static bool is_polled(_Atomic uint64_t *polled_ns, uint64_t now)
{
	uint64_t polled = atomic_load_explicit(polled_ns, memory_order_relaxed);

	return now < polled + POLLED_NS;
}

/* When something of a QP that waits is to be done here; 0: always. */
static uint64_t due_here(struct sv_qp *qp, uint64_t now)
{
	uint64_t due = atomic_load_explicit(&qp->next_due, memory_order_acquire);
	struct sv_cq *cq = sv_cq(qp->qp.send_cq);

	/* who asks for an event polls no more until it comes */
	if (!due || atomic_load_explicit(&cq->entry->armed, memory_order_relaxed) != SV_ARMED_NOT || !is_polled(&cq->polled_ns, now))
		return due;
	uint64_t delivery = atomic_load_explicit(&qp->next_delivery, memory_order_acquire);

	return delivery && delivery + GRACE_NS < due + POLLED_NS ? delivery + GRACE_NS : due + POLLED_NS;
}

/* QPs that wait: for a receive, a peer, a copier to get out, the time they are due. Returns when the next one is; 0: a thread has what it takes. */
static uint64_t look_at_waiting(bool only_if_free)
{
	static struct sv_qp *waiting[SV_QPS];
	uint64_t next = UINT64_MAX, now = sv_now_ns();
	bool taken = false;

	if (!only_if_free)
		pthread_mutex_lock(&sv_process.lock);
	else if (pthread_mutex_trylock(&sv_process.lock))
		return 0; /* a poll is at it, or a control verb: at once again */
	unsigned count = sv_waiting_list(NULL, waiting, SV_QPS);

	for (unsigned i = 0; i < count; i++) {
		struct sv_qp *qp = waiting[i];
		uint64_t due = due_here(qp, now);

		if (due <= now) {
			if (!sv_lock_try(&qp->lock, false)) {
				taken = true;
				continue;
			}
			if (qp->failing)
				sv_qp_fail_finish(qp);
			sv_send_progress(qp);
			sv_unlock(&qp->lock, false);
			due = due_here(qp, now);
		}
		if (due && due < next)
			next = due;
	}
	pthread_mutex_unlock(&sv_process.lock);
	return taken ? 0 : next;
}

/* Whether all was seen to. */
static bool look_around(void)
{
	static bool bereaved; /* some QP may still not know */
	bool found = sv_peers_find_dead(), sweep = sv_peers_sweep(), all = true;

	bereaved = bereaved || found;

	pthread_mutex_lock(&sv_process.lock);
	sv_cq_fail_users();
	for (uint32_t i = 0; i < SV_QPS; i++)
		if (sv_process.qps[i] && !look_at_qp(sv_process.qps[i], bereaved, sweep))
			all = false;
	for (uint32_t i = 0; i < SV_SRQS; i++)
		if (sv_process.srqs[i])
			sv_srq_look(sv_process.srqs[i]);
	pthread_mutex_unlock(&sv_process.lock);
	if (sweep)
		sv_peers_sweep();
	bereaved = bereaved && !all;
	return all;
}

/*
 * Keeping the model's times: a sleep takes 50 us at the least and a wake-up costs the poster as much as its operation,
 * so the helper spins while something is due soon, and for a while after. True: it only stopped to let the rest be seen to.
 */
static bool spin(void)
{
	uint64_t active = sv_now_ns(), next = 0, looked = 0, seen = 0;
	bool polled = false;

	for (unsigned round = 1; round % SPIN_ROUNDS && !atomic_load(&stopping); round++) {
		uint64_t now = sv_now_ns();

		/* whoever polls may need this core, and anyway the cache lines that are read below */
		if (polled && now - seen < SEEN_NS) {
			sched_yield();
			continue;
		}
		seen = now;
		if (!atomic_load_explicit(&sv_process.stalled, memory_order_relaxed)) {
			if (now - active > LINGER_NS)
				return false;
			next = 0;
			sched_yield(); /* we may be on the core of the one we wait for */
			continue;
		}
		active = now;
		if (next > now + SPIN_NS)
			return false; /* what waits does so for something else, or for long */
		polled = is_polled(&sv_process.polled_ns, now);
		if (now >= next || now - looked > (polled ? LOOK_POLLED_NS : LOOK_NS)) {
			next = look_at_waiting(true);
			looked = now;
		}
		if (!next)
			sched_yield(); /* who has the lock may be waking us just now, and we took the core from it */
	}
	return true;
}

/* Connections to our socket, which say all they have to say by being made. If descriptors are short, the next brings
 * us back here. */
static void dismiss_callers(void)
{
	int fd;

	while ((fd = accept4(sv_process.listener, NULL, NULL, SOCK_CLOEXEC)) >= 0)
		close(fd);
}

static void *run(void *unused)
{
	struct epoll_event events[16];
	char drain[256];
	bool woken = false, more = false, again = false;
	uint64_t looked = 0; /* when what waits was last looked at, or nothing waited */

	(void)unused;
	while (!atomic_load(&stopping)) {
		if (sv_config.model && (more || woken || atomic_load(&sv_process.stalled))) {
			atomic_store(&sv_process.spinning, true);
			more = spin();
			/* whoever begins to wait from here on wakes us; who did before is seen below */
			atomic_store(&sv_process.spinning, false);
		}
		int timeout = again || atomic_load(&sv_process.stalled) ? RETRY_MS : -1;

		if (more)
			timeout = 0;
		int n = epoll_wait(epoll_fd, events, 16, timeout);

		for (int i = 0; i < n; i++) {
			if (events[i].data.u32 == FROM_PROCESS)
				while (read(sv_process.wake_read, drain, sizeof(drain)) == sizeof(drain))
					;
			else if (events[i].data.u32 == FROM_CALLER)
				dismiss_callers();
		}
		/*
		 * After the pipe was emptied: a message that is read but still marked would silence every later one. An
		 * exchange, so that what was done before a wake that found the mark set is seen below.
		 */
		atomic_exchange(&wake_written, false);
		woken = n > 0;
		if (woken || again)
			again = !look_around();
		/* order=weak: late is the point, so being woken is no reason to look; being woken again and again must not hinder */
		if (timeout < 0)
			looked = sv_now_ns();
		if (!woken || !atomic_load(&sv_config.weak) || sv_now_ns() - looked > RETRY_MS * 1000000ull) {
			look_at_waiting(false);
			looked = sv_now_ns();
		}
	}
	return NULL;
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

		atomic_store(&stopping, false);
		atomic_store(&wake_written, false);
		epoll_fd = epoll_create1(EPOLL_CLOEXEC);
		if (epoll_fd < 0 || epoll_ctl(epoll_fd, EPOLL_CTL_ADD, sv_process.wake_read, &wake) ||
		    epoll_ctl(epoll_fd, EPOLL_CTL_ADD, sv_process.listener, &caller))
			error = errno;
		if (!error) {
			/* the program's signals are for the program's threads */
			sigfillset(&all);
			pthread_sigmask(SIG_SETMASK, &all, &before);
			pthread_attr_init(&attr);
			pthread_attr_setstacksize(&attr, STACK_BYTES);
			error = pthread_create(&thread, &attr, run, NULL);
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
		atomic_store(&stopping, true);
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
	/* one message until it is read: a helper that gets no core must not cost every post a system call */
	if (atomic_exchange(&wake_written, true))
		return;
	if (write(sv_process.wake_write, "w", 1) < 0) {
		/* full: it is awake */
	}
}

void sv_watch_add(struct sv_peer *peer)
{
	struct epoll_event event = {.data.u32 = FROM_PEER}; /* a hang-up is always reported */

	peer->watched = peer->life >= 0 && epoll_ctl(epoll_fd, EPOLL_CTL_ADD, peer->life, &event) == 0;
}

void sv_watch_remove(struct sv_peer *peer)
{
	if (peer->watched)
		epoll_ctl(epoll_fd, EPOLL_CTL_DEL, peer->life, NULL);
	peer->watched = false;
}

/* After a fork: the thread is the parent's. */
void sv_watch_after_fork(void)
{
	pthread_mutex_init(&watch_lock, NULL);
	if (epoll_fd >= 0)
		close(epoll_fd);
	epoll_fd = -1;
	running = false;
	atomic_store(&wake_written, false);
}
