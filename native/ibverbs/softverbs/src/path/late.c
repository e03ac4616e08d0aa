/*
 * Operations that do not execute in their post: order=weak, the NIC model, stragglers. model/delay.c decides when each
 * is due.
 *
 * They are executed by polls of the CQ in which they complete, and by the helper thread. If a model is on, the helper
 * spins while anything is outstanding (which takes one core from this process), so that data also appears in time for a
 * target that polls its memory; otherwise it looks every millisecond.
 *
 * order=weak. Each step executes, at random, the oldest operation that has not run, or one behind it that may overtake
 * it: a write or send that is not fenced may overtake READs and atomics, an atomic that is not fenced READs alone.
 * Nothing runs before the first poll or the helper's next look, so that a buffer that is reused too early is noticed.
 * Completions stay in order.
 */
#include "base/clock.h"
#include "execute/access.h"
#include "model/delay.h"
#include "object/pending.h"
#include "object/process.h"
#include "object/qp.h"
#include "path/late.h"
#include "path/try.h"

static bool is_atomic(const struct sv_pending *p)
{
	return sv_is_answered(&p->wr) && p->wr.opcode != IBV_WR_RDMA_READ;
}

/* behind_atomic: one of the operations that it would overtake is an atomic */
static bool may_overtake(const struct sv_pending *p, bool behind_atomic)
{
	return !(p->wr.send_flags & IBV_SEND_FENCE) &&
	       (p->wr.opcode <= IBV_WR_SEND_WITH_IMM || (is_atomic(p) && !behind_atomic));
}

/*
 * Choose the operation to run next; pending_tail: none. An operation behind one that failed never runs: it is flushed.
 */
static uint32_t choose(struct sv_qp *qp)
{
	uint32_t at = qp->pending_head;

	for (; at != qp->pending_tail && qp->pending[at & qp->pending_mask]->done; at++)
		if (qp->pending[at & qp->pending_mask]->status)
			return qp->pending_tail;
	if (at == qp->pending_tail || !sv_config.weak)
		return at;
	uint32_t chosen = at;
	bool behind_atomic = false;

	/* look behind READs and atomics for an operation that may overtake them */
	for (uint32_t i = at; i != qp->pending_tail && i - at < 16; i++) {
		struct sv_pending *p = qp->pending[i & qp->pending_mask];

		if (p->done && p->status)
			break;
		if (p->done)
			continue;
		if (i != at && may_overtake(p, behind_atomic) && sv_random(2))
			return i;
		if (!sv_is_answered(&p->wr))
			break;
		behind_atomic |= is_atomic(p);
	}
	return chosen;
}

/* The byte at this offset of an operation's local payload. */
static uint8_t *payload_at(struct sv_pending *p, uint64_t at)
{
	int i = 0;

	for (; at >= p->sge[i].length; i++)
		at -= p->sge[i].length;
	uint8_t *from =
	    p->wr.send_flags & IBV_SEND_INLINE ? (uint8_t *)(uintptr_t)p->sge[i].addr : sv_local_address(&p->sge[i]);

	return from + at;
}

/* Damage one byte of what was just read or written, unnoticed by the initiator. */
static void corrupt(struct sv_qp *qp, struct sv_pending *p)
{
	struct sv_port *port = sv_faulty_port(qp);
	bool reads = p->wr.opcode == IBV_WR_RDMA_READ;
	uint64_t bytes = sv_pending_bytes(p);
	uint32_t own = reads ? sv_config.corrupt_read_ppm : sv_config.corrupt_ppm;
	uint32_t theirs = !port ? 0 : reads ? port->corrupt_read_ppm : port->corrupt_ppm;

	if ((!reads && p->wr.opcode > IBV_WR_RDMA_WRITE_WITH_IMM) || !bytes || !(sv_chance(own) || sv_chance(theirs)))
		return;
	uint64_t at = sv_random(bytes);
	uint8_t *byte = payload_at(p, at), damaged = *byte ^ (uint8_t)(1 + sv_random(255));

	if (reads) {
		*byte = damaged;
		return;
	}
	struct ibv_send_wr damage = p->wr;
	struct ibv_sge sge = {(uintptr_t)&damaged, 1, 0};
	uint32_t ignored;

	damage.opcode = IBV_WR_RDMA_WRITE;
	damage.send_flags = IBV_SEND_INLINE;
	damage.sg_list = &sge;
	damage.num_sge = 1;
	damage.wr.rdma.remote_addr += at;
	sv_send_try(qp, &damage, &ignored);
}

int sv_delay_run(struct sv_qp *qp, uint64_t now)
{
	unsigned steps = sv_config.weak ? (unsigned)sv_random(4) : UINT32_MAX;

	while (steps-- > 0) {
		uint32_t at = choose(qp);

		if (at == qp->pending_tail)
			break;
		struct sv_pending *p = qp->pending[at & qp->pending_mask];

		if (p->due > now)
			break;
		uint64_t after = sv_config.qp_error_after;
		/* only the poll of its completion shows when a READ was executed, so it is never late */
		bool judged = sv_config.model && p->due && sv_is_seen(&p->wr);
		/* `now` may be old by this time; the time for copying does not count as late */
		uint64_t late = judged ? sv_now_ns() - p->due : 0;
		int status;

		if (sv_config.link_down || sv_own_port(qp)->down)
			status = SV_STALL_NOT_READY;
		else if (p->lost)
			status = IBV_WC_RETRY_EXC_ERR;
		else if (after && ++qp->operations > after)
			status = IBV_WC_FATAL_ERR;
		else
			status = sv_send_try(qp, &p->wr, &p->bytes);
		if (status >= SV_STALL_RNR) {
			if (at == qp->pending_head)
				return status;
			break;
		}
		if (judged && status == IBV_WC_SUCCESS)
			sv_model_count(qp->index, late);
		else if (sv_config.model && status == IBV_WC_SUCCESS)
			sv_model_count_unjudged(qp->index);
		if (status == IBV_WC_SUCCESS)
			corrupt(qp, p);
		p->status = (uint8_t)status;
		p->done = true;
		qp->undelivered -= sv_is_seen(&p->wr);
		if (status)
			break; /* the operations behind it are flushed when this one completes */
	}
	return IBV_WC_SUCCESS;
}

void sv_delay_publish(struct sv_qp *qp)
{
	bool rests = qp->pending_head == qp->pending_tail && !qp->failing;
	uint64_t next = rests ? SV_NOTHING_DUE : 0, delivery = rests ? qp->last_due_complete : 0;

	for (uint32_t at = qp->pending_head; at != qp->pending_tail; at++) {
		struct sv_pending *p = qp->pending[at & qp->pending_mask];

		if (at == qp->pending_head && p->done)
			next = p->due_complete;
		if (p->done && p->status)
			break;
		if (p->done)
			continue;
		if (!next || p->due < next)
			next = p->due;
		if (qp->undelivered)
			delivery = p->due; /* of this one, or of a later one before which this one executes */
		break;
	}
	atomic_store_explicit(&sv_process.due[qp->index].next, next, memory_order_release);
	atomic_store_explicit(&sv_process.due[qp->index].delivery, delivery, memory_order_release);
}
