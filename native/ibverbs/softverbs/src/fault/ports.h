/* Faults of one device, of this process or another: what all who reach it meet. Under the caller's lock. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/*
 * The devices that the settings which follow are for: softN of this process, PID for all of another's, or PID/softN.
 * 0 or errno: ENODEV where this process has no device open, ESRCH where the other has not.
 */
int sv_port_select(const char *which);
bool sv_port_is_selected(void);
int sv_port_set(const char *key, const char *value);
/* Whoever has the selected devices takes up what was set; another process, if it runs, before this returns. */
void sv_port_apply(void);

/* FRACTION, in millionths. */
uint32_t sv_ppm(const char *fraction);
/* The time of FRACTION:NANOSECONDS. */
uint64_t sv_late_ns(const char *straggler);
