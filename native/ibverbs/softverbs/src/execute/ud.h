/* Datagrams. */
#pragma once
#include <infiniband/verbs.h>
#include <stdint.h>

struct sv_qp;

/* As sv_execute, for UD: the sender never learns what goes wrong at the other end. */
int sv_execute_ud(struct sv_qp *qp, const struct ibv_send_wr *wr, uint32_t *bytes);
