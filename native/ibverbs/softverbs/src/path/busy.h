/* What says that this queue pair is at work. */
#pragma once
#include <stdatomic.h>
#include <stdint.h>

#include "base/macros.h"
#include "object/layout.h"
#include "object/qp.h"

/* Odd while we use our own regions. */
static inline void sv_busy(struct sv_qp *qp)
{
	atomic_store_explicit(&qp->entry->busy, ++qp->turn, memory_order_release);
	atomic_signal_fence(memory_order_seq_cst);
}

/* Between these two the peer and our own dereg wait for us. */
SV_INLINE void sv_enter(struct sv_qp *qp)
{
	uint32_t turn = qp->turn + 1;

	/* with the look at the peer's state or gate that follows: see quiesce.c */
	atomic_store_explicit(&qp->entry->busy, turn, memory_order_release);
	atomic_signal_fence(memory_order_seq_cst);
}

SV_INLINE void sv_leave(struct sv_qp *qp)
{
	uint32_t turn = qp->turn + 2;

	atomic_store_explicit(&qp->entry->busy, turn, memory_order_release);
	qp->turn = turn;
}
