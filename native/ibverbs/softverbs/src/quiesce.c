/*
 * Waiting for copiers. Whoever retires something (a key, a QP) has already made it invalid. After the barrier a
 * copier either sees that or its hazard is visible; a hazard that was up and has moved on is out. A peer that died is
 * out too. One that is stopped in the middle of a copy is waited for: it may go on and write.
 */
#include "softverbs.h"

#include <sched.h>
#include <time.h>

struct watched {
	uint32_t qpn;
	uint32_t hazard; /* odd if it must move on */
	uint32_t busy;
};

static void pause_a_while(unsigned round)
{
	if (round < 100)
		sched_yield();
	else
		nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
}

static bool moved_on(struct sv_qp *qp, struct watched *w)
{
	if ((w->hazard & 1) && (atomic_load_explicit(&qp->entry->hazard, memory_order_acquire) != w->hazard ||
				!qp->peer || sv_peer_check_dead(qp->peer)))
		w->hazard = 0;
	if ((w->busy & 1) && atomic_load_explicit(&qp->entry->busy, memory_order_acquire) != w->busy)
		w->busy = 0;
	return !((w->hazard | w->busy) & 1);
}

/*
 * Senders to UD QPs hold a lock instead. It is not waited for under the process lock, since its holder may be a process
 * that was stopped; the words outlive the QPs.
 */
static void pass_datagrams(void)
{
	_Atomic uint64_t *locks[64];
	unsigned count;
	uint32_t index = 0;

	do {
		count = 0;
		pthread_mutex_lock(&sv_process.lock);
		for (; index < SV_QPS && count < 64; index++) {
			struct sv_qp *qp = sv_process.qps[index];

			if (qp && qp->qp.qp_type == IBV_QPT_UD && atomic_load(&qp->entry->rq.lock))
				locks[count++] = &qp->entry->rq.lock;
		}
		pthread_mutex_unlock(&sv_process.lock);
		for (unsigned i = 0; i < count; i++)
			sv_robust_wait(locks[i]);
	} while (count);
}

void sv_quiesce_all(void)
{
	unsigned count = 0;

	sv_barrier_host();
	pthread_mutex_lock(&sv_process.lock);
	/* most processes have few QPs, most of them idle */
	struct watched stack[64], *list = stack;

	for (uint32_t i = 0; i < SV_QPS; i++) {
		struct sv_qp *qp = sv_process.qps[i];

		if (!qp)
			continue;
		struct watched w = {qp->qp.qp_num, atomic_load_explicit(&qp->entry->hazard, memory_order_acquire),
				    atomic_load_explicit(&qp->entry->busy, memory_order_acquire)};

		if (!((w.hazard | w.busy) & 1))
			continue;
		if (count == 64) {
			struct watched *all = malloc(SV_QPS * sizeof(*all));

			if (!all) { /* wait for this one here instead */
				for (unsigned round = 0; !moved_on(qp, &w); round++)
					pause_a_while(round);
				continue;
			}
			memcpy(all, stack, sizeof(stack));
			list = all;
		}
		list[count++] = w;
	}
	pthread_mutex_unlock(&sv_process.lock);
	pass_datagrams();
	for (unsigned round = 0; count; round++) {
		pthread_mutex_lock(&sv_process.lock);
		for (unsigned i = 0; i < count;) {
			struct sv_qp *qp = sv_process.qps[sv_qpn_index(list[i].qpn)];

			/* destroying a QP waits for its copiers, so one that is gone is quiet */
			if (!qp || moved_on(qp, &list[i]))
				list[i] = list[--count];
			else
				i++;
		}
		pthread_mutex_unlock(&sv_process.lock);
		if (count)
			pause_a_while(round);
	}
	if (list != stack)
		free(list);
}

void sv_quiesce_qp(struct sv_qp *qp)
{
	sv_barrier_host();
	if (qp->qp.qp_type == IBV_QPT_UD) {
		sv_robust_wait(&qp->entry->rq.lock);
		return;
	}
	struct watched w = {qp->qp.qp_num, atomic_load_explicit(&qp->entry->hazard, memory_order_acquire), 0};

	for (unsigned round = 0; !moved_on(qp, &w); round++)
		pause_a_while(round);
}

void sv_wake_peers(void)
{
	pthread_mutex_lock(&sv_process.lock);
	struct sv_peer *last = NULL;

	for (uint32_t i = 0; i < SV_QPS; i++) {
		struct sv_qp *qp = sv_process.qps[i];

		if (qp && qp->peer && qp->peer != last && !qp->peer->self) {
			last = qp->peer;
			sv_peer_wake(last);
		}
	}
	pthread_mutex_unlock(&sv_process.lock);
}
