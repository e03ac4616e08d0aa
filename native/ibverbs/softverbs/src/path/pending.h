/* The sends of a queue pair that wait. Under its send lock. */
#pragma once
#include <infiniband/verbs.h>
#include <stddef.h>
#include <stdint.h>

#include "object/pending.h"
#include "object/qp.h"

/* Append a copy of it. Returns 0 or errno. */
int sv_pending_add(struct sv_qp *qp, const struct ibv_send_wr *wr, uint32_t sequence);
/*
 * Reserve memory for `count` more sends with up to `bytes` of inline data each, so that adding them cannot fail.
 * Returns 0 or errno.
 */
int sv_pending_reserve(struct sv_qp *qp, uint32_t count, uint64_t bytes);
void sv_pending_drop(struct sv_qp *qp);

static inline struct sv_pending *sv_pending_first(struct sv_qp *qp)
{
	return qp->pending_head != qp->pending_tail ? qp->pending[qp->pending_head & qp->pending_mask] : NULL;
}

/* Complete them all with an error. */
void sv_send_flush(struct sv_qp *qp);
/* Return to the state in which none was ever posted. */
void sv_send_reset(struct sv_qp *qp);
