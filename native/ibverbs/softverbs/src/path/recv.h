/* Messages: posting receives, and what a sender does with them. */
#pragma once
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

struct sv_qp;
struct sv_segment;
struct sv_target;

int sv_deliver(struct sv_qp *qp, const struct ibv_send_wr *wr, uint32_t bytes);
int sv_deliver_datagram(struct sv_qp *qp, const struct ibv_send_wr *wr, uint32_t bytes);
bool sv_target_init(struct sv_target *target, struct sv_segment *segment, uint32_t qpn);
int sv_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
void sv_recv_wake_sender(struct sv_qp *qp);
