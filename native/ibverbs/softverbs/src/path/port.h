/* What is the matter with this process's devices, on request. */
#pragma once
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

/* All queue pairs take up what the settings, and the faults of their ports, are now. */
void sv_qps_update(void);
/* Follow what somebody, perhaps another process, has set since. For the helper, and for who set it here. */
void sv_ports_follow(void);
/* Tell every context, or those of one device. */
void sv_port_tell(enum ibv_event_type type);
