/* What backs a range of our memory. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "object/layout.h"

struct sv_backing {
	enum sv_mr_kind kind;
	int fd; /* a dup, or -1 */
	uint64_t ino;
	uint64_t offset;
};

/* 0 or errno: EFAULT if part of the range is not mapped, or not writable where that is needed. */
int sv_backing_find(const void *addr, size_t length, bool write, struct sv_backing *backing);
