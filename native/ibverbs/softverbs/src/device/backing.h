/* Finding what backs a range of our memory. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "object/layout.h"

struct sv_files;

struct sv_backing {
	enum sv_mr_kind kind;
	int fd; /* the descriptor of its file for peers, or -1 */
	uint64_t ino;
	uint64_t offset;
	struct sv_files *files; /* the files that it holds, for sv_files_release; NULL: none */
};

/*
 * Find what backs this range, and hold its files. Returns 0 or errno. EFAULT: part of the range is not mapped, or not
 * writable if `write` asks for that. EINVAL: part of it is a file that peers may map, and the range is not in one
 * mapping of that file, or the file is registered as private memory already. EMFILE, ENFILE, ENOMEM: we cannot find
 * out.
 */
int sv_backing_find(const void *addr, size_t length, bool write, struct sv_backing *backing);
