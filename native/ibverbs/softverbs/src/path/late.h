/* Sends that do not execute in their post. Under the send lock. */
#pragma once
#include <stdint.h>

struct sv_qp;

/* Execute what is due `now`, in ns: IBV_WC_SUCCESS, or the reason to wait if the oldest cannot run. */
int sv_delay_run(struct sv_qp *qp, uint64_t now);
/* Publish when something of this QP is due next, and when something that its peer will see. */
void sv_delay_publish(struct sv_qp *qp);
