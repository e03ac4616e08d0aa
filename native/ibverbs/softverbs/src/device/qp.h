/* Making queue pairs. */
#pragma once
#include <infiniband/verbs.h>

struct ibv_qp *sv_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr);
