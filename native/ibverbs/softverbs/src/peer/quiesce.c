/*
 * Waiting for copiers.
 *
 * An initiator copies to and from this process's memory by itself. So an object that is retired here (a key, a QP) may
 * still be in use by a copier after it was made invalid, and its memory may be reused only once that copier is out.
 * Threads of this process that use their own keys are copiers, too.
 *  - The copier stores an odd value into `busy` of its QP (sv_enter in path/busy.h), loads the key, state or gate,
 *    copies if that is valid, and stores an even value.
 *  - The thread that retires an object stores the invalid key, state or gate, runs membarrier on all processes that
 *    have the device open, and loads each copier's `busy`.
 * Each side stores and then loads, with a full barrier in between, which membarrier executes for the copier. So a
 * copier finds the object invalid, or its `busy` is seen as odd. In the second case the thread waits until that word
 * has changed: then the copier is out, even if it is busy with another operation by then. A peer that has died is out,
 * too. A peer that is stopped in the middle of a copy may resume and write at any time, or never: so the wait has an
 * end, after which the object stays allocated, invalid, and can be retired again.
 *
 * Only copiers that can hold the object are waited for: a key of a protection domain is used by QPs of that domain, a
 * QP by its peer. No lock is held during the wait, except that the process lock is taken for each look at a QP, which
 * it keeps alive.
 */
#include "base/barrier.h"
#include "base/clock.h"
#include "base/macros.h"
#include "object/layout.h"
#include "object/process.h"
#include "object/qp.h"
#include "peer/peer.h"
#include "peer/quiesce.h"
#include "peer/robust.h"

#include <errno.h>
#include <sched.h>
#include <time.h>

/* What we wait for: two words that must change, each if it is odd. */
struct watched {
	uint32_t index;  /* of our QP */
	uint32_t copier; /* the `busy` of its peer */
	uint32_t busy;   /* its own `busy` */
};

/* The value of `busy` for a copier that may be busy and cannot be looked at. It is odd. */
#define UNKNOWN UINT32_MAX

static void pause_a_while(unsigned round)
{
	if (round < 100)
		sched_yield();
	else
		nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
}

/* The process whose requests come to this QP, held until sv_peer_put. NULL: *gone says whether it is gone. */
static struct sv_peer *copier(const struct sv_qp *qp, bool *gone)
{
	/* the QP may have a peer's number and never have reached that process */
	struct sv_peer *peer = sv_peer_get(qp->peer ? qp->peer->slot : sv_qpn_slot(qp->attr.dest_qp_num));

	*gone = peer ? qp->peer && peer != qp->peer : sv_peer_is_nobody(errno);
	return peer;
}

static bool is_gone(const struct sv_qp *qp)
{
	if (qp->peer)
		return sv_peer_check_dead(qp->peer);
	bool gone;
	struct sv_peer *peer = copier(qp, &gone);

	if (peer)
		sv_peer_put(peer);
	return gone;
}

static bool is_stopped(const struct sv_qp *qp)
{
	bool gone;
	struct sv_peer *peer = copier(qp, &gone);
	bool stopped = peer && sv_peer_is_stopped(peer);

	if (peer)
		sv_peer_put(peer);
	return stopped;
}

/*
 * The `busy` of the peer of a QP. Under the process lock or the send lock, which keep its segment mapped. A peer can be
 * at work on a QP of ours that never reached the peer's process: then the process is looked up now. If this user has no
 * such process, no copier is at work; if it cannot be looked at for any other reason, the answer is UNKNOWN.
 */
static uint32_t busy_of_copier(const struct sv_qp *qp)
{
	if (qp->qp.qp_type == IBV_QPT_UD)
		return 0; /* senders to a UD QP hold a lock instead */
	struct sv_qp_entry *its = __atomic_load_n(&qp->remote_entry, __ATOMIC_ACQUIRE);

	if (likely(its != NULL))
		return atomic_load_explicit(&its->busy, memory_order_acquire);
	uint32_t qpn = atomic_load(&qp->entry->dest_qpn);

	if (!qpn)
		return 0;
	struct sv_peer *peer = sv_peer_get(sv_qpn_slot(qpn));

	if (!peer)
		return sv_peer_is_nobody(errno) ? 0 : UNKNOWN;
	uint32_t busy = atomic_load_explicit(&peer->segment->qps[sv_qpn_index(qpn)].busy, memory_order_acquire);

	sv_peer_put(peer);
	return busy;
}

