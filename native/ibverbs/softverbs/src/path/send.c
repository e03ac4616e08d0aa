/*
 * Posting sends. A connected QP with nothing waiting executes its WRs inside the post. What cannot run yet (the
 * receiver has posted no receive, the peer is not ready) is copied into the send queue and retried: by polls of the
 * CQ, by further posts, and by the helper thread, which the receiver wakes.
 */
#include "base/barrier.h"
#include "base/clock.h"
#include "base/lock.h"
#include "base/macros.h"
#include "model/config.h"
#include "model/delay.h"
#include "object/ah.h"
#include "object/cq.h"
#include "object/layout.h"
#include "object/pending.h"
#include "object/qp.h"
#include "path/completion.h"
#include "path/deliver.h"
#include "path/execute.h"
#include "path/qp_state.h"
#include "path/send.h"
#include "path/ud.h"
#include "path/waiting.h"
#include "path/window.h"
#include "peer/link.h"
#include "peer/peer.h"
#include "peer/watch.h"

#include <errno.h>
#include <stdlib.h>

#define KNOWN_FLAGS (IBV_SEND_FENCE | IBV_SEND_SIGNALED | IBV_SEND_SOLICITED | IBV_SEND_INLINE)

#define BIT(opcode) (1u << (opcode))
#define LOCAL_OPCODES (BIT(IBV_WR_LOCAL_INV) | BIT(IBV_WR_BIND_MW))
#define INLINE_OPCODES                                                                                                 \
	(BIT(IBV_WR_RDMA_WRITE) | BIT(IBV_WR_RDMA_WRITE_WITH_IMM) | BIT(IBV_WR_SEND) | BIT(IBV_WR_SEND_WITH_IMM) |     \
	 BIT(IBV_WR_SEND_WITH_INV))

static const uint8_t wc_opcodes[] = {
    [IBV_WR_RDMA_WRITE] = IBV_WC_RDMA_WRITE,
    [IBV_WR_RDMA_WRITE_WITH_IMM] = IBV_WC_RDMA_WRITE,
    [IBV_WR_SEND] = IBV_WC_SEND,
    [IBV_WR_SEND_WITH_IMM] = IBV_WC_SEND,
    [IBV_WR_RDMA_READ] = IBV_WC_RDMA_READ,
    [IBV_WR_ATOMIC_CMP_AND_SWP] = IBV_WC_COMP_SWAP,
    [IBV_WR_ATOMIC_FETCH_AND_ADD] = IBV_WC_FETCH_ADD,
    [IBV_WR_LOCAL_INV] = IBV_WC_LOCAL_INV,
    [IBV_WR_BIND_MW] = IBV_WC_BIND_MW,
    [IBV_WR_SEND_WITH_INV] = IBV_WC_SEND,
};

/* A completion that found no room. The QP fails, as soon as whoever posts next or the helper sees to it. */
static __attribute__((noinline)) void lose(struct sv_qp *qp)
{
	uint32_t none = SV_FAULT_NONE;

	sv_cq_overrun(sv_cq(qp->qp.send_cq));
	qp->direct = false;
	if (atomic_compare_exchange_strong(&qp->entry->fault, &none, SV_FAULT_LOST))
		sv_watch_wake();
}

SV_INLINE void push(struct sv_qp *qp, const struct ibv_send_wr *wr, int status, uint32_t bytes, uint32_t sequence)
{
	struct sv_cq *cq = sv_cq(qp->qp.send_cq);
	bool biased = sv_lock(&cq->lock);

	if (unlikely(cq->tail - cq->head >= (uint32_t)cq->cq.cqe)) {
		sv_unlock(&cq->lock, biased);
		lose(qp);
		return;
	}
	struct sv_cqe *cqe = &cq->ring[cq->tail++ & cq->mask];

	cqe->wr_id = wr->wr_id;
	cqe->status_opcode = (uint32_t)status | (uint64_t)wc_opcodes[wr->opcode] << 32;
	cqe->bytes_sequence = bytes | (uint64_t)(sequence + 1) << 32;
	cqe->qp = qp;
	if (unlikely(atomic_load_explicit(&cq->entry->armed, memory_order_relaxed) != SV_ARMED_NOT))
		sv_cq_notify(cq, status != IBV_WC_SUCCESS);
	sv_unlock(&cq->lock, biased);
}

