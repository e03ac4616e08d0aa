/* Asynchronous events: each context has a pipe. A message names its object by an index and a check. */
#pragma once
#include <infiniband/verbs.h>
#include <stdint.h>

struct sv_async_message {
	uint32_t type;
	uint32_t index; /* of the QP, CQ or SRQ; the port */
	uint32_t check; /* QP number, CQ event, SRQ handle */
};

void sv_async_raise(struct ibv_context *context, enum ibv_event_type type, uint32_t index, uint32_t check);
