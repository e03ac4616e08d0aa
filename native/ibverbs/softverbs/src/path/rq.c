/* Receive queues, of QPs and SRQs: rings in our segment that senders read. */
#include "object/layout.h"
#include "object/process.h"
#include "object/segment.h"
#include "object/srq.h"
#include "path/rq.h"

#include <errno.h>
#include <string.h>

static uint32_t power_of_two(uint32_t n)
{
	uint32_t p = 1;

	while (p < n)
		p *= 2;
	return p;
}

/* Under the process lock. */
int sv_rq_init(struct sv_rq *rq, struct sv_rq_entry *entry, uint32_t max_wr, uint32_t max_sge)
{
	uint32_t entries = power_of_two(max_wr ? max_wr : 1);

	memset(rq, 0, sizeof(*rq));
	rq->stride = (uint32_t)(sizeof(struct sv_recv_wqe) + max_sge * sizeof(struct sv_sge));
	rq->bytes = (size_t)entries * rq->stride;
	uint64_t offset = sv_segment_alloc(rq->bytes);

	if (!offset)
		return ENOMEM;
	rq->entry = entry;
	rq->wqes = (uint8_t *)sv_process.segment + offset;
	rq->max_wr = max_wr;
	rq->max_sge = max_sge;
	rq->mask = entries - 1;
	entry->wqes = offset;
	entry->stride = rq->stride;
	entry->max_sge = max_sge;
	entry->entries = entries;
	/* all but the lock: a sender to who was here before may hold it for a moment more */
	atomic_store(&entry->tail, 0);
	atomic_store(&entry->limit, 0);
	atomic_store(&entry->head, 0);
	atomic_store(&entry->intent_qp, 0);
	atomic_store(&entry->limit_hit, 0);
	return 0;
}

/* Under the process lock. */
void sv_rq_destroy(struct sv_rq *rq)
{
	if (rq->entry)
		sv_segment_free(rq->entry->wqes, rq->bytes);
	rq->entry = NULL;
}

int sv_rq_post(struct sv_rq *rq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	uint32_t tail = atomic_load_explicit(&rq->entry->tail, memory_order_relaxed);
	int error = 0;

	for (; wr; wr = wr->next) {
		if (wr->num_sge < 0 || (uint32_t)wr->num_sge > rq->max_sge) {
			error = EINVAL;
			break;
		}
		if (tail - atomic_load_explicit(&rq->polled, memory_order_acquire) >= rq->max_wr) {
			error = ENOMEM;
			break;
		}
		struct sv_recv_wqe *wqe = (struct sv_recv_wqe *)(rq->wqes + (size_t)(tail & rq->mask) * rq->stride);

		wqe->wr_id = wr->wr_id;
		wqe->num_sge = (uint32_t)wr->num_sge;
		for (int i = 0; i < wr->num_sge; i++)
			wqe->sge[i] = (struct sv_sge){wr->sg_list[i].addr, wr->sg_list[i].length, wr->sg_list[i].lkey};
		atomic_store_explicit(&rq->entry->tail, ++tail, memory_order_release);
	}
	if (error && bad)
		*bad = wr;
	return error;
}