static __attribute__((noinline)) void complete(struct sv_qp *qp, const struct ibv_send_wr *wr, int status, uint32_t bytes,
					       uint32_t sequence)
{
	push(qp, wr, status, bytes, sequence);
}

static inline bool signaled(const struct sv_qp *qp, const struct ibv_send_wr *wr)
{
	return qp->sq_sig_all || (wr->send_flags & IBV_SEND_SIGNALED);
}

SV_INLINE bool is_full(const struct sv_qp *qp)
{
	return qp->sequence - atomic_load_explicit(&qp->freed, memory_order_acquire) >= qp->max_send_wr;
}

/* What a post refuses at once, with an errno. */
static __attribute__((noinline)) int check(const struct sv_qp *qp, const struct ibv_send_wr *wr)
{
	if (unlikely(wr->opcode > IBV_WR_SEND_WITH_INV || !(qp->opcodes >> wr->opcode & 1)))
		return wr->opcode > IBV_WR_SEND_WITH_INV ? EOPNOTSUPP : EINVAL;
	if (unlikely((wr->send_flags & ~(unsigned)KNOWN_FLAGS) || (uint32_t)wr->num_sge > qp->max_send_sge))
		return EINVAL;
	if (wr->send_flags & IBV_SEND_INLINE) {
		uint64_t bytes = 0;

		for (int i = 0; i < wr->num_sge; i++)
			bytes += wr->sg_list[i].length;
		if (unlikely(bytes > qp->max_inline || !(INLINE_OPCODES >> wr->opcode & 1)))
			return EINVAL;
	}
	return unlikely(is_full(qp)) ? ENOMEM : 0;
}

int sv_send_check(const struct sv_qp *qp, const struct ibv_send_wr *wr)
{
	return check(qp, wr);
}

/* Odd while we use our own regions. */
static void busy(struct sv_qp *qp)
{
	atomic_store_explicit(&qp->entry->busy, ++qp->turn, memory_order_release);
	atomic_signal_fence(memory_order_seq_cst);
}

