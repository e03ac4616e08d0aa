/* The clock that all times in this library are of: nanoseconds, monotonic. */
#pragma once
#include <stdint.h>

uint64_t sv_now_ns(void);
