/* Receive queues, of queue pairs and shared ones. */
#pragma once
#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdint.h>

#include "base/lock.h"
#include "base/macros.h"
#include "object/layout.h"

struct sv_rq {
	struct sv_rq_entry *entry;
	uint8_t *wqes;
	size_t bytes;
	uint32_t max_wr, max_sge, stride, mask;
	_Atomic uint32_t polled; /* receives whose completion was polled */
};

struct sv_srq {
	struct ibv_srq srq;
	struct sv_lock lock;
	struct sv_rq rq;
	uint32_t index;
	_Atomic unsigned users;
	uint32_t async_reported;
};

static inline struct sv_srq *sv_srq(struct ibv_srq *srq)
{
	return container_of(srq, struct sv_srq, srq);
}
