/* The state of a queue pair, as it and its peers see it. */
#pragma once
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

struct sv_qp;

/* Move the QP to the error state. Under the send lock. */
void sv_qp_fail(struct sv_qp *qp);
/* Finish what sv_qp_fail began, if the peer is out; false: not yet. */
bool sv_qp_fail_finish(struct sv_qp *qp);
void sv_qp_update_direct(struct sv_qp *qp);
void sv_qp_publish_state(struct sv_qp *qp);
/* Close the gate: no peer's request is taken from here on, though the published state says so only a moment later. */
void sv_qp_shut(struct sv_qp *qp);

/* Complete a send that failed, and move its QP to the state that follows. */
void sv_send_fail(struct sv_qp *qp, const struct ibv_send_wr *wr, int status, uint32_t sequence);
