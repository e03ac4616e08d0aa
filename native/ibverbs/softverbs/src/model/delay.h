/* Operations that do not execute in their post. */
#pragma once
#include <infiniband/verbs.h>
#include <stdint.h>

struct sv_pending;
struct sv_qp;


/* Decide when this operation, just queued, is to happen. */
void sv_delay_start(struct sv_qp *qp, struct sv_pending *p);
int sv_delay_run(struct sv_qp *qp);
void sv_delay_publish(struct sv_qp *qp);
/* Execute one WR now: a status, or a reason to wait. (send.c) */
int sv_send_try(struct sv_qp *qp, const struct ibv_send_wr *wr, uint32_t *bytes);
