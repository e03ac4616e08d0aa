/* Marking this queue pair as at work: its shared word `busy` is odd meanwhile (quiesce.c). */
#pragma once
#include <stdatomic.h>
#include <stdint.h>

#include "base/macros.h"
#include "object/layout.h"
#include "object/qp.h"

/* Make `busy` odd while our own regions are used. */
static inline void sv_busy(struct sv_qp *qp)
{
	atomic_store_explicit(&qp->entry->busy, ++qp->turn, memory_order_release);
	atomic_signal_fence(memory_order_seq_cst);
}

/* Between sv_enter and sv_leave the peer, and our own deregistration, wait for us. */
SV_INLINE void sv_enter(struct sv_qp *qp)
{
	uint32_t turn = qp->turn + 1;

	/* this store pairs with the load of the peer's state or gate that follows: see quiesce.c */
	atomic_store_explicit(&qp->entry->busy, turn, memory_order_release);
	atomic_signal_fence(memory_order_seq_cst);
}

SV_INLINE void sv_leave(struct sv_qp *qp)
{
	uint32_t turn = qp->turn + 2;

	atomic_store_explicit(&qp->entry->busy, turn, memory_order_release);
	qp->turn = turn;
}
