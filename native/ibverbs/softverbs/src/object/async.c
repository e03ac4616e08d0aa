#include "base/calls.h"
#include "object/async.h"
#include "object/context.h"

void sv_async_raise(struct ibv_context *context, enum ibv_event_type type, uint32_t index, uint32_t check)
{
	struct sv_async_message message = {type, index, check};

	if (sv_write(sv_context(context)->async_write, &message, sizeof(message)) < 0) {
		/* the pipe is full: the program does not read the events of this context */
	}
}
