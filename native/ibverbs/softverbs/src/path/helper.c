/*
 * The helper thread. There is one per process, started when its first QP becomes ready to receive. It sleeps in epoll
 * until something happens that no thread of the program can be relied on to notice: a peer connected or died, a peer's
 * request put one of our QPs into error, regions of a peer are gone, or sends wait. In the last case it looks again
 * every millisecond, and sooner if it is woken.
 */
#include "base/clock.h"
#include "base/lock.h"
#include "model/config.h"
#include "object/cq.h"
#include "object/layout.h"
#include "object/process.h"
#include "object/qp.h"
#include "path/completion.h"
#include "path/helper.h"
#include "path/port.h"
#include "path/progress.h"
#include "path/qp_state.h"
#include "path/rq.h"
#include "path/waiting.h"
#include "peer/map.h"
#include "peer/peer.h"
#include "peer/remote.h"
#include "peer/watch.h"

#include <sched.h>

#define RETRY_MS 1
/*
 * If a model is on. SPIN_NS: it does not spin for what is due later than this. LINGER_NS: how long it continues to spin
 * when nothing waits. SPIN_ROUNDS: after so many rounds it does its other work. LOOK_NS: how long a new post may go
 * unnoticed; LOOK_POLLED_NS: the same if a program polls. SEEN_NS: how often it looks whether a program still polls.
 */
#define SPIN_NS 2000000
#define LINGER_NS 200000
#define SPIN_ROUNDS 32768
#define LOOK_NS 1000
#define LOOK_POLLED_NS 3000
#define SEEN_NS 300
/*
 * A program that polled within POLLED_NS is polling, and does the work itself: two threads that do the same work
 * contend for locks and cache lines. The helper then executes only what the peer of a QP waits for, once that is
 * overdue by GRACE_NS, which is still in time. (A completion that is late is seen by the next poll at the earliest, and
 * that poll makes it.) It also waits until the last poll is ACTIVE_NS ago: a program that is between two polls is about
 * to do the work, and two threads would make it later still.
 */
#define POLLED_NS 20000
#define GRACE_NS 500
#define ACTIVE_NS 2000
/*
 * If the last poll did all that was due, the helper does not even look for so long after it: what becomes due just then
 * is late by that much.
 */
#define LEFT_NS 1000

/*
 * Under the process lock, so that no QP is destroyed meanwhile. False: the lock of the QP is taken; look again later.
 */
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

/* When the helper is to do something for a QP that waits; 0: whenever it looks. SV_NOTHING_DUE: the QP is at rest. */
static uint64_t due_here(uint32_t qp, uint64_t now)
{
	uint64_t due = atomic_load_explicit(&sv_process.due[qp].next, memory_order_acquire);
	uint32_t cq = atomic_load_explicit(&sv_process.send_cqs[qp], memory_order_relaxed);
	uint64_t polled = atomic_load_explicit(&sv_process.cq_polled_ns[cq], memory_order_relaxed);

	/* a program that has armed the CQ does not poll until the event comes */
	if (!due || due == SV_NOTHING_DUE ||
	    (atomic_load_explicit(&sv_process.segment->cqs[cq].armed, memory_order_relaxed) & SV_ARMED_FOR) ||
	    now >= polled + POLLED_NS)
		return due;
	uint64_t delivery = atomic_load_explicit(&sv_process.due[qp].delivery, memory_order_acquire);
	uint64_t overdue = delivery + GRACE_NS > polled + ACTIVE_NS ? delivery + GRACE_NS : polled + ACTIVE_NS;

	return delivery && overdue < due + POLLED_NS ? overdue : due + POLLED_NS;
}

/* Has a QP been at rest for so long that it can be taken out of the list? */
static bool rests_for_long(uint32_t qp, uint64_t now)
{
	return atomic_load_explicit(&sv_process.due[qp].next, memory_order_acquire) == SV_NOTHING_DUE &&
	       now > atomic_load_explicit(&sv_process.due[qp].delivery, memory_order_acquire) + LINGER_NS;
}

/*
 * When the helper has to do something for any QP, found without the locks that posts and polls take; or SV_NOTHING_DUE.
 */
static uint64_t first_due_here(uint64_t now)
{
	uint64_t first = SV_NOTHING_DUE;

	for (uint32_t qp = sv_waiting_next(0); qp != SV_QPS; qp = sv_waiting_next(qp + 1)) {
		uint64_t due = rests_for_long(qp, now) ? now : due_here(qp, now);

		if (due < first)
			first = due;
	}
	return first;
}

/*
 * Look at the QPs that wait: for a receive, a peer, a copier to get out, the time at which they are due. Returns when
 * the next one is due; 0: a thread holds a lock that is needed, or no QP waits any more; SV_NOTHING_DUE: those that are
 * left are at rest.
 */
