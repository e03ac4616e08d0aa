/*
 * The QP state machine: the legal transitions, and the attributes that each needs or allows, as the specification lists
 * them.
 */
#include "base/clock.h"
#include "base/lock.h"
#include "base/macros.h"
#include "device/device.h"
#include "object/async.h"
#include "object/cq.h"
#include "object/layout.h"
#include "object/limits.h"
#include "object/process.h"
#include "object/qp.h"
#include "path/completion.h"
#include "path/pending.h"
#include "path/poll.h"
#include "path/progress.h"
#include "path/qp_state.h"
#include "peer/link.h"
#include "peer/peer.h"
#include "peer/quiesce.h"
#include "peer/remote.h"
#include "peer/watch.h"

#include <errno.h>

enum kind { KIND_RC, KIND_UC, KIND_UD, KINDS };

struct transition {
	enum ibv_qp_state from, to;
	int required[KINDS], optional[KINDS];
};

#define PKEY_PORT (IBV_QP_PKEY_INDEX | IBV_QP_PORT)
#define PATH (IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN)
#define ALT (IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE)

static const struct transition transitions[] = {
    {IBV_QPS_RESET, IBV_QPS_INIT,
        {PKEY_PORT | IBV_QP_ACCESS_FLAGS, PKEY_PORT | IBV_QP_ACCESS_FLAGS, PKEY_PORT | IBV_QP_QKEY}, {0, 0, 0}},
    {IBV_QPS_INIT, IBV_QPS_INIT, {0, 0, 0},
        {PKEY_PORT | IBV_QP_ACCESS_FLAGS, PKEY_PORT | IBV_QP_ACCESS_FLAGS, PKEY_PORT | IBV_QP_QKEY}},
    {IBV_QPS_INIT, IBV_QPS_RTR, {PATH | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER, PATH, 0},
        {IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX,
            IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX, IBV_QP_PKEY_INDEX | IBV_QP_QKEY}},
    {IBV_QPS_RTR, IBV_QPS_RTS,
        {IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC, IBV_QP_SQ_PSN,
            IBV_QP_SQ_PSN},
        {IBV_QP_CUR_STATE | ALT | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER,
            IBV_QP_CUR_STATE | ALT | IBV_QP_ACCESS_FLAGS, IBV_QP_CUR_STATE | IBV_QP_QKEY}},
    {IBV_QPS_RTS, IBV_QPS_RTS, {0, 0, 0},
        {IBV_QP_CUR_STATE | ALT | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER,
            IBV_QP_CUR_STATE | ALT | IBV_QP_ACCESS_FLAGS, IBV_QP_CUR_STATE | IBV_QP_QKEY}},
    {IBV_QPS_RTS, IBV_QPS_SQD, {0, 0, 0},
        {IBV_QP_EN_SQD_ASYNC_NOTIFY, IBV_QP_EN_SQD_ASYNC_NOTIFY, IBV_QP_EN_SQD_ASYNC_NOTIFY}},
    {IBV_QPS_SQD, IBV_QPS_RTS, {0, 0, 0},
        {IBV_QP_CUR_STATE | ALT | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER,
            IBV_QP_CUR_STATE | ALT | IBV_QP_ACCESS_FLAGS, IBV_QP_CUR_STATE | IBV_QP_QKEY}},
    {IBV_QPS_SQD, IBV_QPS_SQD, {0, 0, 0},
        {IBV_QP_PORT | IBV_QP_AV | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC |
                IBV_QP_MAX_DEST_RD_ATOMIC | ALT | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX | IBV_QP_MIN_RNR_TIMER,
            IBV_QP_AV | ALT | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX, IBV_QP_PKEY_INDEX | IBV_QP_QKEY}},
    {IBV_QPS_SQE, IBV_QPS_RTS, {0, 0, 0}, {0, IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS, IBV_QP_CUR_STATE | IBV_QP_QKEY}},
};

static int check(const struct sv_qp *qp, enum ibv_qp_state to, int mask)
{
	enum kind kind = qp->qp.qp_type == IBV_QPT_UD ? KIND_UD : qp->qp.qp_type == IBV_QPT_UC ? KIND_UC : KIND_RC;

	mask &= ~IBV_QP_STATE;
	if (to == IBV_QPS_RESET || to == IBV_QPS_ERR)
		return mask & ~IBV_QP_CUR_STATE ? EINVAL : 0;
	for (size_t i = 0; i < sizeof(transitions) / sizeof(transitions[0]); i++) {
		const struct transition *t = &transitions[i];

		if (t->from != qp->state || t->to != to)
			continue;
		if ((mask & t->required[kind]) != t->required[kind])
			return EINVAL;
		return mask & ~(t->required[kind] | t->optional[kind]) ? EINVAL : 0;
	}
	return EINVAL;
}

