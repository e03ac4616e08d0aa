/* Asymmetric barriers (membarrier): the thread that rarely needs one executes it for all others, which need none. */
#pragma once

/*
 * Register this process. Returns 0, or errno after a line on stderr that names the cause, unless it is ENOMEM. The two
 * functions below end the process if they fail.
 */
int sv_barrier_init(void);
/* A full barrier on every running thread of this process. */
void sv_barrier_process(void);
/* The same on every running thread of every process of the host that has the device open. */
void sv_barrier_host(void);
