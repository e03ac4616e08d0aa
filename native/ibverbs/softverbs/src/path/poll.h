/* How completions leave a queue. */
#pragma once
#include <infiniband/verbs.h>

struct sv_cq;
struct sv_qp;

int sv_poll_cq(struct ibv_cq *cq, int entries, struct ibv_wc *wc);
int sv_poll_locked(struct sv_cq *cq, int entries, struct ibv_wc *wc);
void sv_cq_retry_stalled(struct sv_cq *cq);
/*
 * Drop the messages that arrived on a QP that is reset or destroyed and were not polled: an SRQ gets their places back.
 * No peer sends to the QP any more. Under the lock of its receive CQ.
 */
void sv_receives_drop(struct sv_qp *qp);
int sv_req_notify_cq(struct ibv_cq *cq, int solicited_only);
/* The functions of an extended CQ. */
void sv_cq_ex_init(struct ibv_cq_ex *cq);