static int check_values(const struct ibv_qp_attr *attr, int mask)
{
	if ((mask & IBV_QP_PORT) && attr->port_num != 1)
		return EINVAL;
	if ((mask & IBV_QP_PKEY_INDEX) && attr->pkey_index != 0)
		return EINVAL;
	if ((mask & IBV_QP_PATH_MTU) && (attr->path_mtu < IBV_MTU_256 || attr->path_mtu > IBV_MTU_4096))
		return EINVAL;
	if ((mask & IBV_QP_DEST_QPN) && attr->dest_qp_num > 0xffffff)
		return EINVAL;
	if ((mask & IBV_QP_MAX_QP_RD_ATOMIC) && attr->max_rd_atomic > SV_MAX_RD_ATOMIC)
		return EINVAL;
	if ((mask & IBV_QP_MAX_DEST_RD_ATOMIC) && attr->max_dest_rd_atomic > SV_MAX_RD_ATOMIC)
		return EINVAL;
	if ((mask & IBV_QP_RETRY_CNT) && attr->retry_cnt > 7)
		return EINVAL;
	if ((mask & IBV_QP_RNR_RETRY) && attr->rnr_retry > 7)
		return EINVAL;
	if ((mask & (IBV_QP_TIMEOUT)) && attr->timeout > 31)
		return EINVAL;
	if ((mask & IBV_QP_MIN_RNR_TIMER) && attr->min_rnr_timer > 31)
		return EINVAL;
	if ((mask & IBV_QP_ACCESS_FLAGS) &&
	    (attr->qp_access_flags & ~(unsigned)(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
	                                         IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND)))
		return EINVAL;
	return mask & IBV_QP_AV ? sv_check_address(&attr->ah_attr) : 0;
}

static void take(struct sv_qp *qp, const struct ibv_qp_attr *attr, int mask)
{
	struct ibv_qp_attr *own = &qp->attr;

#define TAKE(flag, field) \
	if (mask & (flag)) \
	own->field = attr->field
	TAKE(IBV_QP_ACCESS_FLAGS, qp_access_flags);
	TAKE(IBV_QP_PKEY_INDEX, pkey_index);
	TAKE(IBV_QP_PORT, port_num);
	TAKE(IBV_QP_QKEY, qkey);
	TAKE(IBV_QP_AV, ah_attr);
	TAKE(IBV_QP_PATH_MTU, path_mtu);
	TAKE(IBV_QP_TIMEOUT, timeout);
	TAKE(IBV_QP_RETRY_CNT, retry_cnt);
	TAKE(IBV_QP_RNR_RETRY, rnr_retry);
	TAKE(IBV_QP_RQ_PSN, rq_psn);
	TAKE(IBV_QP_MAX_QP_RD_ATOMIC, max_rd_atomic);
	TAKE(IBV_QP_MIN_RNR_TIMER, min_rnr_timer);
	TAKE(IBV_QP_SQ_PSN, sq_psn);
	TAKE(IBV_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic);
	TAKE(IBV_QP_DEST_QPN, dest_qp_num);
	TAKE(IBV_QP_EN_SQD_ASYNC_NOTIFY, en_sqd_async_notify);
#undef TAKE
	atomic_store_explicit(&qp->entry->access, own->qp_access_flags, memory_order_relaxed);
	atomic_store_explicit(&qp->entry->min_rnr_timer, own->min_rnr_timer, memory_order_relaxed);
	atomic_store_explicit(&qp->entry->dest_qpn, own->dest_qp_num, memory_order_relaxed);
	atomic_store_explicit(&qp->entry->qkey, own->qkey, memory_order_relaxed);
	atomic_store_explicit(&qp->entry->max_dest_rd_atomic, own->max_dest_rd_atomic, memory_order_relaxed);
	if (mask & IBV_QP_MAX_QP_RD_ATOMIC)
		sv_remote_forget(&qp->link);
}

/*
 * Reset a QP that no copier uses any more. Under the process lock, which keeps the peer for threads that look for it.
 */
