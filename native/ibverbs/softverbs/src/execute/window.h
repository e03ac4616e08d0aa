/* Binding and invalidating memory windows by work requests. */
#pragma once
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

struct sv_mw;
struct sv_qp;

int sv_mw_bind(struct sv_qp *qp, const struct ibv_send_wr *wr, uint32_t lkey);
int sv_mw_invalidate(struct sv_qp *qp, uint32_t rkey);
bool sv_mw_invalidate_remote(struct sv_qp *qp, uint32_t rkey);
/* Close the window: no later bind or invalidation finds it. Copiers may still be using it. */
void sv_mw_shut(struct sv_mw *mw);
/* Release its region. No copier uses the window any more. */
void sv_mw_release(struct sv_mw *mw);
