/* The links of a queue pair to its peers. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "object/layout.h"

struct sv_link;
struct sv_qp;

/* Connect to the peer that its attributes name; false with errno, and the QP has no peer. */
bool sv_qp_connect(struct sv_qp *qp);
void sv_qp_disconnect(struct sv_qp *qp);
/* The link for a datagram to this QP; NULL: no process has it. */
struct sv_link *sv_ud_link(struct sv_qp *qp, uint32_t qpn);

/* Report that our request put the peer's QP into error. */
void sv_peer_fault(struct sv_qp *qp, enum sv_fault fault);
