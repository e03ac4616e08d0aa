/* The queue pairs that wait for something. */
#pragma once
#include <stdint.h>

struct sv_cq;
struct sv_qp;

/* Is this QP waiting for something? Under the send lock. */
void sv_waiting_update(struct sv_qp *qp);
/* The index of the first that waits from that one on, or SV_QPS. Needs no lock; the QP may cease to wait meanwhile. */
uint32_t sv_waiting_next(uint32_t from);
/*
 * The QPs that wait, up to `max`, of one send CQ or of all; those that it did not return before come first. Under the
 * process lock, which keeps them alive.
 */
unsigned sv_waiting_list(struct sv_cq *cq, struct sv_qp **list, unsigned max);
