/* Faults of one device, of this process or another, which all processes that reach it meet. Under the caller's lock. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/*
 * Select the devices to which the following settings apply: softN of this process, PID for all devices of another
 * process, or PID/softN. Returns 0 or errno. ENODEV: this process has no device open; ESRCH: the other has none.
 */
int sv_port_select(const char *which);
bool sv_port_is_selected(void);
int sv_port_set(const char *key, const char *value);
/*
 * Make the process that has the selected devices take up what was set; if it is another process that runs, it has done
 * so when this returns.
 */
void sv_port_apply(void);

/* FRACTION, in millionths. */
uint32_t sv_ppm(const char *fraction);
/* The time in FRACTION:NANOSECONDS. */
uint64_t sv_late_ns(const char *straggler);
