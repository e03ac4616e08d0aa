/* Sockets that others listen at. */
#pragma once
#include <sys/types.h>

/*
 * Whose the socket is that listens at this abstract name, without a call to it: 0 or errno, ENOENT if there is none.
 * EOPNOTSUPP: the kernel does not tell.
 */
int sv_listener_user(const char *name, size_t length, uid_t *user);
