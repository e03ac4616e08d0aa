/* Populating a mapping: its pages are there before they are touched. */
#pragma once
#include <stddef.h>

/*
 * Populate a shared mapping of a file. A page that the kernel does not give is left to its first touch. This takes
 * long: call it under no lock.
 */
void sv_populate(void *at, size_t bytes);
