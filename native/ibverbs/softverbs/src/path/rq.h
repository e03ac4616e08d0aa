/* Receive queues, and posting to them. */
#pragma once
#include <infiniband/verbs.h>
#include <stdint.h>

struct sv_rq;
struct sv_rq_entry;
struct sv_srq;

int sv_rq_init(struct sv_rq *rq, struct sv_rq_entry *entry, uint32_t max_wr, uint32_t max_sge);
void sv_rq_destroy(struct sv_rq *rq);
int sv_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
int sv_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
/* Raise the event of a limit that a sender found reached. */
void sv_srq_look(struct sv_srq *srq);
