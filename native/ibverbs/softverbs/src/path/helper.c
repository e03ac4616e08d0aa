/*
 * The helper thread: one per process, started when its first QP becomes ready to receive, asleep in epoll until
 * something happens that no program's thread can be relied on to notice: a peer came or died, a peer's request put one
 * of our QPs into error, regions of a peer are gone, or sends wait (then it looks again every millisecond, and sooner
 * when it is woken).
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
 * time; a completion that is late is seen by the next poll at the earliest, which does it. And while that program is
 * between two polls it is at it: then what is overdue would be later still with two.
 */
#define POLLED_NS 20000
#define GRACE_NS 500
#define ACTIVE_NS 2000
/* Where nothing is left to us, not even that is looked at for so long after a poll: what is due just then is as late.
 */
#define LEFT_NS 1000

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

/* When something of a QP that waits is to be done here; 0: always. SV_NOTHING_DUE where it is at rest. */
static uint64_t due_here(uint32_t qp, uint64_t now)
{
	uint64_t due = atomic_load_explicit(&sv_process.due[qp].next, memory_order_acquire);
	uint32_t cq = atomic_load_explicit(&sv_process.send_cqs[qp], memory_order_relaxed);
	uint64_t polled = atomic_load_explicit(&sv_process.cq_polled_ns[cq], memory_order_relaxed);

	/* who asks for an event polls no more until it comes */
	if (!due || due == SV_NOTHING_DUE ||
	    (atomic_load_explicit(&sv_process.segment->cqs[cq].armed, memory_order_relaxed) & SV_ARMED_FOR) ||
	    now >= polled + POLLED_NS)
		return due;
	uint64_t delivery = atomic_load_explicit(&sv_process.due[qp].delivery, memory_order_acquire);
	uint64_t overdue = delivery + GRACE_NS > polled + ACTIVE_NS ? delivery + GRACE_NS : polled + ACTIVE_NS;

	return delivery && overdue < due + POLLED_NS ? overdue : due + POLLED_NS;
}

/* Has a QP been at rest for so long that it need not stay in the list? */
static bool rests_for_long(uint32_t qp, uint64_t now)
{
	return atomic_load_explicit(&sv_process.due[qp].next, memory_order_acquire) == SV_NOTHING_DUE &&
	       now > atomic_load_explicit(&sv_process.due[qp].delivery, memory_order_acquire) + LINGER_NS;
}

/* When the first of all that waits is due here, without the locks of who posts and polls; or SV_NOTHING_DUE. */
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

/* QPs that wait: for a receive, a peer, a copier to get out, the time they are due. Returns when the next one is; 0: a
 * thread has what it takes, or none waits any more; SV_NOTHING_DUE: those that are left are at rest. */
static uint64_t look_at_waiting(bool only_if_free)
{
	static struct sv_qp *waiting[SV_QPS];
	uint64_t next = SV_NOTHING_DUE, now = sv_now_ns();
	bool taken = false, mapped = false;

	if (!only_if_free)
		pthread_mutex_lock(&sv_process.lock);
	else if (pthread_mutex_trylock(&sv_process.lock))
		return 0; /* a poll is at it, or a control verb: at once again */
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

/* Whether all was seen to. */
static bool look_around(void)
{
	static bool bereaved; /* some QP may still not know */
	bool found = sv_peers_find_dead(), all = true;
	uint64_t holders = sv_peers_sweep();

	bereaved = bereaved || found;
	sv_ports_follow();

	pthread_mutex_lock(&sv_process.lock);
	sv_cq_fail_users();
	for (uint32_t i = 0; i < SV_QPS; i++)
		if (sv_process.qps[i] && !look_at_qp(sv_process.qps[i], bereaved, holders & sv_holder(i)))
			all = false;
	/* by peers that died before they wrote their events, or had no descriptor left to do so */
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
 * Keeping the model's times: a sleep takes 50 us at the least and a wake-up costs the poster as much as its operation,
 * so the helper spins while something is due soon, and for a while after. True: it only stopped to let the rest be seen
 * to.
 */
static bool spin(void)
{
	uint64_t active = sv_now_ns(), next = 0, looked = 0, seen = 0;
	bool polled = false, rest = false;

	for (unsigned round = 1; round % SPIN_ROUNDS && !atomic_load(&sv_watch_stopping); round++) {
		uint64_t now = sv_now_ns();

		/* whoever polls may need this core, and anyway the cache lines that are read below */
		if (polled && now - seen < SEEN_NS) {
			sched_yield();
			continue;
		}
		seen = now;
		if (!atomic_load_explicit(&sv_process.waiting_words, memory_order_relaxed)) {
			if (now - active > LINGER_NS)
				return false;
			/* whoever posts next is not looked at while it posts: nothing is due so soon */
			next = now + (sv_config.latency < LOOK_NS ? sv_config.latency : LOOK_NS);
			looked = now;
			sched_yield(); /* we may be on the core of the one we wait for */
			continue;
		}
		if (next > now + SPIN_NS)
			return false; /* what waits does so for something else, or for long */
		polled = now < atomic_load_explicit(&sv_process.polled_ns, memory_order_relaxed) + POLLED_NS;
		/* looking takes the cache lines that posts and polls write; but who rests is to leave the list */
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
				next = now + LOOK_NS; /* as above */
			else
				active = now;
		}
		if (!next || rest)
			sched_yield(); /* who has the lock may be waking us just now, and we took the core from it */
	}
	return true;
}

void *sv_helper(void *unused)
{
	bool woken = false, more = false, again = false;
	uint64_t looked = 0; /* when what waits was last looked at, or nothing waited */

	(void)unused;
	while (!atomic_load(&sv_watch_stopping)) {
		if (sv_config.model && (more || woken || atomic_load(&sv_process.stalled))) {
			atomic_store(&sv_process.spinning, true);
			more = spin();
			/* whoever begins to wait from here on wakes us; who did before is seen below */
			atomic_store(&sv_process.spinning, false);
		}
		int timeout = again || atomic_load(&sv_process.stalled) ? RETRY_MS : -1;

		if (more)
			timeout = 0;
		woken = sv_watch_wait(timeout);
		if (woken || again)
			again = !look_around();
		/* order=weak: late is the point, so being woken is no reason to look; being woken again and again must not
		 * hinder */
		if (timeout < 0)
			looked = sv_now_ns();
		if (!woken || !atomic_load(&sv_config.weak) || sv_now_ns() - looked > RETRY_MS * 1000000ull) {
			look_at_waiting(false);
			looked = sv_now_ns();
		}
	}
	return NULL;
}
