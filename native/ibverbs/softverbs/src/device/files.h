/*
 * The files whose shared mappings are registered. Each has one kind for as long as memory of it is registered, and one
 * that peers may map has one descriptor, however many regions it has.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct sv_files; /* what one region holds */

/* A file, as a mapping names it. */
struct sv_file_name {
	dev_t dev;
	uint64_t ino;
};

/*
 * Hold these files; 0 or errno. EINVAL: one of them could be mapped by peers when it was registered first and cannot
 * now, or the other way round. EMFILE, ENFILE, ENOMEM: there is no descriptor, or no memory, to find out or to keep it.
 */
int sv_files_hold(const struct sv_file_name *names, size_t count, struct sv_files **held);
/* A descriptor of ours through which peers open the file; -1: they may not map it. */
int sv_files_descriptor(const struct sv_files *held, size_t index);
/* NULL: nothing is held. */
void sv_files_release(struct sv_files *held);
/* In the child of a fork: all of them are the parent's. */
void sv_files_after_fork(void);
