/*
 * Completion queues. Completions of sends are local: the initiator puts them into the CQ's ring when it executes.
 * Completions of receives are written by the sender as records into the receiving QP's ring in our segment, and become
 * work completions only when this CQ is polled. `arrivals`, bumped after each record, tells a poll whether to look;
 * being an atomic operation it also orders the record before the sender's look at `armed` (and arming, an exchange,
 * comes before the program's last poll): one of the two always notices.
 */
#include "base/clock.h"
#include "base/copy.h"
#include "base/lock.h"
#include "base/macros.h"
#include "device/objects.h"
#include "object/async.h"
#include "object/cq.h"
#include "object/layout.h"
#include "object/limits.h"
#include "object/process.h"
#include "object/qp.h"
#include "object/srq.h"
#include "path/cq.h"
#include "path/send.h"
#include "path/waiting.h"
#include "peer/watch.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static bool arm_matches(uint32_t armed, bool solicited)
{
	return armed == SV_ARMED_ANY || (armed == SV_ARMED_SOLICITED && solicited);
}

void sv_cq_notify(struct sv_cq *cq, bool solicited)
{
	uint32_t armed = atomic_load_explicit(&cq->entry->armed, memory_order_relaxed);

	if (!cq->cq.channel)
		return;
	/* again when it fails: it may have been armed for more meanwhile */
	do {
		if (likely(!arm_matches(armed, solicited)))
			return;
	} while (!atomic_compare_exchange_weak(&cq->entry->armed, &armed, SV_ARMED_NOT));
	struct sv_channel *channel = container_of(cq->cq.channel, struct sv_channel, channel);

	if (write(channel->write_fd, &cq->entry->event, sizeof(cq->entry->event)) < 0) {
		/* full: its reader is awake */
	}
}

void sv_cq_flush_arrived(struct sv_cq *cq)
{
	sv_lock_control(&cq->lock);
	cq->receives_waiting = true;
	sv_cq_notify(cq, true);
	sv_unlock(&cq->lock, false);
}

