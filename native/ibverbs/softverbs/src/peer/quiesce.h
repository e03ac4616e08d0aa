/* Waiting for copiers: threads of this and other processes that may still use an object that was invalidated. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct sv_qp;

/*
 * Wait until no peer and no thread of ours uses what the caller has just invalidated: a key of this domain, or this QP.
 * False: one of them did not get out in time, and the object must stay allocated, invalid. The caller holds no lock.
 */
bool sv_quiesce_domain(uint32_t pd);
bool sv_quiesce_qp(struct sv_qp *qp);
/*
 * The same for a thread that may not wait: sv_copier_now returns a token of the copier that may be at work on this QP
 * now, and sv_copier_out, called later, returns whether that copier is out. Under the send lock.
 */
uint32_t sv_copier_now(struct sv_qp *qp);
bool sv_copier_out(const struct sv_qp *qp, uint32_t copier);