uint32_t sv_copier_now(struct sv_qp *qp)
{
	sv_barrier_host();
	return busy_of_copier(qp);
}

bool sv_copier_out(const struct sv_qp *qp, uint32_t copier)
{
	if (!(copier & 1))
		return true;
	uint32_t now = busy_of_copier(qp);

	/* if its value was unknown then, only an even value now shows that it is out */
	if (now != UNKNOWN && (!(now & 1) || (copier != UNKNOWN && now != copier)))
		return true;
	return is_gone(qp);
}

static bool moved_on(const struct sv_qp *qp, struct watched *w)
{
	if (sv_copier_out(qp, w->copier))
		w->copier = 0;
	if ((w->busy & 1) && atomic_load_explicit(&qp->entry->busy, memory_order_acquire) != w->busy)
		w->busy = 0;
	return !((w->copier | w->busy) & 1);
}

static bool wait_for(struct watched w, uint64_t since_ns)
{
	for (unsigned round = 0;; round++) {
		pthread_mutex_lock(&sv_process.lock);
		const struct sv_qp *qp = sv_process.qps[w.index];
		/* destroying a QP waits for its copiers, so a QP that is gone has none */
		bool out = !qp || moved_on(qp, &w);
		bool patient = out || sv_patience(since_ns, false);

		/* a copier that cannot be looked at cannot be seen to move on either */
		if (!out && !sv_patience(since_ns, true) && (w.copier == UNKNOWN || ((w.copier & 1) && is_stopped(qp))))
			patient = false;
		pthread_mutex_unlock(&sv_process.lock);
		if (out || !patient)
			return out;
		pause_a_while(round);
	}
}

/* Senders to UD QPs hold a lock instead, whose word outlives the QP. */
static bool wait_for_datagram(_Atomic uint64_t *lock, uint64_t since_ns)
{
	uint64_t holder = atomic_load(lock);

	for (unsigned round = 1; holder && atomic_load(lock) == holder; round++) {
		/* the holder may be another one each time: then the lock was free in between */
		if (round % 32 == 0 && !sv_robust_lives(holder))
			break; /* the next sender repairs what it left (deliver.c) */
		if (!sv_patience(since_ns, false) || (!sv_patience(since_ns, true) && sv_robust_is_stopped(holder)))
			return false;
		pause_a_while(round);
	}
	return true;
}

bool sv_quiesce_domain(uint32_t pd)
{
	uint64_t since = sv_now_ns();
	bool out = true;

	sv_barrier_host();
	pthread_mutex_lock(&sv_process.lock);
	/* most processes have few QPs, most of them idle */
	for (uint32_t i = 0; out && i < SV_QPS; i++) {
		struct sv_qp *qp = sv_process.qps[i];

		if (!qp || qp->pd_handle != pd)
			continue;
		struct watched w = {i, busy_of_copier(qp), atomic_load_explicit(&qp->entry->busy, memory_order_acquire)};
		_Atomic uint64_t *lock = qp->qp.qp_type == IBV_QPT_UD ? &qp->entry->rq.lock : NULL;

		if (!((w.copier | w.busy) & 1) && (!lock || !atomic_load(lock)))
			continue;
		pthread_mutex_unlock(&sv_process.lock);
		out = wait_for(w, since) && (!lock || wait_for_datagram(lock, since));
		pthread_mutex_lock(&sv_process.lock);
	}
	pthread_mutex_unlock(&sv_process.lock);
	return out;
}

bool sv_quiesce_qp(struct sv_qp *qp)
{
	uint64_t since = sv_now_ns();

	sv_barrier_host();
	if (qp->qp.qp_type == IBV_QPT_UD)
		return wait_for_datagram(&qp->entry->rq.lock, since);
	pthread_mutex_lock(&sv_process.lock);
	struct watched w = {qp->index, busy_of_copier(qp), 0};

	pthread_mutex_unlock(&sv_process.lock);
	return !(w.copier & 1) || wait_for(w, since);
}
