/*
 * Completion queues. Completions of sends are local: the initiator puts them into the CQ's ring when it executes.
 * Completions of receives are written by the sender, as records, into the receiving QP's ring in our segment, and
 * become work completions only when this CQ is polled. A poll looks for records only if `arrivals` has changed. The
 * sender publishes a record, increments `arrivals`, and loads `armed`; the receiver arms the CQ by an exchange, and
 * then polls. Both increment and exchange are full barriers, so either the sender finds the CQ armed, or the receiver's
 * poll finds the record.
 */
#include "base/calls.h"
#include "base/lock.h"
#include "base/macros.h"
#include "object/async.h"
#include "object/cq.h"
#include "object/layout.h"
#include "object/process.h"
#include "object/qp.h"
#include "path/completion.h"
#include "peer/watch.h"

static bool arm_matches(uint32_t kind, bool solicited)
{
	return kind == SV_ARMED_ANY || (kind == SV_ARMED_SOLICITED && solicited);
}

void sv_cq_notify(struct sv_cq *cq, bool solicited)
{
	uint32_t armed = atomic_load_explicit(&cq->entry->armed, memory_order_relaxed);

	if (!cq->cq.channel)
		return;
	/*
	 * tried again if it fails: the CQ may have been armed for more meanwhile. It is disarmed before the event is
	 * written, unlike in deliver.c: if we die in between, the reader of the event dies with us
	 */
	do {
		if (likely(!arm_matches(armed & SV_ARMED_FOR, solicited)))
			return;
	} while (!atomic_compare_exchange_weak(&cq->entry->armed, &armed, armed & ~(uint32_t)SV_ARMED_FOR));
	struct sv_channel *channel = container_of(cq->cq.channel, struct sv_channel, channel);

	if (sv_write(channel->write_fd, &cq->entry->event, sizeof(cq->entry->event)) < 0) {
		/* the pipe is full: its reader is awake */
	}
}

void sv_cq_flush_arrived(struct sv_cq *cq)
{
	sv_lock_control(&cq->lock);
	cq->receives_waiting = true;
	sv_cq_notify(cq, true);
	sv_unlock(&cq->lock, false);
}

/*
 * A completion that does not fit is lost, which is an error of the program, and reported once. The helper thread moves
 * the QPs of the CQ into error. Called without the CQ's lock.
 */
static void overrun(struct sv_cq *cq)
{
	if (atomic_exchange(&cq->overrun, true))
		return;
	sv_lock_control(&cq->lock);
	cq->cq.cqe = 0; /* with this it takes no more completions, at no cost to a post */
	sv_unlock(&cq->lock, false);
	sv_async_raise(cq->cq.context, IBV_EVENT_CQ_ERR, cq->index, cq->entry->event);
	/* the posting thread holds a lock that comes after the locks that finding the QPs takes */
	atomic_store(&sv_process.overrun, true);
	sv_watch_wake();
}

void sv_cq_fail_users(void)
{
	if (!atomic_exchange(&sv_process.overrun, false))
		return;
	for (uint32_t i = 0; i < SV_QPS; i++) {
		struct sv_qp *qp = sv_process.qps[i];

		if (!qp || !(atomic_load(&sv_cq(qp->qp.send_cq)->overrun) || atomic_load(&sv_cq(qp->qp.recv_cq)->overrun)))
			continue;
		uint32_t state = atomic_load(&qp->entry->state) & 0xff, none = SV_FAULT_NONE;

		if (state != IBV_QPS_RESET && state != IBV_QPS_ERR)
			atomic_compare_exchange_strong(&qp->entry->fault, &none, SV_FAULT_LOST);
	}
}

static bool has_arrived(const struct sv_cq *cq)
{
	for (const struct sv_qp *qp = cq->receivers; qp; qp = qp->next_receiver) {
		const struct sv_recv_record *record = &qp->records[qp->record_tail & qp->record_mask];

		if (atomic_load_explicit(&record->sequence, memory_order_acquire) == qp->record_tail + 1)
			return true;
	}
	return false;
}

void sv_cq_notify_arrived(struct sv_cq *cq)
{
	sv_lock_control(&cq->lock);
	if (has_arrived(cq)) {
		cq->receives_waiting = true;
		sv_cq_notify(cq, true);
	}
	sv_unlock(&cq->lock, false);
}

void sv_cq_attach(struct sv_cq *cq, struct sv_qp *qp)
{
	sv_lock_control(&cq->lock);
	qp->next_receiver = cq->receivers;
	cq->receivers = qp;
	sv_unlock(&cq->lock, false);
}

void sv_cq_detach(struct sv_cq *cq, struct sv_qp *qp)
{
	sv_lock_control(&cq->lock);
	struct sv_qp **at = &cq->receivers;

	while (*at && *at != qp)
		at = &(*at)->next_receiver;
	if (*at)
		*at = qp->next_receiver;
	cq->next_receiver = NULL;
	sv_unlock(&cq->lock, false);
}

void sv_cq_forget(struct sv_cq *cq, struct sv_qp *qp)
{
	sv_lock_control(&cq->lock);
	uint32_t to = cq->head;

	for (uint32_t from = cq->head; from != cq->tail; from++) {
		struct sv_cqe *cqe = &cq->ring[from & cq->mask];

		if (cqe->qp != qp)
			cq->ring[to++ & cq->mask] = *cqe;
	}
	cq->tail = to;
	sv_unlock(&cq->lock, false);
}

void sv_completion_lost(struct sv_qp *qp)
{
	uint32_t none = SV_FAULT_NONE;

	overrun(sv_cq(qp->qp.send_cq));
	qp->direct = false;
	if (atomic_compare_exchange_strong(&qp->entry->fault, &none, SV_FAULT_LOST))
		sv_watch_wake();
}

void sv_complete(struct sv_qp *qp, const struct ibv_send_wr *wr, int status, uint32_t bytes, uint32_t sequence)
{
	sv_push(qp, wr, status, bytes, sequence);
}
