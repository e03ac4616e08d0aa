/* When an operation that does not execute in its post is due. */
#pragma once

struct sv_pending;
struct sv_qp;

/* Decide when this operation, about to be queued, is to happen. */
void sv_delay_start(struct sv_qp *qp, struct sv_pending *p);
