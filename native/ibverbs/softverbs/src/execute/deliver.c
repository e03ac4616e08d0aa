/*
 * Two-sided operations. The sender does the receiver's work: it takes the posted receive from the receiver's ring,
 * copies the message into the receiver's buffers (through the receiver's own lkeys, checked as the receiver's device
 * would check them), and publishes a record. No thread of the receiver runs.
 */
#include "base/macros.h"
#include "execute/access.h"
#include "execute/deliver.h"
#include "execute/window.h"
#include "execute/write.h"
#include "object/ah.h"
#include "object/layout.h"
#include "object/limits.h"
#include "object/link.h"
#include "object/process.h"
#include "object/qp.h"
#include "object/segment.h"
#include "peer/link.h"
#include "peer/peer.h"
#include "peer/remote.h"
#include "peer/robust.h"

/*
 * Find a ring of the receive side in the peer's segment, when the connection is made: its geometry is checked here,
 * once.
 */
static bool map_ring(struct sv_segment *segment, uint64_t offset, uint64_t entries, uint64_t stride, void **ring)
{
	if (entries == 0 || (entries & (entries - 1)) || entries > 2 * SV_MAX_QP_WR || stride > 4096)
		return false;
	*ring = sv_at(segment, offset, entries * stride);
	return *ring != NULL;
}

bool sv_target_init(struct sv_target *target, struct sv_segment *segment, uint32_t qpn)
{
	void *wqes, *records;
	struct sv_qp_entry *entry = &segment->qps[sv_qpn_index(qpn)];
	uint32_t srq = SV_ONCE(entry->srq), recv_cq = SV_ONCE(entry->recv_cq);

	memset(target, 0, sizeof(*target));
	if (srq > SV_SRQS || recv_cq >= SV_CQS)
		return false;
	struct sv_rq_entry *rq = srq ? &segment->srqs[srq - 1] : &entry->rq;
	uint32_t stride = SV_ONCE(rq->stride), max_sge = SV_ONCE(rq->max_sge), entries = SV_ONCE(rq->entries);
	uint32_t record_entries = SV_ONCE(entry->record_entries);

	if (max_sge > SV_MAX_SGE || stride < sizeof(struct sv_recv_wqe) + max_sge * sizeof(struct sv_sge) ||
	    !map_ring(segment, SV_ONCE(rq->wqes), entries, stride, &wqes) ||
	    !map_ring(segment, SV_ONCE(entry->records), record_entries, sizeof(struct sv_recv_record), &records))
		return false;
	*target = (struct sv_target){.segment = segment,
	    .qpn = qpn,
	    .entry = entry,
	    .rq = rq,
	    .cq = &segment->cqs[recv_cq],
	    .wqes = wqes,
	    .records = records,
	    .mask = entries - 1,
	    .record_mask = record_entries - 1,
	    .stride = stride,
	    .max_sge = max_sge,
	    .shared = srq != 0};
	return true;
}

/* Copy a receive's elements, so that the values that were checked are those that are used. Returns their bytes. */
static uint64_t take_elements(struct sv_sge *to, const struct sv_recv_wqe *wqe, uint32_t count)
{
	uint64_t room = 0;

	for (uint32_t i = 0; i < count; i++) {
		to[i] = (struct sv_sge){SV_ONCE(wqe->sge[i].addr), SV_ONCE(wqe->sge[i].length), SV_ONCE(wqe->sge[i].lkey)};
		room += to[i].length;
	}
	return room;
}

/* Copy the message into the receive's elements. Both lists were measured before; only keys can still fail. */
static int scatter(struct sv_qp *qp, const struct ibv_send_wr *wr, const struct sv_sge *elements, uint32_t count)
{
	uint32_t to = 0, to_offset = 0;

	for (int from = 0; from < wr->num_sge; from++) {
		const uint8_t *data = (const uint8_t *)(uintptr_t)wr->sg_list[from].addr;
		uint64_t left = wr->sg_list[from].length;

		data = wr->send_flags & IBV_SEND_INLINE ? data : sv_local_address(&wr->sg_list[from]);
		while (left) {
			while (to < count && elements[to].length == to_offset)
				to++, to_offset = 0;
			if (to == count)
				return IBV_WC_REM_INV_REQ_ERR; /* less room than was measured: this cannot happen */
			uint64_t chunk = elements[to].length - to_offset, addr = elements[to].addr + to_offset;

			if (chunk > left)
				chunk = left;
			struct sv_remote *remote = sv_remote_check(qp, elements[to].lkey, addr, chunk, IBV_ACCESS_LOCAL_WRITE);
			if (!remote)
				return IBV_WC_REM_OP_ERR;
			int status = sv_remote_write(qp, remote, addr - remote->iova, data, chunk);
			if (status)
				return status;
			data += chunk;
			left -= chunk;
			to_offset += (uint32_t)chunk;
		}
	}
	return IBV_WC_SUCCESS;
}

