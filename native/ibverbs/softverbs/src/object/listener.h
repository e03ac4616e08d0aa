/* Sockets at which other processes listen. */
#pragma once
#include <sys/types.h>

/*
 * Find the user whose socket listens at this abstract name, without connecting to it. Returns 0 or errno. ENOENT: no
 * socket listens there. EOPNOTSUPP: the kernel does not report it.
 */
int sv_listener_user(const char *name, size_t length, uid_t *user);
