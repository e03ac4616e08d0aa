/* The device in this process: made when it is first opened, gone with the last context and its last object. */
#pragma once
#include <infiniband/verbs.h>
#include <stdint.h>

int sv_process_open(void); /* 0 or errno */
/* How many devices there are: as the settings say. 0 with errno: they could not be read for lack of memory. */
uint32_t sv_process_devices(void);
void sv_process_close(void);
/* An object more, or less, of this context. */
void sv_context_get(struct ibv_context *context);
void sv_context_put(struct ibv_context *context);
