/* Polling: how completions leave a queue. completion.c is about how they get into it. */
#include "base/clock.h"
#include "base/copy.h"
#include "base/lock.h"
#include "base/macros.h"
#include "object/cq.h"
#include "object/layout.h"
#include "object/limits.h"
#include "object/process.h"
#include "object/qp.h"
#include "object/srq.h"
#include "path/poll.h"
#include "path/progress.h"
#include "path/waiting.h"

#include <errno.h>

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
                   offsetof(struct ibv_wc, imm_data) == 24 && offsetof(struct ibv_wc, qp_num) == 28 &&
                   sizeof(struct ibv_wc) == 48,
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
		atomic_store_explicit(
		    &rq->polled, atomic_load_explicit(&rq->polled, memory_order_relaxed) + 1, memory_order_release);
}

/* Complete the receives that the error state flushes, straight from the receive queue. */
static int flush_receives(struct sv_qp *qp, int entries, struct ibv_wc *wc)
{
	int got = 0;
	uint32_t polled = atomic_load_explicit(&qp->rq.polled, memory_order_relaxed);
	uint32_t tail = atomic_load_explicit(&qp->rq.entry->tail, memory_order_acquire);

	for (; got < entries && polled != tail; polled++, got++) {
		struct sv_recv_wqe *wqe = (struct sv_recv_wqe *)(qp->rq.wqes + (size_t)(polled & qp->rq.mask) * qp->rq.stride);

		wc[got] = (struct ibv_wc){.wr_id = wqe->wr_id,
		    .status = IBV_WC_WR_FLUSH_ERR,
		    .opcode = IBV_WC_RECV,
		    .vendor_err = 0xf9,
		    .qp_num = qp->qp.qp_num};
	}
	atomic_store_explicit(&qp->rq.polled, polled, memory_order_release);
	return got;
}

static bool has_record(const struct sv_qp *qp)
{
	const struct sv_recv_record *record = &qp->records[qp->record_tail & qp->record_mask];

	return atomic_load_explicit(&record->sequence, memory_order_acquire) == qp->record_tail + 1;
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

void sv_receives_drop(struct sv_qp *qp)
{
	/* without an SRQ the places are the QP's own, and are dropped with it */
	while (qp->qp.srq && has_record(qp)) {
		qp->record_tail++;
		count_polled(qp);
	}
}

static inline bool may_have_received(const struct sv_cq *cq)
{
	return cq->receives_waiting || atomic_load_explicit(&cq->entry->arrivals, memory_order_acquire) != cq->arrivals;
}

static __attribute__((noinline)) int drain(struct sv_cq *cq, int entries, struct ibv_wc *wc)
{
	int got = 0;

	cq->arrivals = atomic_load_explicit(&cq->entry->arrivals, memory_order_acquire);
	cq->receives_waiting = entries == 0; /* no room: the next poll must look */
	if (!cq->receivers || entries == 0)
		return 0;
	/* begin where the last poll stopped, so that a busy QP does not starve the others */
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

/* A poll looks at this many QPs, and at the others the next time. */
#define AT_ONCE 64
/*
 * The precision with which the time of the last poll is kept: the helper reads that time, and a poll that writes it has
 * to wait for the cache line.
 */
#define STAMP_NS 200

static void stamp(_Atomic uint64_t *last, uint64_t now)
{
	if (now > atomic_load_explicit(last, memory_order_relaxed) + STAMP_NS)
		atomic_store_explicit(last, now, memory_order_relaxed);
}

/* Under the process lock, so that no QP is destroyed meanwhile. False: another thread has the lock of one of them. */
static bool retry(struct sv_cq *cq, const uint32_t *due, unsigned count, uint64_t now)
{
	uint64_t bytes = SV_POLL_BYTES;
	bool all = true;

	for (unsigned i = 0; i < count; i++) {
		struct sv_qp *qp = sv_process.qps[due[i]];

		if (!qp || qp->qp.send_cq != &cq->cq)
			continue;
		if (!sv_lock_try(&qp->lock, true)) {
			all = false;
			continue;
		}
		sv_send_progress_bounded(qp, now, &bytes);
		sv_unlock(&qp->lock, false);
	}
	return all;
}

/* Sends that wait (for a receive, for the peer to be ready) are tried again when their CQ is polled. */
void sv_cq_retry_stalled(struct sv_cq *cq)
{
	uint32_t due[AT_ONCE];
	uint64_t now = sv_now_ns();
	bool alone;
	unsigned count = sv_waiting_due(cq, now, due, AT_ONCE, &alone);

	stamp(&sv_process.cq_polled_ns[cq->index], now);
	stamp(&sv_process.polled_ns, now);
	if (count) {
		/* if another thread has it, that is the helper or another poll, which does the same */
		if (pthread_mutex_trylock(&sv_process.lock))
			return;
		bool all = retry(cq, due, count, now);

		pthread_mutex_unlock(&sv_process.lock);
		if (!all || count == AT_ONCE)
			return;
	}
	/* nothing waits for another CQ, so nothing is left for the helper */
	if (alone)
		stamp(&sv_process.polled_all_ns, now);
}

int sv_req_notify_cq(struct ibv_cq *ibcq, int solicited_only)
{
	struct sv_cq *cq = sv_cq(ibcq);

	if (!ibcq->channel)
		return EINVAL;
	bool biased = sv_lock(&cq->lock);
	uint32_t was = atomic_load(&cq->entry->armed), to;

	do {
		/* arming for solicited events does not undo arming for all, but it counts as a new arming */
		bool any = !solicited_only || (was & SV_ARMED_FOR) == SV_ARMED_ANY;

		to = ((was & ~(uint32_t)SV_ARMED_FOR) + SV_ARMINGS) | (any ? SV_ARMED_ANY : SV_ARMED_SOLICITED);
	} while (!atomic_compare_exchange_weak(&cq->entry->armed, &was, to));
	sv_unlock(&cq->lock, biased);
	return 0;
}
