/* Making completion queues. */
#pragma once
#include <infiniband/verbs.h>

struct ibv_cq_ex *sv_create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr);
