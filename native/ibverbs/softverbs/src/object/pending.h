/* Sends that wait in their queue. */
#pragma once
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#include "object/ah.h"
#include "object/limits.h"

/* A send that could not run at once. Copies of its elements or of its inline data follow. Its memory is reused. */
struct sv_pending {
	struct ibv_send_wr wr;
	uint64_t room; /* bytes of `data` */
	uint32_t sequence;
	bool done; /* executed, not completed */
	bool lost; /* all its tries are lost, by a fault on request */
	uint8_t status;
	uint32_t bytes;
	uint64_t due, due_complete;
	struct sv_ah ah; /* of a datagram */
	uint32_t region; /* the lkey that a window is bound to */
	struct ibv_sge sge[SV_MAX_SGE];
	uint8_t data[];
};

/* Can anything but the poll of its completion show that it was executed? */
static inline bool sv_is_seen(const struct ibv_send_wr *wr)
{
	return wr->opcode != IBV_WR_RDMA_READ;
}

/* A READ or an atomic: its answer carries data. */
static inline bool sv_is_answered(const struct ibv_send_wr *wr)
{
	return wr->opcode == IBV_WR_RDMA_READ || wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
	       wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

static inline uint64_t sv_pending_bytes(const struct sv_pending *p)
{
	uint64_t bytes = 0;

	for (int i = 0; i < p->wr.num_sge; i++)
		bytes += p->sge[i].length;
	return bytes;
}
