/* The device in this process: created when it is first opened, released with the last context and its last object. */
#pragma once
#include <infiniband/verbs.h>
#include <stdint.h>

int sv_process_open(void); /* 0 or errno */
/*
 * How many devices there are, as set by the settings. 0 with errno: the settings could not be read for lack of memory.
 */
uint32_t sv_process_devices(void);
void sv_process_close(void);
/* Count an object of this context, or no longer count it. */
void sv_context_get(struct ibv_context *context);
void sv_context_put(struct ibv_context *context);