/* What does not fit is lost, which is the program's fault; it is told once. */
void sv_cq_overrun(struct sv_cq *cq)
{
	if (atomic_exchange(&cq->overrun, true))
		return;
	sv_lock_control(&cq->lock);
	cq->cq.cqe = 0; /* that is how it takes no more, at no cost to a post */
	sv_unlock(&cq->lock, false);
	sv_async_raise(cq->cq.context, IBV_EVENT_CQ_ERR, cq->index, cq->entry->event);
	/* whoever posts holds a lock that comes after those that finding them takes */
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

static void from_record(struct ibv_wc *wc, struct sv_qp *qp, const struct sv_recv_record *record)
{
	wc->wr_id = record->wr_id;
	wc->status = record->status;
	wc->opcode = record->opcode;
	wc->vendor_err = 0;
	wc->byte_len = record->byte_len;
	wc->imm_data = record->imm;
	wc->qp_num = qp->qp.qp_num;
	wc->src_qp = record->src_qp;
	wc->wc_flags = record->flags;
	wc->pkey_index = (uint16_t)record->pkey_index;
	wc->slid = SV_LID;
	wc->sl = (uint8_t)record->sl;
	wc->dlid_path_bits = 0;
}

_Static_assert(offsetof(struct ibv_wc, status) == 8 && offsetof(struct ibv_wc, opcode) == 12 &&
		   offsetof(struct ibv_wc, vendor_err) == 16 && offsetof(struct ibv_wc, byte_len) == 20 &&
		   offsetof(struct ibv_wc, imm_data) == 24 && offsetof(struct ibv_wc, qp_num) == 28 && sizeof(struct ibv_wc) == 48,
	       "as it is written here; what is left of it is 0");

static inline void from_cqe(struct ibv_wc *wc, const struct sv_cqe *cqe)
{
	sv_u64 *words = (sv_u64 *)wc;

	words[0] = cqe->wr_id;
	words[1] = cqe->status_opcode;
	words[2] = cqe->bytes_sequence << 32;
	words[3] = (uint64_t)cqe->qp->qp.qp_num << 32;
	words[4] = words[5] = 0;
}

static void count_polled(struct sv_qp *qp)
{
	struct sv_rq *rq = qp->qp.srq ? &sv_srq(qp->qp.srq)->rq : &qp->rq;

	if (qp->qp.srq)
		atomic_fetch_add_explicit(&rq->polled, 1, memory_order_release);
	else
		atomic_store_explicit(&rq->polled, atomic_load_explicit(&rq->polled, memory_order_relaxed) + 1,
				      memory_order_release);
}

/* Receives that the error state gives back, straight from the queue. */
static int flush_receives(struct sv_qp *qp, int entries, struct ibv_wc *wc)
{
	int got = 0;
	uint32_t polled = atomic_load_explicit(&qp->rq.polled, memory_order_relaxed);
	uint32_t tail = atomic_load_explicit(&qp->rq.entry->tail, memory_order_acquire);

	for (; got < entries && polled != tail; polled++, got++) {
		struct sv_recv_wqe *wqe =
		    (struct sv_recv_wqe *)(qp->rq.wqes + (size_t)(polled & qp->rq.mask) * qp->rq.stride);

		wc[got] = (struct ibv_wc){.wr_id = wqe->wr_id,
					  .status = IBV_WC_WR_FLUSH_ERR,
					  .opcode = IBV_WC_RECV,
					  .vendor_err = 0xf9,
					  .qp_num = qp->qp.qp_num};
	}
	atomic_store_explicit(&qp->rq.polled, polled, memory_order_release);
	return got;
}

static int drain_qp(struct sv_qp *qp, int entries, struct ibv_wc *wc)
{
	int got = 0;

	while (got < entries) {
		struct sv_recv_record *record = &qp->records[qp->record_tail & qp->record_mask];

		if (atomic_load_explicit(&record->sequence, memory_order_acquire) != qp->record_tail + 1)
			break;
		from_record(&wc[got++], qp, record);
		qp->record_tail++;
		count_polled(qp);
	}
	if (unlikely(qp->flush_receives) && got < entries && !qp->qp.srq)
		got += flush_receives(qp, entries - got, wc + got);
	return got;
}

static inline bool may_have_received(const struct sv_cq *cq)
{
	return cq->receives_waiting ||
	       atomic_load_explicit(&cq->entry->arrivals, memory_order_acquire) != cq->arrivals;
}

static __attribute__((noinline)) int drain(struct sv_cq *cq, int entries, struct ibv_wc *wc)
{
	int got = 0;

	cq->arrivals = atomic_load_explicit(&cq->entry->arrivals, memory_order_acquire);
	cq->receives_waiting = entries == 0; /* no room: the next poll must look */
	if (!cq->receivers || entries == 0)
		return 0;
	/* go round from where the last poll stopped, so that a busy QP does not starve the others */
	struct sv_qp *first = cq->next_receiver ? cq->next_receiver : cq->receivers;
	struct sv_qp *qp = first;

	do {
		got += drain_qp(qp, entries - got, wc + got);
		if (got == entries)
			break;
		qp = qp->next_receiver ? qp->next_receiver : cq->receivers;
	} while (qp != first);
	cq->next_receiver = qp;
	cq->receives_waiting = got == entries;
	return got;
}

static inline int poll_sends(struct sv_cq *cq, int entries, struct ibv_wc *wc)
{
	uint32_t head = cq->head, tail = cq->tail;
	int got = 0;

	for (; got < entries && head != tail; head++) {
		const struct sv_cqe *cqe = &cq->ring[head & cq->mask];

		from_cqe(&wc[got++], cqe);
		atomic_store_explicit(&cqe->qp->freed, (uint32_t)(cqe->bytes_sequence >> 32), memory_order_release);
	}
	cq->head = head;
	return got;
}

/* Sends and receives take turns at being first, so that neither starves the other when there is room for few. */
static __attribute__((noinline)) int poll_both(struct sv_cq *cq, int entries, struct ibv_wc *wc)
{
	int got;

	cq->receives_first = !cq->receives_first;
	if (cq->receives_first) {
		got = drain(cq, entries, wc);
		return got + poll_sends(cq, entries - got, wc + got);
	}
	got = poll_sends(cq, entries, wc);
	return got + drain(cq, entries - got, wc + got);
}

SV_INLINE int poll_locked(struct sv_cq *cq, int entries, struct ibv_wc *wc)
{
	return likely(!may_have_received(cq)) ? poll_sends(cq, entries, wc) : poll_both(cq, entries, wc);
}

int sv_poll_locked(struct sv_cq *cq, int entries, struct ibv_wc *wc)
{
	return poll_locked(cq, entries, wc);
}

static __attribute__((noinline)) int poll_shared(struct sv_cq *cq, int entries, struct ibv_wc *wc)
{
	bool biased = sv_lock(&cq->lock);
	int got = poll_locked(cq, entries, wc);

	sv_unlock(&cq->lock, biased);
	return got;
}

static __attribute__((noinline)) int poll_stalled(struct sv_cq *cq, int entries, struct ibv_wc *wc)
{
	sv_cq_retry_stalled(cq);
	return poll_shared(cq, entries, wc);
}

/* The usual case calls nothing, so that no register need be saved. */
int sv_poll_cq(struct ibv_cq *ibcq, int entries, struct ibv_wc *wc)
{
	struct sv_cq *cq = sv_cq(ibcq);

	if (unlikely(atomic_load_explicit(&cq->stalled, memory_order_relaxed)))
		return poll_stalled(cq, entries, wc);
	if (unlikely(!sv_lock_own(&cq->lock)))
		return poll_shared(cq, entries, wc);
	if (unlikely(may_have_received(cq))) {
		sv_unlock(&cq->lock, true);
		return poll_shared(cq, entries, wc);
	}
	int got = poll_sends(cq, entries, wc);

	sv_unlock(&cq->lock, true);
	return got;
}

/* Sends that wait (for a receive, for the peer to be ready) are retried by whoever polls for their completion. */
void sv_cq_retry_stalled(struct sv_cq *cq)
{
	struct sv_qp *waiting[64]; /* others the next time */

	/* if it is taken, the helper or another poll is at it */
	if (pthread_mutex_trylock(&sv_process.lock))
		return;
	unsigned count = sv_waiting_list(cq, waiting, 64);
	uint64_t now = sv_now_ns();

	atomic_store_explicit(&cq->polled_ns, now, memory_order_relaxed);
	atomic_store_explicit(&sv_process.polled_ns, now, memory_order_relaxed);
	for (unsigned i = 0; i < count; i++) {
		if (atomic_load_explicit(&waiting[i]->next_due, memory_order_acquire) > now)
			continue;
		if (!sv_lock_try(&waiting[i]->lock, true))
			continue;
		sv_send_progress(waiting[i]);
		sv_unlock(&waiting[i]->lock, false);
	}
	pthread_mutex_unlock(&sv_process.lock);
}

int sv_req_notify_cq(struct ibv_cq *ibcq, int solicited_only)
{
	struct sv_cq *cq = sv_cq(ibcq);

	if (!ibcq->channel)
		return EINVAL;
	bool biased = sv_lock(&cq->lock);

	/* asking for less does not undo asking for more */
	if (!solicited_only)
		atomic_exchange(&cq->entry->armed, SV_ARMED_ANY);
	else if (atomic_load(&cq->entry->armed) == SV_ARMED_NOT)
		atomic_exchange(&cq->entry->armed, SV_ARMED_SOLICITED);
	sv_unlock(&cq->lock, biased);
	return 0;
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

static int claim_index(struct sv_cq *cq)
{
	for (uint32_t i = 0; i < SV_CQS; i++) {
		uint32_t index = sv_process.next_cq++ % SV_CQS;

		if (index == 0)
			sv_process.cq_generation++;
		if (sv_process.cqs[index])
			continue;
		cq->index = index;
		cq->entry = &sv_process.segment->cqs[index];
		memset(cq->entry, 0, sizeof(*cq->entry));
		cq->entry->event = (uint32_t)sv_process.cq_generation << 12 | index;
		sv_process.cqs[index] = cq;
		return 0;
	}
	return ENOMEM;
}

static struct sv_cq *create(struct ibv_context *context, uint32_t cqe, void *cq_context,
			    struct ibv_comp_channel *channel, uint32_t vector)
{
	if (cqe == 0 || cqe > SV_MAX_CQE || vector >= (uint32_t)context->num_comp_vectors) {
		errno = EINVAL;
		return NULL;
	}
	struct sv_cq *cq = calloc(1, sizeof(*cq));
	uint32_t size = 1;

	while (size < cqe)
		size *= 2;
	if (cq)
		cq->ring = calloc(size, sizeof(*cq->ring));
	if (!cq || !cq->ring) {
		free(cq);
		errno = ENOMEM;
		return NULL;
	}
	cq->mask = size - 1;
	cq->cq.context = context;
	cq->cq.channel = channel;
	cq->cq.cq_context = cq_context;
	cq->cq.cqe = (int)size;
	pthread_mutex_init(&cq->cq.mutex, NULL);
	pthread_cond_init(&cq->cq.cond, NULL);
	sv_lock_init(&cq->lock);
	sv_lock_init(&cq->reading);
	pthread_mutex_lock(&sv_process.lock);
	int error = claim_index(cq);

	if (!error) {
		cq->cq.handle = cq->index;
		if (channel) {
			struct sv_channel *c = container_of(channel, struct sv_channel, channel);

			channel->refcnt++;
			cq->entry->channel_fd = (uint32_t)channel->fd;
			cq->entry->channel_ino = c->ino;
		}
	}
	pthread_mutex_unlock(&sv_process.lock);
	if (error) {
		free(cq->ring);
		free(cq);
		errno = error;
		return NULL;
	}
	sv_context_get(context);
	return cq;
}

SV_API struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
				    struct ibv_comp_channel *channel, int vector)
{
	struct sv_cq *cq = create(context, cqe < 0 ? 0 : (uint32_t)cqe, cq_context, channel, (uint32_t)vector);

	return cq ? &cq->cq : NULL;
}

SV_API int ibv_resize_cq(struct ibv_cq *ibcq, int cqe)
{
	struct sv_cq *cq = sv_cq(ibcq);
	uint32_t size = 1;

	if (cqe <= 0 || cqe > SV_MAX_CQE)
		return EINVAL;
	while (size < (uint32_t)cqe)
		size *= 2;
	struct sv_cqe *ring = calloc(size, sizeof(*ring));

	if (!ring)
		return ENOMEM;
	sv_lock_control(&cq->lock);
	uint32_t count = cq->tail - cq->head;
	bool fits = count <= size;

	if (fits) {
		for (uint32_t i = 0; i < count; i++)
			ring[i] = cq->ring[(cq->head + i) & cq->mask];
		free(cq->ring);
		cq->ring = ring;
		cq->mask = size - 1;
		cq->head = 0;
		cq->tail = count;
		ibcq->cqe = atomic_load(&cq->overrun) ? 0 : (int)size;
	}
	sv_unlock(&cq->lock, false);
	if (!fits)
		free(ring);
	return fits ? 0 : EINVAL;
}

SV_API int ibv_destroy_cq(struct ibv_cq *ibcq)
{
	struct sv_cq *cq = sv_cq(ibcq);

	pthread_mutex_lock(&sv_process.lock);
	if (atomic_load(&cq->users)) {
		pthread_mutex_unlock(&sv_process.lock);
		return EBUSY;
	}
	sv_process.cqs[cq->index] = NULL; /* from here on no event is reported for it */
	if (ibcq->channel)
		ibcq->channel->refcnt--;
	uint32_t events = cq->events_reported, async = cq->async_reported;

	pthread_mutex_unlock(&sv_process.lock);
	pthread_mutex_lock(&ibcq->mutex);
	while (ibcq->comp_events_completed != events || ibcq->async_events_completed != async)
		pthread_cond_wait(&ibcq->cond, &ibcq->mutex);
	pthread_mutex_unlock(&ibcq->mutex);
	sv_context_put(ibcq->context);
	pthread_mutex_destroy(&ibcq->mutex);
	pthread_cond_destroy(&ibcq->cond);
	sv_lock_destroy(&cq->lock);
	sv_lock_destroy(&cq->reading);
	free(cq->ring);
	free(cq);
	return 0;
}
