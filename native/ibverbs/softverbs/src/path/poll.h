/* Polling: how completions leave a queue. */
#pragma once
#include <infiniband/verbs.h>

struct sv_cq;
struct sv_qp;

int sv_poll_cq(struct ibv_cq *cq, int entries, struct ibv_wc *wc);
int sv_poll_locked(struct sv_cq *cq, int entries, struct ibv_wc *wc);
void sv_cq_retry_stalled(struct sv_cq *cq);
/* What arrived on a QP that is reset or goes away is polled no more: an SRQ gets its places back. Nobody sends to it
 * any more; under the lock of the CQ that it receives into. */
void sv_receives_drop(struct sv_qp *qp);
int sv_req_notify_cq(struct ibv_cq *cq, int solicited_only);
/* The functions of an extended CQ. */
void sv_cq_ex_init(struct ibv_cq_ex *cq);
