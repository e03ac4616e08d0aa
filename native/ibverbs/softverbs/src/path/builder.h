/* ibv_wr_*: work requests built by calls. */
#pragma once
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

struct sv_qp;

uint64_t sv_builder_ops(enum ibv_qp_type type);
bool sv_builder_init(struct sv_qp *qp, uint64_t ops); /* false: no memory */
void sv_builder_destroy(struct sv_qp *qp);
