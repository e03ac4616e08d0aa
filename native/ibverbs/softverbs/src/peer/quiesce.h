/* Waiting until nobody copies any more. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct sv_qp;

/*
 * Wait until no peer and no thread of ours still uses what was just made dead: a key of this domain, this QP. False:
 * one of them did not get out in time, and what is dead must stay where it is. Holding no lock.
 */
bool sv_quiesce_domain(uint32_t pd);
bool sv_quiesce_qp(struct sv_qp *qp);
/* The same for a thread that may not wait: the copier that may be at work on this QP now; later, whether it is out.
 * Under the send lock. */
uint32_t sv_copier_now(struct sv_qp *qp);
bool sv_copier_out(const struct sv_qp *qp, uint32_t copier);
