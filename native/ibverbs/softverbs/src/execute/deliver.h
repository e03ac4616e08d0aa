/* Delivering messages, which their sender does. */
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
