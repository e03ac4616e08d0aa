/* Having the pages of a mapping there before they are touched. */
#pragma once
#include <stddef.h>

/* Of a shared mapping of a file. What cannot be had is left to the touch. It takes long: under no lock. */
void sv_populate(void *at, size_t bytes);
