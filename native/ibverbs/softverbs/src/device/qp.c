/* Queue pairs: creation, destruction, queries. Transitions are in qp_modify.c. */
#include "base/calls.h"
#include "base/lock.h"
#include "base/macros.h"
#include "device/open.h"
#include "device/qp.h"
#include "model/config.h"
#include "object/context.h"
#include "object/cq.h"
#include "object/layout.h"
#include "object/limits.h"
#include "object/process.h"
#include "object/qp.h"
#include "object/segment.h"
#include "object/srq.h"
#include "path/builder.h"
#include "path/completion.h"
#include "path/pending.h"
#include "path/poll.h"
#include "path/qp_state.h"
#include "path/rq.h"
#include "path/waiting.h"
#include "peer/link.h"
#include "peer/peer.h"
#include "peer/quiesce.h"

#include <errno.h>
#include <stdlib.h>

static int check_init(const struct ibv_qp_init_attr_ex *init)
{
	const struct ibv_qp_cap *cap = &init->cap;

	if (init->qp_type != IBV_QPT_RC && init->qp_type != IBV_QPT_UC && init->qp_type != IBV_QPT_UD)
		return EOPNOTSUPP;
	if (!init->send_cq || !init->recv_cq)
		return EINVAL;
	if (cap->max_send_wr > SV_MAX_QP_WR || cap->max_recv_wr > SV_MAX_QP_WR || cap->max_send_sge > SV_MAX_SGE ||
	    cap->max_recv_sge > SV_MAX_SGE || cap->max_inline_data > SV_MAX_INLINE)
		return EINVAL;
	/* a modelled NIC's limits */
	if ((sv_config.max_depth && cap->max_send_wr > sv_config.max_depth) ||
	    (sv_config.max_inline && cap->max_inline_data > sv_config.max_inline))
		return EINVAL;
	return 0;
}

/* QP numbers are given out in rotation, so that one is reused only after thousands of others. */
static int claim_index(struct sv_qp *qp)
{
	for (uint32_t i = 0; i < SV_QPS; i++) {
		uint32_t index = sv_process.next_qp++ % SV_QPS;

		if (sv_process.qps[index])
			continue;
		qp->index = index;
		qp->entry = &sv_process.segment->qps[index];
		qp->qp.qp_num = sv_process.slot << 12 | index;
		sv_process.qps[index] = qp;
		atomic_store(&sv_process.send_cqs[index], sv_cq(qp->qp.send_cq)->index);
		atomic_store(&sv_process.due[index].next, 0);
		atomic_store(&sv_process.due[index].delivery, 0);
		atomic_store(&sv_process.due[index].helped, false);
		return 0;
	}
	return ENOMEM;
}

static uint32_t power_of_two(uint32_t n)
{
	uint32_t p = 1;

	while (p < n)
		p *= 2;
	return p;
}

/* Under the process lock. */
static int build(struct sv_qp *qp, const struct ibv_qp_init_attr_ex *init)
{
	int error = claim_index(qp);

	if (error)
		return error;
	memset(qp->entry, 0, offsetof(struct sv_qp_entry, rq));
	uint32_t records = power_of_two(init->cap.max_recv_wr ? init->cap.max_recv_wr : 1);

	if (init->srq)
		records = power_of_two(sv_srq(init->srq)->rq.max_wr);
	qp->record_bytes = records * sizeof(struct sv_recv_record);
	error = sv_rq_init(&qp->rq, &qp->entry->rq, init->srq ? 0 : init->cap.max_recv_wr, init->cap.max_recv_sge);
	uint64_t offset = error ? 0 : sv_segment_alloc(qp->record_bytes);

	if (!offset) {
		sv_rq_destroy(&qp->rq);
		sv_process.qps[qp->index] = NULL;
		return ENOMEM;
	}
	qp->records = (struct sv_recv_record *)((uint8_t *)sv_process.segment + offset);
	qp->record_mask = records - 1;
	qp->entry->records = offset;
	qp->entry->record_entries = records;
	qp->entry->pd = init->pd->handle;
	qp->entry->type = init->qp_type;
	qp->entry->device = sv_context(qp->qp.context)->device;
	qp->entry->recv_cq = sv_cq(init->recv_cq)->index;
	qp->entry->srq = init->srq ? sv_srq(init->srq)->index + 1 : 0;
	return 0;
}

