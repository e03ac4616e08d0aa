/* The queue pairs that wait for something. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct sv_cq;
struct sv_qp;

/* Update whether this QP waits for something. Under the send lock. */
void sv_waiting_update(struct sv_qp *qp);
/* Take a QP out of the list that waits for nothing, and has stayed in it. Under the send lock. */
void sv_waiting_rest(struct sv_qp *qp);
/*
 * The index of the first QP that waits, from this index on, or SV_QPS. Needs no lock; the QP may cease to wait
 * meanwhile.
 */
uint32_t sv_waiting_next(uint32_t from);
/* List all QPs that wait, at most SV_QPS. Under the process lock, which keeps them alive. */
unsigned sv_waiting_list(struct sv_qp **list);
/*
 * List the indices of QPs that send to this CQ and have something due by `now`, up to `max`; those that the last call
 * did not return come first. Needs no lock; the QPs may cease to wait meanwhile, or be replaced. *alone: if fewer than
 * `max` were found, nothing that belongs to another CQ waits.
 */
unsigned sv_waiting_due(struct sv_cq *cq, uint64_t now, uint32_t *list, unsigned max, bool *alone);
