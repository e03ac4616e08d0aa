/* Pipes: what events come through. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* Closed by exec, written without waiting; its inode tells it from another one with its number. 0 or errno. */
int sv_pipe(int fds[2], bool nonblocking_read, uint64_t *ino);
