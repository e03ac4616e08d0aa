/*
 * The NIC model: when an operation is due. Each process stands for a machine with one NIC of its own. A message
 * occupies the NIC for a time per message plus its bytes over the bandwidth, after its payload was fetched if it was
 * not inline; it reaches the other side one latency later, and is acknowledged after another. The bytes of a READ
 * occupy the link on their way back. A queue pair has at most max_rd_atomic READs and atomics under way: the next
 * one, and what stands behind it, leaves when the first of those is answered. The target's NIC receives at the
 * bandwidth too, from all its initiators together: the time until which it is taken is in its control segment, and
 * every initiator moves it on.
 */
#include "base/clock.h"
#include "model/config.h"
#include "model/delay.h"
#include "object/pending.h"
#include "object/qp.h"
#include "peer/peer.h"

static _Atomic uint64_t transmit_free_ns;

/* Take `for_ns` of a resource from `from_ns` on; returns when it is done. */
static uint64_t occupy(_Atomic uint64_t *free_at, uint64_t from_ns, uint64_t for_ns)
{
	uint64_t was = atomic_load(free_at), until;

	do {
		until = (was > from_ns ? was : from_ns) + for_ns;
	} while (!atomic_compare_exchange_weak(free_at, &was, until));
	return until;
}

/* When a READ or an atomic that is about to be queued may leave: there may be so many under way. */
static uint64_t may_ask(const struct sv_qp *qp)
{
	uint32_t left = qp->attr.max_rd_atomic;

	/* without any it fails when it executes */
	for (uint32_t at = qp->pending_tail; left && at != qp->pending_head;) {
		const struct sv_pending *p = qp->pending[--at & qp->pending_mask];

		if (sv_is_answered(&p->wr) && --left == 0)
			return p->due_complete;
	}
	return 0;
}

static void model_times(struct sv_qp *qp, struct sv_pending *p, uint64_t now)
{
	uint64_t bytes = sv_pending_bytes(p), wire = (uint64_t)((double)bytes / sv_config.bytes_per_ns);
	bool answers = sv_is_answered(&p->wr);
	uint64_t asks = answers ? may_ask(qp) : 0, jitter = sv_config.jitter ? sv_random(sv_config.jitter + 1) : 0;
	uint64_t start = now > qp->last_start ? now : qp->last_start;

	if (start < asks)
		start = asks;
	qp->last_start = start;

	if (!answers && bytes && !(p->wr.send_flags & IBV_SEND_INLINE))
		start += sv_config.fetch;
	uint64_t sent = occupy(&transmit_free_ns, start, sv_config.message + (answers ? 0 : wire));
	uint64_t there = sent + sv_config.latency + jitter;

	if (qp->peer && !answers && wire)
		there = occupy(&qp->peer->segment->header.receive_free_ns, there - wire, wire);
	p->due = there;
	p->due_complete = there + sv_config.latency + (answers ? wire : 0);
}

void sv_delay_start(struct sv_qp *qp, struct sv_pending *p)
{
	uint64_t now = sv_now_ns();

	p->due = p->due_complete = 0;
	if (sv_config.model)
		model_times(qp, p, now);
	if (sv_chance(sv_config.straggler_ppm)) {
		uint64_t base = p->due ? p->due : now, extra = sv_config.straggler_ns;

		p->due = base + extra;
		p->due_complete = (p->due_complete ? p->due_complete : base) + extra;
	}
	/* one QP delivers in order and completes in order */
	if (p->due < qp->last_due)
		p->due = qp->last_due;
	if (p->due_complete < qp->last_due_complete)
		p->due_complete = qp->last_due_complete;
	qp->last_due = p->due;
	qp->last_due_complete = p->due_complete;
}
