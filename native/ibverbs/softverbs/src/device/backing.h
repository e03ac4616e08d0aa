/* What backs a range of our memory. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "object/layout.h"

struct sv_files;

struct sv_backing {
	enum sv_mr_kind kind;
	int fd; /* of the files that it holds, or -1 */
	uint64_t ino;
	uint64_t offset;
	struct sv_files *files; /* for sv_files_release; NULL: none */
};

/*
 * 0 or errno. EFAULT: part of the range is not mapped, or not writable if that is needed. EINVAL: part of it is a file
 * that peers may map, and the whole is not one mapping of it, or it is registered as the other kind already. EMFILE,
 * ENFILE, ENOMEM: we cannot tell what it is.
 */
int sv_backing_find(const void *addr, size_t length, bool write, struct sv_backing *backing);
