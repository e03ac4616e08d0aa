/*
 * The files whose shared mappings are registered. A file is of one kind, shared or private, for as long as memory of it
 * is registered. One that peers may map has one descriptor, however many regions it has.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct sv_files; /* the files that one region holds */

/* A file, as /proc/self/maps names it. */
struct sv_file_name {
	dev_t dev;
	uint64_t ino;
};

/*
 * Hold these files. Returns 0 or errno. EINVAL: peers could map one of them when it was registered first and cannot
 * now, or the other way round. EMFILE, ENFILE, ENOMEM: we lack a descriptor or memory to find out, or to hold it.
 */
int sv_files_hold(const struct sv_file_name *names, size_t count, struct sv_files **held);
/* The descriptor of ours through which peers open the file; -1: they may not map it. */
int sv_files_descriptor(const struct sv_files *held, size_t index);
/* Release them. NULL: nothing is held. */
void sv_files_release(struct sv_files *held);
/* In the child of a fork: all of them belong to the parent. */
void sv_files_after_fork(void);
