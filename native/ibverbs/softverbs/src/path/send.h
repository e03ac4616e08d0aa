/* Posting sends, and those that wait. */
#pragma once
#include <infiniband/verbs.h>
#include <stdint.h>

struct sv_qp;

int sv_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
/* The same under the send lock. */
int sv_post_send_locked(struct sv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int sv_send_check(const struct sv_qp *qp, const struct ibv_send_wr *wr);
/* Run waiting sends; under the send lock. */
void sv_send_progress(struct sv_qp *qp);
void sv_send_flush(struct sv_qp *qp);
/* READs and atomics that wait. */
uint32_t sv_send_answers_awaited(const struct sv_qp *qp);
void sv_send_reset(struct sv_qp *qp);
