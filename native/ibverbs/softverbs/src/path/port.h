/* The faults of this process's devices, which are set on request. */
#pragma once
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

/* Update all queue pairs to the settings and to the faults of their ports, as they are now. */
void sv_qps_update(void);
/*
 * Take up the faults that this or another process has set since the last call. Called by the helper, and by the thread
 * that set them here.
 */
void sv_ports_follow(void);
/* Raise this event in every context. */
void sv_port_tell(enum ibv_event_type type);
