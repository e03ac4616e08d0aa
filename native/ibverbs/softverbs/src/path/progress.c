/* Sends that wait are tried again in their order, for as long as their retries last. */
#include "base/barrier.h"
#include "base/clock.h"
#include "base/macros.h"
#include "model/delay.h"
#include "object/layout.h"
#include "object/pending.h"
#include "object/process.h"
#include "object/qp.h"
#include "path/completion.h"
#include "path/late.h"
#include "path/pending.h"
#include "path/progress.h"
#include "path/qp_state.h"
#include "path/try.h"
#include "path/waiting.h"
#include "peer/watch.h"

/* min_rnr_timer codes are 0.01 ms to 655 ms, not in order. */
static uint64_t rnr_timer_ns(uint32_t code)
{
	static const uint32_t hundredths_of_ms[32] = {65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256,
	    384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};

	return (uint64_t)hundredths_of_ms[code & 31] * 10000;
}

/* A dead peer is an error after half a second at the latest. */
#define GONE_NS 500000000ull
/* For how long an unreliable connection lacks descriptors or memory before a send on it is an error. */
#define SHORTAGE_NS 500000000ull

/* Has the send at the head waited for longer than its retries last? */
static bool out_of_patience(struct sv_qp *qp, int reason)
{
	uint64_t now = sv_now_ns(), patience;

	if (qp->stall_since_ns == 0 || qp->stall_reason != reason) {
		qp->stall_since_ns = now;
		qp->stall_reason = reason;
		return false;
	}
	if (reason == SV_STALL_COPIER || reason == SV_STALL_OUT_OF_REACH)
		return false; /* a copier is waited for without retries; vm.c ends the wait for a peer's memory */
	if (reason == SV_STALL_RNR) {
		if (qp->attr.rnr_retry == 7)
			return false;
		patience = rnr_timer_ns(qp->remote_entry->min_rnr_timer) * qp->attr.rnr_retry;
	} else {
		patience = qp->attr.timeout ? (4096ull << qp->attr.timeout) * (qp->attr.retry_cnt + 1u) : UINT64_MAX;
		/*
		 * A peer that is gone will not come back, but a device finds that out by retrying, and programs rely on it: the
		 * peer may have left without waiting for the last message of a run. Only, we do not retry for ever.
		 */
		if (reason == SV_STALL_GONE && patience > GONE_NS)
			patience = GONE_NS;
		/* an unreliable connection has no retries that would say when to give up */
		if (reason == SV_STALL_SHORTAGE && qp->qp.qp_type == IBV_QPT_UC)
			patience = SHORTAGE_NS;
	}
	return now - qp->stall_since_ns > patience;
}

/* The status of a send that has waited for this reason until it was out of patience. */
static int status_of(int reason)
{
	if (reason == SV_STALL_SHORTAGE)
		return IBV_WC_LOC_QP_OP_ERR; /* an error of ours, not of the peer */
	return reason == SV_STALL_RNR ? IBV_WC_RNR_RETRY_EXC_ERR : IBV_WC_RETRY_EXC_ERR;
}

/* Ask the receiver to wake us at its next receive. True if a receive was posted meanwhile. */
static bool ask_for_wake(struct sv_qp *qp)
{
	if (!atomic_exchange(&qp->remote_entry->sender_waits, 1)) {
		/*
		 * the posting receiver stores its receive and loads the flag without a fence in between: after the barrier it
		 * sees the flag, or we see its receive
		 */
		sv_barrier_host();
		return atomic_load(&qp->target.rq->head) != atomic_load(&qp->target.rq->tail);
	}
	return false;
}

/* What each send costs a poll besides its bytes, which bounds the number of sends that a poll runs. */
#define SEND_COST 64

/*
 * Make polls leave the QP alone until the helper has run what they may not run: otherwise they would keep taking its
 * lock before the helper.
 */
static void leave_to_helper(struct sv_qp *qp)
{
	atomic_store_explicit(&sv_process.due[qp->index].helped, true, memory_order_relaxed);
	sv_watch_wake();
}

static void progress(struct sv_qp *qp, uint64_t now, uint64_t *bound)
{
	struct sv_pending *p;

	if (qp->state == IBV_QPS_RTS && atomic_load_explicit(&qp->entry->fault, memory_order_acquire) != SV_FAULT_NONE)
		sv_qp_fail(qp);
	while (qp->state == IBV_QPS_RTS && (p = sv_pending_first(qp))) {
		uint32_t bytes = 0;
		int status;

		if (unlikely(p->due || p->done || sv_is_delayed(qp))) {
			status = sv_delay_run(qp, now);
			if (status == IBV_WC_SUCCESS) {
				if (!p->done || p->due_complete > now)
					break;
				status = p->status;
				bytes = p->bytes;
			}
		} else {
			uint64_t cost = bound ? SEND_COST + sv_pending_bytes(p) : 0;

			if (bound && cost > *bound) {
				/* it is too much for this poll, or for any poll */
				if (cost > SV_POLL_BYTES)
					leave_to_helper(qp);
				break;
			}
			qp->bounded = bound != NULL;
			status = sv_send_try(qp, &p->wr, &bytes);
			qp->bounded = false;
			if (bound)
				*bound -= cost;
		}
		if (status == SV_STALL_HELPER) {
			leave_to_helper(qp);
			break;
		}
		if (status == IBV_WC_SUCCESS) {
			if (sv_signaled(qp, &p->wr))
				sv_complete(qp, &p->wr, status, bytes, p->sequence);
			sv_pending_drop(qp);
			continue;
		}
		if (status >= SV_STALL_RNR) {
			if (!out_of_patience(qp, status)) {
				if (status == SV_STALL_RNR && ask_for_wake(qp))
					continue;
				break;
			}
			status = status_of(status);
		}
		struct ibv_send_wr wr = p->wr;
		uint32_t sequence = p->sequence;

		sv_pending_drop(qp);
		sv_send_fail(qp, &wr, status, sequence);
	}
	sv_waiting_update(qp);
	sv_qp_update_direct(qp);
	sv_delay_publish(qp);
}

void sv_send_progress(struct sv_qp *qp, uint64_t now)
{
	atomic_store_explicit(&sv_process.due[qp->index].helped, false, memory_order_relaxed);
	progress(qp, now, NULL);
}

bool sv_send_progress_helped(struct sv_qp *qp, uint64_t now)
{
	qp->helped = true;
	qp->mapped = false;
	sv_send_progress(qp, now);
	qp->helped = false;
	return qp->mapped;
}

void sv_send_progress_bounded(struct sv_qp *qp, uint64_t now, uint64_t *bytes)
{
	progress(qp, now, bytes);
}
