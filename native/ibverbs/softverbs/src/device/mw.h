/* Memory windows. */
#pragma once
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

struct sv_qp;

struct ibv_mw *sv_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type);
int sv_dealloc_mw(struct ibv_mw *mw);
int sv_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind);
int sv_mw_bind(struct sv_qp *qp, const struct ibv_send_wr *wr, uint32_t lkey);
int sv_mw_invalidate(struct sv_qp *qp, uint32_t rkey);
bool sv_mw_invalidate_remote(struct sv_qp *qp, uint32_t rkey);