/* Between these two the peer and our own dereg wait for us. */
SV_INLINE void enter(struct sv_qp *qp)
{
	uint32_t turn = qp->turn + 1;

	atomic_store_explicit(&qp->entry->busy, turn, memory_order_release);
	atomic_store_explicit(&qp->remote_entry->hazard, turn, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
}

SV_INLINE void leave(struct sv_qp *qp)
{
	uint32_t turn = qp->turn + 2;

	atomic_store_explicit(&qp->remote_entry->hazard, turn, memory_order_release);
	atomic_store_explicit(&qp->entry->busy, turn, memory_order_release);
	qp->turn = turn;
}

/* Is the gate of the peer's QP open to us? */
SV_INLINE bool is_open(const struct sv_qp *qp, unsigned *granted)
{
	uint64_t gate = atomic_load_explicit(&qp->remote_entry->gate, memory_order_acquire);

	*granted = (unsigned)(gate >> 32);
	return likely((uint32_t)gate == qp->qp.qp_num);
}

/* Is the peer's QP there, ready and connected to us? Within enter/leave. */
SV_INLINE bool peer_ready(const struct sv_qp *qp)
{
	return likely(sv_accepts(atomic_load_explicit(&qp->remote_entry->state, memory_order_acquire)) &&
		      atomic_load_explicit(&qp->remote_entry->dest_qpn, memory_order_relaxed) == qp->qp.qp_num);
}

/* --- waiting sends --- */

static int enqueue(struct sv_qp *qp, const struct ibv_send_wr *wr, uint32_t sequence)
{
	uint64_t bytes = 0;

	if (!qp->pending) {
		uint32_t size = 1;

		while (size < qp->max_send_wr)
			size *= 2;
		qp->pending = calloc(size, sizeof(*qp->pending));
		if (!qp->pending)
			return ENOMEM;
		qp->pending_mask = size - 1;
	}
	if (wr->send_flags & IBV_SEND_INLINE)
		for (int i = 0; i < wr->num_sge; i++)
			bytes += wr->sg_list[i].length;
	struct sv_pending *p = malloc(sizeof(*p) + bytes);

	if (!p)
		return ENOMEM;
	p->wr = *wr;
	p->wr.next = NULL;
	p->wr.sg_list = p->sge;
	p->sequence = sequence;
	p->done = false;
	p->due = p->due_complete = 0;
	/* what may be gone when it executes: a device has it in the WQE */
	if (wr->opcode == IBV_WR_BIND_MW)
		p->region = wr->bind_mw.bind_info.mr ? wr->bind_mw.bind_info.mr->lkey : 0;
	if (qp->qp.qp_type == IBV_QPT_UD) {
		p->ah = *container_of(wr->wr.ud.ah, struct sv_ah, ah);
		p->wr.wr.ud.ah = &p->ah.ah;
	}
	if (wr->send_flags & IBV_SEND_INLINE) {
		uint8_t *to = p->data;

		for (int i = 0; i < wr->num_sge; i++) {
			memcpy(to, (const void *)(uintptr_t)wr->sg_list[i].addr, wr->sg_list[i].length);
			to += wr->sg_list[i].length;
		}
		p->sge[0] = (struct ibv_sge){.addr = (uintptr_t)p->data, .length = (uint32_t)bytes};
		p->wr.num_sge = 1;
	} else if (wr->num_sge) {
		memcpy(p->sge, wr->sg_list, (size_t)wr->num_sge * sizeof(*p->sge));
	}
	if (unlikely(atomic_load_explicit(&sv_config.delayed, memory_order_relaxed)))
		sv_delay_start(qp, p);
	qp->pending[qp->pending_tail++ & qp->pending_mask] = p;
	qp->undelivered += sv_is_seen(wr);
	return 0;
}

static struct sv_pending *first_pending(struct sv_qp *qp)
{
	return qp->pending_head != qp->pending_tail ? qp->pending[qp->pending_head & qp->pending_mask] : NULL;
}

static void drop_first(struct sv_qp *qp)
{
	struct sv_pending *p = qp->pending[qp->pending_head++ & qp->pending_mask];

	qp->undelivered -= !p->done && sv_is_seen(&p->wr);
	free(p);
	qp->stall_since_ns = 0;
}

uint32_t sv_send_answers_awaited(const struct sv_qp *qp)
{
	uint32_t count = 0;

	for (uint32_t at = qp->pending_head; at != qp->pending_tail; at++) {
		const struct sv_pending *p = qp->pending[at & qp->pending_mask];

		count += !p->done && sv_is_answered(&p->wr);
	}
	return count;
}

void sv_send_flush(struct sv_qp *qp)
{
	struct sv_pending *p;

	while ((p = first_pending(qp))) {
		complete(qp, &p->wr, IBV_WC_WR_FLUSH_ERR, 0, p->sequence);
		drop_first(qp);
	}
}

void sv_send_reset(struct sv_qp *qp)
{
	while (first_pending(qp))
		drop_first(qp);
	qp->last_start = qp->last_due = qp->last_due_complete = qp->operations = 0;
	free(qp->pending);
	qp->pending = NULL;
	qp->pending_head = qp->pending_tail = 0;
	qp->sequence = 0;
	atomic_store(&qp->freed, 0);
	sv_waiting_update(qp);
}

static void fail_with(struct sv_qp *qp, const struct ibv_send_wr *wr, int status, uint32_t sequence)
{
	/* an unreliable QP loses what it could not send, and only that; FATAL is a fault on request */
	if (qp->qp.qp_type != IBV_QPT_RC && status != IBV_WC_FATAL_ERR) {
		complete(qp, wr, status, 0, sequence);
		sv_qp_fail_sends(qp);
		return;
	}
	/* whoever learns of this posts to no QP of ours that is about to fail; see post_direct */
	sv_qp_shut(qp);
	complete(qp, wr, status, 0, sequence);
	sv_qp_fail(qp);
}

/* min_rnr_timer codes are 0.01 ms to 655 ms, not in order. */
static uint64_t rnr_timer_ns(uint32_t code)
{
	static const uint32_t hundredths_of_ms[32] = {65536, 1,	  2,   3,   4,	 6,    8,    12,   16,	 24,   32,
						      48,    64,  96,  128, 192, 256,  384,  512,  768,	 1024, 1536,
						      2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};

	return (uint64_t)hundredths_of_ms[code & 31] * 10000;
}

/* A dead peer is an error after half a second at the latest. */
#define GONE_NS 500000000ull

/* Has the send at the head waited for longer than its retries last? */
static bool out_of_patience(struct sv_qp *qp, int reason)
{
	uint64_t now = sv_now_ns(), patience;

	if (qp->stall_since_ns == 0 || qp->stall_reason != reason) {
		qp->stall_since_ns = now;
		qp->stall_reason = reason;
		return false;
	}
	if (reason == SV_STALL_COPIER)
		return false; /* of our own memory: there is nothing to retry */
	if (reason == SV_STALL_RNR) {
		if (qp->attr.rnr_retry == 7)
			return false;
		patience = rnr_timer_ns(qp->remote_entry->min_rnr_timer) * qp->attr.rnr_retry;
	} else {
		patience = qp->attr.timeout ? (4096ull << qp->attr.timeout) * (qp->attr.retry_cnt + 1u) : UINT64_MAX;
		/*
		 * Who is gone will not come back, but a device finds out by retrying. Programs rely on that: the last message
		 * of a run may be of no interest to a peer that has already left. Only, we do not retry for ever.
		 */
		if (reason == SV_STALL_GONE && patience > GONE_NS)
			patience = GONE_NS;
	}
	return now - qp->stall_since_ns > patience;
}

/* Tell the receiver to wake us at its next receive. True if one came meanwhile. */
static bool ask_for_wake(struct sv_qp *qp)
{
	if (!atomic_exchange(&qp->remote_entry->sender_waits, 1)) {
		/* a posting receiver looks at the flag without a fence: the barrier makes it see it, or us its receive */
		sv_barrier_host();
		return atomic_load(&qp->target.rq->head) != atomic_load(&qp->target.rq->tail);
	}
	return false;
}

/* Why the peer does not take our requests: a reason to wait, for a while. */
static int absence(struct sv_qp *qp)
{
	uint32_t state = atomic_load_explicit(&qp->remote_entry->state, memory_order_acquire);

	if (state & SV_QP_UNREACHABLE)
		return SV_STALL_NOT_READY;
	if (!(state & SV_QP_LIVE) || state == (SV_QP_LIVE | IBV_QPS_ERR) || qp->seen_ready)
		return SV_STALL_GONE;
	return SV_STALL_NOT_READY;
}

static int try_reliably(struct sv_qp *qp, const struct ibv_send_wr *wr, uint32_t *bytes)
{
	int status;

	if (wr->opcode == IBV_WR_LOCAL_INV)
		return sv_mw_invalidate(qp, wr->invalidate_rkey);
	if (wr->opcode == IBV_WR_BIND_MW)
		return sv_mw_bind(qp, wr, container_of(wr, struct sv_pending, wr)->region); /* binds are always queued */
	if (qp->qp.qp_type == IBV_QPT_UD) {
		busy(qp);
		status = sv_execute_ud(qp, wr, bytes);
		busy(qp);
		return status;
	}
	if (!qp->remote_entry && !sv_qp_connect(qp))
		return errno == EAGAIN ? SV_STALL_NOT_READY : SV_STALL_GONE; /* it has not taken its callers yet */
	if (atomic_load_explicit(&qp->peer->dead, memory_order_relaxed))
		return SV_STALL_GONE;
	if (!peer_ready(qp))
		return absence(qp);
	enter(qp);
	if (peer_ready(qp)) {
		qp->seen_ready = true;
		status = qp->target.segment || sv_target_init(&qp->target, qp->peer->segment, qp->attr.dest_qp_num)
			     ? sv_execute(qp, wr, bytes)
			     : IBV_WC_REM_OP_ERR;
	} else {
		status = absence(qp);
	}
	leave(qp);
	return status;
}

/* On an unreliable connection the other end's troubles are not ours: what it does not take is lost. */
int sv_send_try(struct sv_qp *qp, const struct ibv_send_wr *wr, uint32_t *bytes)
{
	int status = try_reliably(qp, wr, bytes);

	if (qp->qp.qp_type == IBV_QPT_UC && status != IBV_WC_LOC_PROT_ERR && status != IBV_WC_LOC_LEN_ERR &&
	    status != IBV_WC_LOC_QP_OP_ERR)
		status = IBV_WC_SUCCESS;
	return status;
}

void sv_send_progress(struct sv_qp *qp)
{
	struct sv_pending *p;

	if (qp->state == IBV_QPS_RTS &&
	    atomic_load_explicit(&qp->entry->fault, memory_order_acquire) != SV_FAULT_NONE)
		sv_qp_fail(qp);
	while (qp->state == IBV_QPS_RTS && (p = first_pending(qp))) {
		uint32_t bytes = 0;
		int status;

		if (unlikely(p->due || p->done || atomic_load_explicit(&sv_config.delayed, memory_order_relaxed))) {
			status = sv_delay_run(qp);
			if (status == IBV_WC_SUCCESS) {
				if (!p->done || p->due_complete > sv_now_ns())
					break;
				status = p->status;
				bytes = p->bytes;
			}
		} else {
			status = sv_send_try(qp, &p->wr, &bytes);
		}
		if (status == IBV_WC_SUCCESS) {
			if (signaled(qp, &p->wr))
				complete(qp, &p->wr, status, bytes, p->sequence);
			drop_first(qp);
			continue;
		}
		if (status >= SV_STALL_RNR) {
			if (!out_of_patience(qp, status)) {
				if (status == SV_STALL_RNR && ask_for_wake(qp))
					continue;
				break;
			}
			status = status == SV_STALL_RNR ? IBV_WC_RNR_RETRY_EXC_ERR : IBV_WC_RETRY_EXC_ERR;
		}
		struct ibv_send_wr wr = p->wr;
		uint32_t sequence = p->sequence;

		drop_first(qp);
		fail_with(qp, &wr, status, sequence);
	}
	sv_waiting_update(qp);
	sv_qp_update_direct(qp);
	sv_delay_publish(qp);
}

/* --- posting --- */

static __attribute__((noinline)) int post_waiting(struct sv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	int error = 0;

	for (; wr; wr = wr->next) {
		if (qp->state != IBV_QPS_RTS && qp->state != IBV_QPS_SQD && qp->state != IBV_QPS_ERR &&
		    qp->state != IBV_QPS_SQE)
			error = EINVAL;
		else
			error = check(qp, wr);
		if (!error && qp->qp.qp_type == IBV_QPT_UD && !wr->wr.ud.ah)
			error = EINVAL;
		if (error)
			break;
		if (qp->state == IBV_QPS_ERR || qp->state == IBV_QPS_SQE) {
			complete(qp, wr, IBV_WC_WR_FLUSH_ERR, 0, qp->sequence++);
			continue;
		}
		if ((error = enqueue(qp, wr, qp->sequence)))
			break;
		qp->sequence++;
		if (likely(!atomic_load_explicit(&sv_config.delayed, memory_order_relaxed)))
			sv_send_progress(qp);
	}
	if (error)
		*bad = wr;
	/* delayed operations never run in their post */
	sv_delay_publish(qp);
	sv_waiting_update(qp);
	return error;
}

/*
 * The peer's gate says all that must be known: also that our own QP is not at fault, since a peer whose request put it
 * into error fails itself. A peer that died leaves it open, but once the helper knows of it posts are not direct.
 */
SV_INLINE int post_direct(struct sv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	int status = IBV_WC_SUCCESS, error = 0;
	unsigned granted;

	/* look before entering, too: the hazard is the word of the QP's one peer, which we may be no more */
	if (unlikely(!is_open(qp, &granted))) {
		qp->direct = false;
		return post_waiting(qp, wr, bad);
	}
	enter(qp);
	if (unlikely(!is_open(qp, &granted))) {
		leave(qp);
		qp->direct = false;
		return post_waiting(qp, wr, bad);
	}
	for (; wr; wr = wr->next) {
		uint32_t bytes;

		if (unlikely(is_full(qp) || !sv_execute_simple(qp, wr, granted, &bytes))) {
			if ((error = check(qp, wr))) {
				*bad = wr;
				break;
			}
			if (LOCAL_OPCODES >> wr->opcode & 1) {
				/* these wait for copiers, possibly ourselves: not between enter and leave */
				leave(qp);
				return post_waiting(qp, wr, bad);
			}
			if ((status = sv_execute(qp, wr, &bytes)))
				break;
		}
		uint32_t sequence = qp->sequence++;

		if (signaled(qp, wr))
			push(qp, wr, IBV_WC_SUCCESS, bytes, sequence);
	}
	leave(qp);
	if (likely(status == IBV_WC_SUCCESS))
		return error;
	if (status >= SV_STALL_RNR) {
		qp->direct = false;
		return post_waiting(qp, wr, bad);
	}
	fail_with(qp, wr, status, qp->sequence++);
	return wr->next ? post_waiting(qp, wr->next, bad) : 0;
}

/* The same for one WR of the usual kind, with little ado. False: nothing was done. */
SV_INLINE bool post_single(struct sv_qp *qp, const struct ibv_send_wr *wr)
{
	uint32_t bytes;
	unsigned granted;

	if (unlikely(!is_open(qp, &granted) || is_full(qp)))
		return false;
	enter(qp);
	bool done = is_open(qp, &granted) && likely(sv_execute_simple(qp, wr, granted, &bytes));

	leave(qp);
	if (unlikely(!done))
		return false;
	uint32_t sequence = qp->sequence++;

	if (signaled(qp, wr))
		push(qp, wr, IBV_WC_SUCCESS, bytes, sequence);
	return true;
}

static __attribute__((noinline)) int post_locked(struct sv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	return likely(qp->direct) ? post_direct(qp, wr, bad) : post_waiting(qp, wr, bad);
}

int sv_post_send_locked(struct sv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	return post_locked(qp, wr, bad);
}

static __attribute__((noinline)) int post_shared(struct sv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	bool biased = sv_lock(&qp->lock);
	int error = post_locked(qp, wr, bad);

	sv_unlock(&qp->lock, biased);
	return error;
}

int sv_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct sv_qp *qp = sv_qp(ibqp);

	if (unlikely(!sv_lock_own(&qp->lock)))
		return post_shared(qp, wr, bad);
	int error = likely(qp->direct && !wr->next && post_single(qp, wr)) ? 0 : post_locked(qp, wr, bad);

	sv_unlock(&qp->lock, true);
	return error;
}