static uint64_t look_at_waiting(bool only_if_free)
{
	static struct sv_qp *waiting[SV_QPS];
	uint64_t next = SV_NOTHING_DUE, now = sv_now_ns();
	bool taken = false, mapped = false;

	if (!only_if_free)
		pthread_mutex_lock(&sv_process.lock);
	else if (pthread_mutex_trylock(&sv_process.lock))
		return 0; /* a poll or a control verb has the lock: look again at once */
	unsigned count = sv_waiting_list(waiting);

	if (!count)
		next = 0;
	for (unsigned i = 0; i < count; i++) {
		struct sv_qp *qp = waiting[i];
		uint64_t due = due_here(qp->index, now);

		if (due <= now || rests_for_long(qp->index, now)) {
			if (!sv_lock_try(&qp->lock, false)) {
				taken = true;
				continue;
			}
			if (qp->failing)
				sv_qp_fail_finish(qp);
			mapped = sv_send_progress_helped(qp, now) || mapped;
			if (rests_for_long(qp->index, now))
				sv_waiting_rest(qp);
			sv_unlock(&qp->lock, false);
			due = due_here(qp->index, now);
		}
		if (due && due < next)
			next = due;
	}
	pthread_mutex_unlock(&sv_process.lock);
	if (mapped)
		sv_peers_populate();
	return taken ? 0 : next;
}

/* Look at all that may have happened. Returns false if some QP was locked: look again. */
static bool look_around(void)
{
	static bool bereaved; /* some QP may not have been updated since a peer died */
	bool found = sv_peers_find_dead(), all = true;
	uint64_t holders = sv_peers_sweep();

	bereaved = bereaved || found;
	sv_ports_follow();

	pthread_mutex_lock(&sv_process.lock);
	sv_cq_fail_users();
	for (uint32_t i = 0; i < SV_QPS; i++)
		if (sv_process.qps[i] && !look_at_qp(sv_process.qps[i], bereaved, holders & sv_holder(i)))
			all = false;
	/* events of peers that died before they wrote them, or lacked a descriptor */
	bool owed = atomic_exchange(&sv_process.segment->header.events_owed, 0);

	for (uint32_t i = 0; (found || owed) && i < SV_CQS; i++)
		if (sv_process.cqs[i])
			sv_cq_notify_arrived(sv_process.cqs[i]);
	for (uint32_t i = 0; i < SV_SRQS; i++)
		if (sv_process.srqs[i])
			sv_srq_look(sv_process.srqs[i]);
	pthread_mutex_unlock(&sv_process.lock);
	if (holders)
		sv_peers_sweep();
	bereaved = bereaved && !all;
	return all;
}

/*
 * Keep the model's times: a sleep takes at least 50 us, and a wake-up costs the posting thread as much as its
 * operation, so the helper spins while something is due soon, and for a while after. True: it stopped only to do its
 * other work, and is to continue.
 */
static bool spin(void)
{
	uint64_t active = sv_now_ns(), next = 0, looked = 0, seen = 0;
	bool polled = false, rest = false;

	for (unsigned round = 1; round % SPIN_ROUNDS && !atomic_load(&sv_watch_stopping); round++) {
		uint64_t now = sv_now_ns();

		/* a polling program may need this core, and in any case the cache lines that are read below */
		if (polled && now - seen < SEEN_NS) {
			sched_yield();
			continue;
		}
		seen = now;
		if (!atomic_load_explicit(&sv_process.waiting_words, memory_order_relaxed)) {
			if (now - active > LINGER_NS)
				return false;
			/* do not look while the next post is being made: nothing of it is due so soon */
			next = now + (sv_config.latency < LOOK_NS ? sv_config.latency : LOOK_NS);
			looked = now;
			sched_yield(); /* the thread that we wait for may need this core */
			continue;
		}
		if (next > now + SPIN_NS)
			return false; /* what waits does not wait for time, or waits for long */
		polled = now < atomic_load_explicit(&sv_process.polled_ns, memory_order_relaxed) + POLLED_NS;
		/*
		 * looking takes the cache lines that posts and polls write, so it is avoided here; but a QP at rest must leave
		 * the list
		 */
		if (now < atomic_load_explicit(&sv_process.polled_all_ns, memory_order_relaxed) + LEFT_NS &&
		    now < looked + LINGER_NS)
			continue;
		if (now >= next || now - looked > (polled ? LOOK_POLLED_NS : LOOK_NS)) {
			next = first_due_here(now);
			looked = now;
			if (next <= now)
				next = look_at_waiting(true);
			rest = next == SV_NOTHING_DUE;
			if (rest)
				next = now + LOOK_NS; /* as above: the next post is not looked at while it is made */
			else
				active = now;
		}
		if (!next || rest)
			sched_yield(); /* the thread that has the lock may be waking us just now, and we took its core */
	}
	return true;
}

void *sv_helper(void *unused)
{
	bool woken = false, more = false, again = false;
	uint64_t looked = 0; /* when the QPs that wait were last looked at, or none waited */

	(void)unused;
	while (!atomic_load(&sv_watch_stopping)) {
		if (sv_config.model && (more || woken || atomic_load(&sv_process.stalled))) {
			atomic_store(&sv_process.spinning, true);
			more = spin();
			/* a QP that begins to wait from here on wakes us; one that began before is seen below */
			atomic_store(&sv_process.spinning, false);
		}
		int timeout = again || atomic_load(&sv_process.stalled) ? RETRY_MS : -1;

		if (more)
			timeout = 0;
		woken = sv_watch_wait(timeout);
		if (woken || again)
			again = !look_around();
		/*
		 * order=weak: operations should be late, so a wake-up is no reason to execute any; but frequent wake-ups must
		 * not prevent it
		 */
		if (timeout < 0)
			looked = sv_now_ns();
		if (!woken || !atomic_load(&sv_config.weak) || sv_now_ns() - looked > RETRY_MS * 1000000ull) {
			look_at_waiting(false);
			looked = sv_now_ns();
		}
	}
	return NULL;
}
