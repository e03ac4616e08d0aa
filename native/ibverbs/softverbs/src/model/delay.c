/*
 * The NIC model: when an operation is due. Each device stands for a machine with one NIC of its own. A message occupies
 * the NIC for a time per message plus its bytes over the bandwidth, after its payload was fetched if it was not inline;
 * it reaches the other side one latency later, and is acknowledged after another. The bytes of a READ occupy the link
 * on their way back. A queue pair has at most max_rd_atomic READs and atomics in flight: the next one, and all that is
 * queued behind it, leaves when the first of those is answered. The target's NIC receives at the bandwidth, too, from
 * all its initiators together: the time until which it is occupied is in its control segment, and every initiator
 * advances it.
 *
 * Faults are added to these times: operations that are late, or whose tries are lost.
 */
#include "base/clock.h"
#include "model/config.h"
#include "model/delay.h"
#include "object/pending.h"
#include "object/qp.h"
#include "peer/remote.h"

static _Atomic uint64_t transmit_free_ns[SV_DEVICES];

/* Occupy a resource for `for_ns`, not before `from_ns`; returns when that ends. */
static uint64_t occupy(_Atomic uint64_t *free_at, uint64_t from_ns, uint64_t for_ns)
{
	uint64_t was = atomic_load(free_at), until;

	do {
		until = (was > from_ns ? was : from_ns) + for_ns;
	} while (!atomic_compare_exchange_weak(free_at, &was, until));
	return until;
}

/* When a READ or an atomic that is about to be queued may leave: max_rd_atomic of them may be in flight. */
static uint64_t may_ask(const struct sv_qp *qp)
{
	uint32_t left = qp->attr.max_rd_atomic;

	/* if max_rd_atomic is 0, it fails when it executes */
	for (uint32_t at = qp->pending_tail; left && at != qp->pending_head;) {
		const struct sv_pending *p = qp->pending[--at & qp->pending_mask];

		if (sv_is_answered(&p->wr) && --left == 0)
			return p->due_complete;
	}
	return 0;
}

static struct sv_port *receiver(const struct sv_qp *qp)
{
	return &qp->peer->segment->header.ports[qp->remote_entry ? sv_device_of(qp->remote_entry) : 0];
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
	uint64_t sent = occupy(&transmit_free_ns[sv_device_of(qp->entry)], start, sv_config.message + (answers ? 0 : wire));
	uint64_t there = sent + sv_config.latency + jitter;

	if (qp->peer && !answers && wire)
		there = occupy(&receiver(qp)->receive_free_ns, there - wire, wire);
	p->due = there;
	p->due_complete = there + sv_config.latency + (answers ? wire : 0);
}

/* A bound on the delay, whatever another process has written: times must not wrap around. */
#define MOST_LATE_NS 3600000000000ull

/* What a fault of the far end adds to an operation's time: it is slow, or each lost try costs a time-out. */
static uint64_t port_delay(const struct sv_qp *qp, struct sv_pending *p, struct sv_port *port)
{
	uint64_t late = atomic_load_explicit(&port->straggler_ns, memory_order_relaxed),
	         timeout = 4096ull << qp->attr.timeout;
	uint32_t lose = atomic_load_explicit(&port->lose_ppm, memory_order_relaxed), lost = 0;

	if (!sv_chance(atomic_load_explicit(&port->straggler_ppm, memory_order_relaxed)))
		late = 0;
	else if (late > MOST_LATE_NS)
		late = MOST_LATE_NS;
	while (lost <= qp->attr.retry_cnt && sv_chance(lose))
		lost++;
	p->lost = lost > qp->attr.retry_cnt;
	/* a timeout of 0 means none: such a program waits for ever, or here for an hour */
	return late + (lost && !qp->attr.timeout ? MOST_LATE_NS : lost * timeout);
}

#define MOST_AHEAD 4096

/*
 * A NIC moves bytes by itself: memory that is not in the cache is prefetched while the operation is in flight, not when
 * it is due.
 */
static void fetch_ahead(const struct sv_qp *qp, const struct sv_pending *p)
{
	const struct sv_remote *remote = qp->remotes.places ? sv_remote_place(&qp->remotes, p->wr.wr.rdma.rkey) : NULL;

	if ((p->wr.opcode != IBV_WR_RDMA_READ && p->wr.opcode != IBV_WR_RDMA_WRITE) || p->wr.num_sge != 1 || !remote ||
	    remote->key != p->wr.wr.rdma.rkey || !remote->base)
		return;
	uint64_t offset = p->wr.wr.rdma.remote_addr - remote->iova, bytes = p->sge[0].length;

	if (offset > remote->length || bytes > remote->length - offset)
		return;
	for (uint64_t at = 0; at < bytes && at < MOST_AHEAD; at += SV_LINE)
		__builtin_prefetch(remote->base + offset + at);
}

void sv_delay_start(struct sv_qp *qp, struct sv_pending *p)
{
	uint64_t now = sv_now_ns();

	p->due = p->due_complete = 0;
	if (sv_config.model) {
		model_times(qp, p, now);
		fetch_ahead(qp, p);
	}
	uint64_t extra = sv_chance(sv_config.straggler_ppm) ? sv_config.straggler_ns : 0;
	struct sv_port *port = sv_faulty_port(qp);

	if (port)
		extra += port_delay(qp, p, port);
	if (extra) {
		uint64_t base = p->due ? p->due : now;

		p->due = base + extra;
		p->due_complete = (p->due_complete ? p->due_complete : base) + extra;
	}
	/* a QP delivers in order and completes in order */
	if (p->due < qp->last_due)
		p->due = qp->last_due;
	if (p->due_complete < qp->last_due_complete)
		p->due_complete = qp->last_due_complete;
	qp->last_due = p->due;
	qp->last_due_complete = p->due_complete;
}
