/* Trying one send. */
#pragma once
#include <infiniband/verbs.h>
#include <stdint.h>

struct sv_qp;

/* Execute one WR now: a status, or a reason to wait. */
int sv_send_try(struct sv_qp *qp, const struct ibv_send_wr *wr, uint32_t *bytes);