static void count_users(struct sv_qp *qp, int change)
{
	unsigned by = (unsigned)change; /* wraps for -1 */

	atomic_fetch_add(&sv_pd(qp->qp.pd)->users, by);
	atomic_fetch_add(&sv_cq(qp->qp.send_cq)->users, by);
	atomic_fetch_add(&sv_cq(qp->qp.recv_cq)->users, by);
	if (qp->qp.srq)
		atomic_fetch_add(&sv_srq(qp->qp.srq)->users, by);
	if (change > 0)
		sv_context_get(qp->qp.context);
	else
		sv_context_put(qp->qp.context);
}

/* The opcodes that may be posted, as the specification has them for each type of connection. */
static uint32_t allowed_opcodes(enum ibv_qp_type type)
{
	uint32_t ud = 1u << IBV_WR_SEND | 1u << IBV_WR_SEND_WITH_IMM;
	uint32_t uc = ud | 1u << IBV_WR_RDMA_WRITE | 1u << IBV_WR_RDMA_WRITE_WITH_IMM;
	uint32_t rc = uc | 1u << IBV_WR_RDMA_READ | 1u << IBV_WR_ATOMIC_CMP_AND_SWP | 1u << IBV_WR_ATOMIC_FETCH_AND_ADD |
	              1u << IBV_WR_LOCAL_INV | 1u << IBV_WR_BIND_MW | 1u << IBV_WR_SEND_WITH_INV;

	return type == IBV_QPT_RC ? rc : type == IBV_QPT_UC ? uc : ud;
}

static struct sv_qp *create(struct ibv_context *context, struct ibv_qp_init_attr_ex *init)
{
	int error = check_init(init);

	if (error) {
		errno = error;
		return NULL;
	}
	struct sv_qp *qp = sv_calloc(1, sizeof(*qp));

	if (!qp)
		return NULL;
	qp->qp.context = context;
	qp->qp.qp_context = init->qp_context;
	qp->qp.pd = init->pd;
	qp->qp.send_cq = init->send_cq;
	qp->qp.recv_cq = init->recv_cq;
	qp->qp.srq = init->srq;
	qp->qp.qp_type = init->qp_type;
	pthread_mutex_init(&qp->qp.mutex, NULL);
	pthread_cond_init(&qp->qp.cond, NULL);
	sv_lock_init(&qp->lock);
	sv_lock_init(&qp->recv_lock);
	if (atomic_load(&sv_config.delayed))
		sv_lock_share(&qp->lock); /* the helper executes too */

	struct ibv_qp_cap *cap = &init->cap;

	if (cap->max_send_wr == 0)
		cap->max_send_wr = 1;
	if (cap->max_send_sge == 0)
		cap->max_send_sge = 1;
	uint32_t usual_inline = sv_config.max_inline ? sv_config.max_inline : 512;

	if (cap->max_inline_data < usual_inline)
		cap->max_inline_data = usual_inline;
	if (init->srq)
		cap->max_recv_wr = cap->max_recv_sge = 0;
	qp->max_send_wr = cap->max_send_wr;
	qp->max_send_sge = cap->max_send_sge;
	qp->max_inline = cap->max_inline_data;
	qp->sq_sig_all = init->sq_sig_all;
	qp->pd_handle = init->pd->handle;
	qp->opcodes = allowed_opcodes(init->qp_type);
	qp->init = (struct ibv_qp_init_attr){.qp_context = init->qp_context,
	    .send_cq = init->send_cq,
	    .recv_cq = init->recv_cq,
	    .srq = init->srq,
	    .cap = *cap,
	    .qp_type = init->qp_type,
	    .sq_sig_all = init->sq_sig_all};
	qp->attr.cap = *cap;
	pthread_mutex_lock(&sv_process.lock);
	error = build(qp, init);
	if (!error) {
		qp->qp.handle = qp->index;
		count_users(qp, 1);
		sv_cq_attach(sv_cq(init->recv_cq), qp);
		sv_qp_publish_state(qp);
	}
	pthread_mutex_unlock(&sv_process.lock);
	if (error) {
		free(qp);
		errno = error;
		return NULL;
	}
	return qp;
}

