/* The QPs that wait for something: a list, so that neither a poll nor the helper looks at all QPs to find them. */
#include "base/macros.h"
#include "object/cq.h"
#include "object/process.h"
#include "object/qp.h"
#include "path/waiting.h"
#include "peer/watch.h"

static void append(struct sv_qp *qp)
{
	struct sv_qp **end = sv_process.waiting ? sv_process.end_waiting : &sv_process.waiting;

	qp->next_waiting = NULL;
	qp->at_waiting = end;
	*end = qp;
	sv_process.end_waiting = &qp->next_waiting;
}

static void take_out(struct sv_qp *qp)
{
	*qp->at_waiting = qp->next_waiting;
	if (qp->next_waiting)
		qp->next_waiting->at_waiting = qp->at_waiting;
	else
		sv_process.end_waiting = qp->at_waiting;
}

void sv_waiting_update(struct sv_qp *qp)
{
	bool waits = qp->pending_head != qp->pending_tail || qp->failing;

	if (likely(waits == qp->waiting))
		return;
	bool first = false;

	pthread_mutex_lock(&sv_process.waiting_lock);
	qp->waiting = waits;
	if (waits) {
		append(qp);
		atomic_fetch_add(&sv_cq(qp->qp.send_cq)->stalled, 1);
		first = atomic_fetch_add(&sv_process.stalled, 1) == 0;
	} else {
		take_out(qp);
		atomic_fetch_sub(&sv_cq(qp->qp.send_cq)->stalled, 1);
		atomic_fetch_sub(&sv_process.stalled, 1);
	}
	pthread_mutex_unlock(&sv_process.waiting_lock);
	if (first && !atomic_load(&sv_process.spinning))
		sv_watch_wake();
}

unsigned sv_waiting_list(const struct sv_cq *cq, struct sv_qp **list, unsigned max)
{
	unsigned count = 0;

	pthread_mutex_lock(&sv_process.waiting_lock);
	for (struct sv_qp *qp = sv_process.waiting; qp && count < max; qp = qp->next_waiting)
		if (!cq || qp->qp.send_cq == &cq->cq)
			list[count++] = qp;
	/* to the end: who takes a few at a time gets to all of them */
	for (unsigned i = 0; i < count && count == max; i++) {
		take_out(list[i]);
		append(list[i]);
	}
	pthread_mutex_unlock(&sv_process.waiting_lock);
	return count;
}
