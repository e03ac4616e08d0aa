/* Completions: how they get into a queue. */
#pragma once
#include <stdbool.h>

struct sv_cq;
struct sv_qp;

void sv_cq_attach(struct sv_cq *cq, struct sv_qp *qp);
void sv_cq_detach(struct sv_cq *cq, struct sv_qp *qp);
/* Drop this QP's completions. */
void sv_cq_forget(struct sv_cq *cq, struct sv_qp *qp);
void sv_cq_notify(struct sv_cq *cq, bool solicited);
/* Receives were flushed without a sender: make the next poll look, and notify. */
void sv_cq_flush_arrived(struct sv_cq *cq);
/* It is of no use any more; the helper fails its QPs. Outside its lock. */
void sv_cq_overrun(struct sv_cq *cq);
/* The QPs of CQs that were overrun are at fault. Under the process lock. */
void sv_cq_fail_users(void);
