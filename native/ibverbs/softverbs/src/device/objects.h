/* What the verbs that make and destroy objects have in common. */
#pragma once
#include <infiniband/verbs.h>
#include <stdint.h>

struct sv_mr;

void sv_context_get(struct ibv_context *context);
void sv_context_put(struct ibv_context *context);
struct ibv_qp *sv_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr);
struct ibv_cq_ex *sv_create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr);

/* Keys, under the keys lock. */
int sv_mr_claim(struct sv_mr *mr);
uint32_t sv_mr_new_key(uint32_t index);
