/* The one clock of all times. */
#pragma once
#include <stdint.h>

uint64_t sv_now_ns(void);