SV_API struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
	struct ibv_qp_init_attr_ex ex = {.qp_context = init->qp_context,
	    .send_cq = init->send_cq,
	    .recv_cq = init->recv_cq,
	    .srq = init->srq,
	    .cap = init->cap,
	    .qp_type = init->qp_type,
	    .sq_sig_all = init->sq_sig_all,
	    .comp_mask = IBV_QP_INIT_ATTR_PD,
	    .pd = pd};
	struct sv_qp *qp = create(pd->context, &ex);

	if (!qp)
		return NULL;
	init->cap = ex.cap;
	return &qp->qp;
}

struct ibv_qp *sv_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *init)
{
	if (init->comp_mask &
	    ~(uint32_t)(IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	uint64_t ops = init->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS ? init->send_ops_flags : 0;
	uint64_t allowed = sv_builder_ops(init->qp_type);

	if (!(init->comp_mask & IBV_QP_INIT_ATTR_PD) || !init->pd) {
		errno = EINVAL;
		return NULL;
	}
	if (((init->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) && init->create_flags) || (ops & ~allowed)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	bool built = init->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	struct sv_builder *builder = built ? sv_builder_create() : NULL;

	if (built && !builder)
		return NULL;
	struct sv_qp *qp = create(context, init);

	if (!qp) {
		int error = errno;

		sv_builder_destroy(builder);
		errno = error;
		return NULL;
	}
	if (built)
		sv_builder_attach(builder, qp);
	return &qp->qp;
}

SV_API int ibv_destroy_qp(struct ibv_qp *ibqp)
{
	struct sv_qp *qp = sv_qp(ibqp);

	/* first make it unusable for the program, for peers and for the helper */
	pthread_mutex_lock(&sv_process.lock);
	sv_lock_control(&qp->lock);
	if (!qp->dying) {
		qp->dying = true;
		qp->direct = false;
		qp->state = IBV_QPS_RESET;
		atomic_store(&qp->entry->state, 0);
		sv_qp_shut(qp);
		sv_send_reset(qp);
		qp->failing = false;
		sv_waiting_update(qp);
	}
	sv_unlock(&qp->lock, false);
	pthread_mutex_unlock(&sv_process.lock);

	/* then wait until the peer is out: after that none of its writes is still under way */
	if (!sv_quiesce_qp(qp))
		return EBUSY;
	struct sv_cq *recv_cq = sv_cq(ibqp->recv_cq);

	sv_lock_control(&recv_cq->lock);
	sv_receives_drop(qp);
	sv_unlock(&recv_cq->lock, false);
	sv_cq_detach(recv_cq, qp);
	sv_cq_forget(sv_cq(ibqp->send_cq), qp);
	if (ibqp->recv_cq != ibqp->send_cq)
		sv_cq_forget(sv_cq(ibqp->recv_cq), qp);
	if (qp->peer && !qp->peer->self)
		sv_peer_wake(qp->peer); /* its sends that wait for us end with an error now */

	pthread_mutex_lock(&sv_process.lock);
	sv_qp_disconnect(qp);
	sv_process.qps[qp->index] = NULL;
	sv_segment_free(qp->entry->records, qp->record_bytes);
	sv_rq_destroy(&qp->rq);
	uint32_t events = qp->async_reported;

	pthread_mutex_unlock(&sv_process.lock);
	pthread_mutex_lock(&ibqp->mutex);
	while (ibqp->events_completed != events)
		pthread_cond_wait(&ibqp->cond, &ibqp->mutex);
	pthread_mutex_unlock(&ibqp->mutex);
	count_users(qp, -1);
	pthread_mutex_destroy(&ibqp->mutex);
	pthread_cond_destroy(&ibqp->cond);
	sv_builder_destroy(qp->builder);
	free(qp);
	return 0;
}

SV_API int ibv_query_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init)
{
	struct sv_qp *qp = sv_qp(ibqp);

	(void)mask; /* the mask is a hint: all attributes are at hand */
	sv_lock_control(&qp->lock);
	if (atomic_load(&qp->entry->fault) != SV_FAULT_NONE && qp->state != IBV_QPS_ERR && qp->state != IBV_QPS_RESET)
		sv_qp_fail(qp);
	*attr = qp->attr;
	attr->qp_state = attr->cur_qp_state = ibqp->state = qp->state;
	if (init)
		*init = qp->init;
	sv_unlock(&qp->lock, false);
	return 0;
}

SV_API struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp)
{
	return sv_qp(qp)->builder ? &sv_qp(qp)->ex : NULL;
}
