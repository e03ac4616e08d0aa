/*
 * Asynchronous events: the calls by which a program gets and acknowledges them. Messages about objects that are gone
 * are skipped.
 */
#include "base/macros.h"
#include "object/async.h"
#include "object/cq.h"
#include "object/layout.h"
#include "object/process.h"
#include "object/qp.h"
#include "object/srq.h"

#include <unistd.h>

static bool fill(struct ibv_async_event *event, const struct sv_async_message *m)
{
	struct sv_qp *qp;
	struct sv_cq *cq;
	struct sv_srq *srq;

	event->event_type = m->type;
	switch (m->type) {
	case IBV_EVENT_CQ_ERR:
		cq = sv_process.cqs[m->index % SV_CQS];
		if (!cq || cq->entry->event != m->check)
			return false;
		cq->async_reported++;
		event->element.cq = &cq->cq;
		return true;
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		qp = sv_process.qps[m->index % SV_QPS];
		if (!qp || qp->qp.qp_num != m->check)
			return false;
		qp->async_reported++;
		event->element.qp = &qp->qp;
		return true;
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		srq = sv_process.srqs[m->index % SV_SRQS];
		if (!srq || srq->srq.handle != m->check)
			return false;
		srq->async_reported++;
		event->element.srq = &srq->srq;
		return true;
	default:
		event->element.port_num = (int)m->index;
		return true;
	}
}

SV_API int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	for (;;) {
		struct sv_async_message message;

		if (read(context->async_fd, &message, sizeof(message)) != sizeof(message))
			return -1;
		pthread_mutex_lock(&sv_process.lock);
		bool known = fill(event, &message);
		pthread_mutex_unlock(&sv_process.lock);
		if (known)
			return 0;
	}
}

static void acknowledge(pthread_mutex_t *mutex, pthread_cond_t *cond, uint32_t *completed)
{
	pthread_mutex_lock(mutex);
	++*completed;
	pthread_cond_signal(cond);
	pthread_mutex_unlock(mutex);
}

SV_API void ibv_ack_async_event(struct ibv_async_event *event)
{
	switch (event->event_type) {
	case IBV_EVENT_CQ_ERR: {
		struct ibv_cq *cq = event->element.cq;

		acknowledge(&cq->mutex, &cq->cond, &cq->async_events_completed);
		return;
	}
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_QP_LAST_WQE_REACHED: {
		struct ibv_qp *qp = event->element.qp;

		acknowledge(&qp->mutex, &qp->cond, &qp->events_completed);
		return;
	}
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_SRQ_LIMIT_REACHED: {
		struct ibv_srq *srq = event->element.srq;

		acknowledge(&srq->mutex, &srq->cond, &srq->events_completed);
		return;
	}
	default:
		return;
	}
}
