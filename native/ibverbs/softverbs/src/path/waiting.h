/* The queue pairs that wait for something. */
#pragma once
struct sv_cq;
struct sv_qp;

/* Is this QP waiting for something? Under the send lock. */
void sv_waiting_update(struct sv_qp *qp);
/*
 * The QPs that wait, up to `max`, of one send CQ or of all; those that it did not return before come first. Under the
 * process lock, which keeps them alive.
 */
unsigned sv_waiting_list(const struct sv_cq *cq, struct sv_qp **list, unsigned max);