static void clear(struct sv_qp *qp)
{
	struct sv_cq *send_cq = sv_cq(qp->qp.send_cq), *recv_cq = sv_cq(qp->qp.recv_cq);

	qp->failing = false;
	/*
	 * Its completions are removed before its sends are counted from 0: a poll that takes one stores, under the CQ's
	 * lock, up to which sequence the queue is free. No new one is added, since we have the send lock.
	 */
	sv_cq_forget(send_cq, qp);
	if (recv_cq != send_cq)
		sv_cq_forget(recv_cq, qp);
	sv_send_reset(qp);
	if (qp->peer && !qp->peer->self)
		sv_peer_wake(qp->peer);
	sv_qp_disconnect(qp);
	sv_lock_control(&qp->recv_lock);
	sv_lock_control(&recv_cq->lock);
	qp->flush_receives = false;
	sv_receives_drop(qp);
	qp->record_tail = 0;
	memset(qp->records, 0, qp->record_bytes);
	atomic_store(&qp->rq.polled, 0);
	atomic_store(&qp->entry->rq.head, 0);
	atomic_store(&qp->entry->rq.tail, 0);
	atomic_store(&qp->entry->record_head, 0);
	atomic_store(&qp->entry->fault, SV_FAULT_NONE);
	/* it has no peer any more, which quiesce.c need not look for */
	qp->attr.dest_qp_num = 0;
	atomic_store(&qp->entry->dest_qpn, 0);
	atomic_store(&qp->entry->sender_waits, 0);
	sv_unlock(&recv_cq->lock, false);
	sv_unlock(&qp->recv_lock, false);
}

/*
 * Releases the send lock while it waits for the peer. If the peer does not get out in time, the QP is in the error
 * state, from which it can be reset again.
 */
static int reset(struct sv_qp *qp)
{
	enum ibv_qp_state before = qp->state;
	uint32_t changes = qp->changes;
	int error = 0;

	qp->state = IBV_QPS_RESET;
	qp->direct = false;
	sv_qp_publish_state(qp);
	sv_unlock(&qp->lock, false);
	bool out = sv_quiesce_qp(qp);

	pthread_mutex_lock(&sv_process.lock);
	sv_lock_control(&qp->lock);
	if (qp->changes != changes || qp->dying) {
		error = EINVAL; /* another thread changed or destroyed it meanwhile */
	} else if (out) {
		clear(qp);
	} else {
		error = EBUSY;
		qp->state = before == IBV_QPS_ERR ? IBV_QPS_ERR : IBV_QPS_INIT;
		sv_qp_publish_state(qp);
		sv_qp_fail(qp);
	}
	pthread_mutex_unlock(&sv_process.lock);
	return error;
}

/*
 * Connect now, so that the first post need not. It is no error if the peer is not there yet. It is one if the peer is
 * there and cannot be looked at: it might still write into our memory, and we could never see whether it is in the
 * middle of a copy.
 */
static int reach_peer(struct sv_qp *qp, uint32_t qpn)
{
	qp->attr.dest_qp_num = qpn;
	if (sv_qp_connect(qp) || sv_peer_is_nobody(errno) || errno == EAGAIN)
		return 0;
	qp->attr.dest_qp_num = 0;
	return errno;
}

SV_API int ibv_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask)
{
	struct sv_qp *qp = sv_qp(ibqp);
	int error = 0;

	sv_lock_control(&qp->lock);
	qp->changes++;
	if (qp->dying)
		error = EINVAL;
	if (atomic_load(&qp->entry->fault) != SV_FAULT_NONE && qp->state != IBV_QPS_RESET)
		sv_qp_fail(qp);
	enum ibv_qp_state to = mask & IBV_QP_STATE ? attr->qp_state : qp->state;

	if (!error && (mask & IBV_QP_CUR_STATE) && attr->cur_qp_state != qp->state)
		error = EINVAL;
	if (!error)
		error = check(qp, to, mask);
	if (!error)
		error = check_values(attr, mask);
	if (!error && to == IBV_QPS_RTR)
		error = sv_watch_start();
	if (!error && to == IBV_QPS_RTR && ibqp->qp_type != IBV_QPT_UD)
		error = reach_peer(qp, attr->dest_qp_num);
	if (!error) {
		if (to == IBV_QPS_RESET) {
			error = reset(qp);
		} else if (to == IBV_QPS_ERR) {
			if (qp->state == IBV_QPS_RESET)
				qp->state = IBV_QPS_INIT; /* INIT to error is the usual way */
			sv_qp_fail(qp);
		} else {
			take(qp, attr, mask);
			qp->state = to;
			sv_qp_publish_state(qp);
			if (to == IBV_QPS_RTS)
				sv_send_progress(qp, sv_now_ns());
			/* nothing is in flight between posts, so the queue is drained at once */
			if (to == IBV_QPS_SQD) {
				qp->direct = false;
				if (attr->en_sqd_async_notify && (mask & IBV_QP_EN_SQD_ASYNC_NOTIFY))
					sv_async_raise(ibqp->context, IBV_EVENT_SQ_DRAINED, qp->index, ibqp->qp_num);
			}
		}
	}
	ibqp->state = qp->state; /* changed only here and in queries, as programs expect: never by the helper */
	sv_unlock(&qp->lock, false);
	if (error)
		errno = error;
	return error;
}
