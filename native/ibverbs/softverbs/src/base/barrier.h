/* Asymmetric barriers: the rare side pays for the frequent one. */
#pragma once

/* Register this process; 0, or errno, after a line that says why unless it is ENOMEM. The others end the process if
 * they fail. */
int sv_barrier_init(void);
/* A full barrier on every running thread of this process. */
void sv_barrier_process(void);
/* The same on every process of the host that has the device open. */
void sv_barrier_host(void);
