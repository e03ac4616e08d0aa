/* WRITEs, with all their checks. */
#pragma once
#include <infiniband/verbs.h>

struct sv_qp;

int sv_write(struct sv_qp *qp, const struct ibv_send_wr *wr);
