/* The queue pairs that wait for something. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct sv_cq;
struct sv_qp;

/* Is this QP waiting for something? Under the send lock. */
void sv_waiting_update(struct sv_qp *qp);
/* Take one out that waits for nothing, and has stayed in. Under the send lock. */
void sv_waiting_rest(struct sv_qp *qp);
/* The index of the first that waits from that one on, or SV_QPS. Needs no lock; the QP may cease to wait meanwhile. */
uint32_t sv_waiting_next(uint32_t from);
/* All that wait, at most SV_QPS. Under the process lock, which keeps them alive. */
unsigned sv_waiting_list(struct sv_qp **list);
/*
 * The indices of those that send to a CQ and have something due by `now`, up to `max`; those that it did not return
 * before come first. Needs no lock; they may cease to wait meanwhile, or be others. `alone`: nothing that is of another
 * CQ waits, where fewer than `max` were found.
 */
unsigned sv_waiting_due(struct sv_cq *cq, uint64_t now, uint32_t *list, unsigned max, bool *alone);
