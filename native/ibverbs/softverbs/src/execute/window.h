/* Memory windows, as work requests bind and invalidate them. */
#pragma once
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

struct sv_mw;
struct sv_qp;

int sv_mw_bind(struct sv_qp *qp, const struct ibv_send_wr *wr, uint32_t lkey);
int sv_mw_invalidate(struct sv_qp *qp, uint32_t rkey);
bool sv_mw_invalidate_remote(struct sv_qp *qp, uint32_t rkey);
/* From here on no bind or invalidation finds it; copiers may still be in the middle of using it. */
void sv_mw_shut(struct sv_mw *mw);
/* Nobody copies through it any more: its region is free of it. */
void sv_mw_release(struct sv_mw *mw);
