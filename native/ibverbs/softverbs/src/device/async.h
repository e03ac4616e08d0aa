/* Asynchronous events. */
#pragma once
#include <infiniband/verbs.h>
#include <stdint.h>

void sv_async_raise(struct ibv_context *context, enum ibv_event_type type, uint32_t index, uint32_t check);
