/* The queue of sends that wait, each with a copy of all that a program may reuse once it has posted. */
#include "base/calls.h"
#include "base/macros.h"
#include "model/delay.h"
#include "object/ah.h"
#include "object/pending.h"
#include "object/qp.h"
#include "path/completion.h"
#include "path/late.h"
#include "path/pending.h"
#include "path/waiting.h"

#include <errno.h>
#include <stdlib.h>

/* Memory for a send with so much inline data: that of an earlier one if it is large enough. */
static struct sv_pending *place(struct sv_pending **at, uint64_t bytes)
{
	if (!*at || (*at)->room < bytes) {
		free(*at);
		*at = sv_malloc(sizeof(**at) + bytes);
		if (*at)
			(*at)->room = bytes;
	}
	return *at;
}

/* Allocate the array of places. */
static int make_places(struct sv_qp *qp)
{
	uint32_t size = 1;

	if (qp->pending)
		return 0;
	while (size < qp->max_send_wr)
		size *= 2;
	qp->pending = sv_calloc(size, sizeof(*qp->pending));
	if (!qp->pending)
		return ENOMEM;
	qp->pending_mask = size - 1;
	return 0;
}

/* Start again at the first places, which are in the cache. */
static void begin_anew(struct sv_qp *qp)
{
	if (qp->pending_head == qp->pending_tail)
		qp->pending_head = qp->pending_tail = 0;
}

int sv_pending_reserve(struct sv_qp *qp, uint32_t count, uint64_t bytes)
{
	int error = make_places(qp);

	begin_anew(qp);
	for (uint32_t i = 0; !error && i < count; i++)
		if (!place(&qp->pending[(qp->pending_tail + i) & qp->pending_mask], bytes))
			error = ENOMEM;
	return error;
}

int sv_pending_add(struct sv_qp *qp, const struct ibv_send_wr *wr, uint32_t sequence)
{
	uint64_t bytes = 0;

	if (make_places(qp))
		return ENOMEM;
	if (wr->send_flags & IBV_SEND_INLINE)
		for (int i = 0; i < wr->num_sge; i++)
			bytes += wr->sg_list[i].length;
	begin_anew(qp);
	struct sv_pending *p = place(&qp->pending[qp->pending_tail & qp->pending_mask], bytes);

	if (!p)
		return ENOMEM;
	p->wr = *wr;
	p->wr.next = NULL;
	p->wr.sg_list = p->sge;
	p->sequence = sequence;
	p->done = p->lost = false;
	p->due = p->due_complete = 0;
	/* the lkey is copied, since the region may be gone when the bind executes: a device has it in the WQE */
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
	if (unlikely(sv_is_delayed(qp)))
		sv_delay_start(qp, p);
	qp->pending_tail++;
	qp->undelivered += sv_is_seen(wr);
	return 0;
}

/* This many places of a queue keep their memory when their send is done. */
#define KEPT 64

void sv_pending_drop(struct sv_qp *qp)
{
	uint32_t at = qp->pending_head++ & qp->pending_mask;
	struct sv_pending *p = qp->pending[at];

	qp->undelivered -= !p->done && sv_is_seen(&p->wr);
	if (at >= KEPT) {
		free(p);
		qp->pending[at] = NULL;
	}
	qp->stall_since_ns = 0;
}

void sv_send_flush(struct sv_qp *qp)
{
	struct sv_pending *p;

	while ((p = sv_pending_first(qp))) {
		sv_complete(qp, &p->wr, IBV_WC_WR_FLUSH_ERR, 0, p->sequence);
		sv_pending_drop(qp);
	}
	sv_delay_publish(qp);
}

void sv_send_reset(struct sv_qp *qp)
{
	while (sv_pending_first(qp))
		sv_pending_drop(qp);
	qp->last_start = qp->last_due = qp->last_due_complete = qp->operations = 0;
	for (uint32_t i = 0; qp->pending && i <= qp->pending_mask; i++)
		free(qp->pending[i]);
	free(qp->pending);
	qp->pending = NULL;
	qp->pending_head = qp->pending_tail = 0;
	qp->sequence = 0;
	atomic_store(&qp->freed, 0);
	sv_delay_publish(qp);
	sv_waiting_update(qp);
}
