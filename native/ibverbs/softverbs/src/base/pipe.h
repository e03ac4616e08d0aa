/* Pipes, through which events come. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/*
 * Create a pipe: close-on-exec, its writing end non-blocking. *ino is its inode, which tells it from another pipe with
 * the same descriptor number. Returns 0 or errno.
 */
int sv_pipe(int fds[2], bool nonblocking_read, uint64_t *ino);