/*
 * Write the event, then disarm the CQ. It stays armed if the event was not written: we may be killed before, or lack a
 * descriptor.
 */
static void send_event(struct sv_peer *peer, struct sv_cq_entry *cq, uint32_t armed)
{
	uint32_t event = SV_ONCE(cq->event);

	/*
	 * if it was armed again meanwhile, the exchange fails, and the poll that follows that arming sees what we published
	 */
	if (sv_peer_ring(peer, SV_ONCE(cq->channel_fd), SV_ONCE(cq->channel_ino), &event, sizeof(event)))
		atomic_compare_exchange_strong(&cq->armed, &armed, armed & ~(uint32_t)SV_ARMED_FOR);
}

/*
 * Publish the record of a receive and consume the receive, in this order: a sender that dies in between loses nothing.
 */
static void publish(struct sv_qp *qp, struct sv_target *t, const struct sv_recv_record *content, bool solicited)
{
	uint32_t position = atomic_load_explicit(&t->entry->record_head, memory_order_relaxed);
	uint32_t head = atomic_load_explicit(&t->rq->head, memory_order_relaxed);
	struct sv_recv_record *record = &t->records[position & t->record_mask];

	if (t->shared) {
		t->rq->intent_record = position;
		t->rq->intent_head = head;
		atomic_store_explicit(&t->rq->intent_qp, sv_qpn_index(t->qpn) + 1, memory_order_release);
	}
	memcpy(record, content, offsetof(struct sv_recv_record, sequence));
	atomic_store_explicit(&record->sequence, position + 1, memory_order_release);
	atomic_store_explicit(&t->entry->record_head, position + 1, memory_order_release);
	atomic_store_explicit(&t->rq->head, head + 1, memory_order_release);
	if (t->shared)
		atomic_store_explicit(&t->rq->intent_qp, 0, memory_order_release);
	atomic_fetch_add(&t->cq->arrivals, 1);
	uint32_t armed = atomic_load(&t->cq->armed), kind = armed & SV_ARMED_FOR;

	if (unlikely(kind != SV_ARMED_NOT) && (kind == SV_ARMED_ANY || solicited || content->status != IBV_WC_SUCCESS))
		send_event(qp->peer, t->cq, armed);
}

/*
 * The sender that held the lock of a shared queue has died. If it had published its record, that receive is consumed.
 * The dead sender may have consumed it itself, as may one that repaired this before us and died, so `head` is set to a
 * value and not incremented.
 */
static void recover_shared(struct sv_target *t)
{
	uint32_t intent = atomic_load(&t->rq->intent_qp);

	if (intent && intent <= SV_QPS) {
		struct sv_qp_entry *entry = &t->segment->qps[intent - 1];
		uint32_t entries = SV_ONCE(entry->record_entries), position = SV_ONCE(t->rq->intent_record);
		struct sv_recv_record *records = NULL;

		if (entries && !(entries & (entries - 1)) && entries <= 2 * SV_MAX_QP_WR)
			records = sv_at(t->segment, SV_ONCE(entry->records), (uint64_t)entries * sizeof(*records));
		if (records && atomic_load(&records[position & (entries - 1)].sequence) == position + 1)
			atomic_store(&t->rq->head, SV_ONCE(t->rq->intent_head) + 1);
	}
	atomic_store(&t->rq->intent_qp, 0);
}

/*
 * The same for the queue of a UD QP. Without an SRQ each of its receives has one record, so both heads are at the same
 * position.
 */
static void recover_datagrams(struct sv_target *t)
{
	uint32_t position = atomic_load(&t->entry->record_head);

	if (atomic_load(&t->records[position & t->record_mask].sequence) == position + 1)
		atomic_store(&t->entry->record_head, ++position);
	if (!t->shared)
		atomic_store(&t->rq->head, position);
}

/*
 * Has an SRQ run low? Its owner is notified of that once. Under the SRQ's lock, so that of several senders only one
 * finds it so.
 */
static bool hits_limit(struct sv_target *t)
{
	uint32_t limit = atomic_load_explicit(&t->rq->limit, memory_order_relaxed);
	uint32_t left = atomic_load(&t->rq->tail) - atomic_load(&t->rq->head);

	if (likely(!limit || left >= limit))
		return false;
	/*
	 * in this order: if this sender is killed in between, limit_hit is set, and the owner looks at it when a peer dies
	 */
	atomic_store(&t->rq->limit_hit, 1);
	return atomic_compare_exchange_strong(&t->rq->limit, &limit, 0);
}

