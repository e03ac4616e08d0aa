/* Posting sends. */
#pragma once
#include <infiniband/verbs.h>

struct sv_qp;

int sv_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
/* The same under the send lock. */
int sv_post_send_locked(struct sv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int sv_send_check(const struct sv_qp *qp, const struct ibv_send_wr *wr);