static int deliver(struct sv_qp *qp, const struct ibv_send_wr *wr, uint32_t bytes)
{
	struct sv_target *t = &qp->target;
	uint32_t head = atomic_load_explicit(&t->rq->head, memory_order_relaxed);

	if (head == atomic_load_explicit(&t->rq->tail, memory_order_acquire))
		return SV_STALL_RNR;
	const struct sv_recv_wqe *wqe = (const struct sv_recv_wqe *)(t->wqes + (size_t)(head & t->mask) * t->stride);
	uint32_t count = SV_ONCE(wqe->num_sge);
	bool write = wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
	struct sv_recv_record record = {.wr_id = wqe->wr_id,
	    .status = IBV_WC_SUCCESS,
	    .opcode = write ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV,
	    .byte_len = bytes,
	    .src_qp = qp->qp.qp_num};
	int status = IBV_WC_SUCCESS;

	if (count > t->max_sge)
		count = t->max_sge;
	if (write || wr->opcode == IBV_WR_SEND_WITH_IMM) {
		record.flags = IBV_WC_WITH_IMM;
		record.imm = wr->imm_data;
	} else if (wr->opcode == IBV_WR_SEND_WITH_INV) {
		record.flags = IBV_WC_WITH_INV;
		record.imm = wr->invalidate_rkey;
	}
	if (qp->qp.qp_type == IBV_QPT_UD && ((struct sv_ah *)wr->wr.ud.ah)->attr.is_global)
		record.flags |= IBV_WC_GRH;
	if (write) {
		if ((status = sv_write(qp, wr)) != IBV_WC_SUCCESS)
			return status; /* the WRITE failed before the receive was needed */
	} else {
		struct sv_sge elements[SV_MAX_SGE];

		if (bytes > take_elements(elements, wqe, count)) {
			record.status = IBV_WC_LOC_LEN_ERR;
			status = IBV_WC_REM_INV_REQ_ERR;
		} else {
			status = scatter(qp, wr, elements, count);
			if (status == IBV_WC_REM_OP_ERR)
				record.status = IBV_WC_LOC_PROT_ERR;
			else if (status)
				return status;
		}
		if (!status && wr->opcode == IBV_WR_SEND_WITH_INV && !sv_mw_invalidate_remote(qp, wr->invalidate_rkey)) {
			sv_peer_fault(qp, SV_FAULT_ACCESS);
			return IBV_WC_REM_ACCESS_ERR;
		}
	}
	if (record.status != IBV_WC_SUCCESS)
		sv_peer_fault(qp, SV_FAULT_SILENT); /* the completion of the receive reports it */
	publish(qp, t, &record, wr->send_flags & IBV_SEND_SOLICITED);
	return status;
}

int sv_deliver(struct sv_qp *qp, const struct ibv_send_wr *wr, uint32_t bytes)
{
	struct sv_target *t = &qp->target;

	if (likely(!t->shared))
		return deliver(qp, wr, bytes);
	enum sv_robust lock = sv_robust_lock(&t->rq->lock);

	if (lock == SV_ROBUST_HELD)
		return SV_STALL_NOT_READY; /* as if the peer did not answer */
	if (lock == SV_ROBUST_FROM_DEAD)
		recover_shared(t);
	int status = deliver(qp, wr, bytes);
	bool low = hits_limit(t);

	sv_robust_unlock(&t->rq->lock);
	if (unlikely(low))
		sv_peer_wake(qp->peer);
	return status;
}

int sv_deliver_datagram(struct sv_qp *qp, const struct ibv_send_wr *wr, uint32_t bytes)
{
	struct sv_target *t = &qp->target;
	_Atomic uint64_t *lock = &qp->remote_entry->rq.lock;
	int status = IBV_WC_SUCCESS;
	enum sv_robust taken = sv_robust_lock(lock);

	if (taken == SV_ROBUST_HELD)
		return status; /* lost */
	/* destroying the QP waits for the lock: what we read now stays so until we release it */
	if (sv_accepts(atomic_load(&qp->remote_entry->state)) &&
	    sv_target_init(t, qp->peer->segment, wr->wr.ud.remote_qpn)) {
		if (taken == SV_ROBUST_FROM_DEAD)
			recover_datagrams(t);
		status = sv_deliver(qp, wr, bytes);
	}
	sv_robust_unlock(lock);
	return status;
}
