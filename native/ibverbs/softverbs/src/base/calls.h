/*
 * The calls that need a descriptor, memory or a thread, each of which may be made to fail on request (fault_at), as one
 * does in a process that has run out of these for a moment. None of them is on the path of an operation on memory that
 * is mapped.
 */
#pragma once
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/macros.h"

enum sv_call {
	SV_CALL_OPEN,
	SV_CALL_OPENAT,
	SV_CALL_MMAP,
	SV_CALL_DUP,
	SV_CALL_PIPE,
	SV_CALL_SOCKET,
	SV_CALL_ACCEPT,
	SV_CALL_MEMFD,
	SV_CALL_EPOLL,
	SV_CALL_MEMBARRIER,
	SV_CALL_PREAD,
	SV_CALL_PWRITE,
	SV_CALL_WRITE,
	SV_CALL_MALLOC,
	SV_CALL_THREAD,
	SV_CALLS
};

/* Have we run out of descriptors or memory? That says nothing of a peer. */
bool sv_is_shortage(int error);
/* CALL:N: of the calls of that kind from now on the N-th fails, once; 0: none. 0, or EINVAL. */
int sv_calls_fault_at(const char *setting);
/* The settings whose call has not come yet, with what is left of N; each after a separator. */
void sv_calls_describe(char *text, size_t room);

/* Of each kind, how many calls from now on the one is that fails; 0: none does. */
extern _Atomic uint64_t sv_calls_left[SV_CALLS];
/* Count one. Is it the one that fails? */
bool sv_call_counts(enum sv_call call);

static inline bool sv_call_fails(enum sv_call call, int error)
{
	if (likely(!atomic_load_explicit(&sv_calls_left[call], memory_order_relaxed)) || !sv_call_counts(call))
		return false;
	errno = error;
	return true;
}

static inline int sv_open(const char *path, int flags)
{
	return sv_call_fails(SV_CALL_OPEN, EMFILE) ? -1 : open(path, flags | O_CLOEXEC);
}

static inline FILE *sv_fopen(const char *path)
{
	return sv_call_fails(SV_CALL_OPEN, EMFILE) ? NULL : fopen(path, "re");
}

static inline DIR *sv_opendir(const char *path)
{
	return sv_call_fails(SV_CALL_OPEN, EMFILE) ? NULL : opendir(path);
}

static inline int sv_openat(int dir, const char *name, int flags)
{
	return sv_call_fails(SV_CALL_OPENAT, EMFILE) ? -1 : openat(dir, name, flags | O_CLOEXEC);
}

/* All of ours are of files, and read and written. */
static inline void *sv_mmap(size_t bytes, int flags, int fd, uint64_t offset)
{
	return sv_call_fails(SV_CALL_MMAP, ENOMEM)
	           ? MAP_FAILED
	           : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | flags, fd, (off_t)offset);
}

static inline int sv_dup(int fd)
{
	return sv_call_fails(SV_CALL_DUP, EMFILE) ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

static inline int sv_pipe2(int fds[2], int flags)
{
	return sv_call_fails(SV_CALL_PIPE, EMFILE) ? -1 : pipe2(fds, flags);
}

static inline int sv_socket(void)
{
	return sv_call_fails(SV_CALL_SOCKET, EMFILE) ? -1 : socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

static inline int sv_diagnosis_socket(void)
{
	return sv_call_fails(SV_CALL_SOCKET, EMFILE) ? -1 : socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
}

static inline int sv_accept(int listener)
{
	return sv_call_fails(SV_CALL_ACCEPT, EMFILE) ? -1 : accept4(listener, NULL, NULL, SOCK_CLOEXEC);
}

static inline int sv_memfd_create(const char *name, unsigned flags)
{
	return sv_call_fails(SV_CALL_MEMFD, EMFILE) ? -1 : memfd_create(name, flags | MFD_CLOEXEC);
}

static inline int sv_epoll_create(void)
{
	return sv_call_fails(SV_CALL_EPOLL, EMFILE) ? -1 : epoll_create1(EPOLL_CLOEXEC);
}

static inline int sv_epoll_add(int epoll, int fd, struct epoll_event *event)
{
	return sv_call_fails(SV_CALL_EPOLL, ENOMEM) ? -1 : epoll_ctl(epoll, EPOLL_CTL_ADD, fd, event);
}

static inline int sv_membarrier(int command)
{
	return sv_call_fails(SV_CALL_MEMBARRIER, ENOMEM) ? -1 : (int)syscall(SYS_membarrier, command, 0, 0);
}

static inline ssize_t sv_pread(int fd, void *to, size_t bytes, uint64_t at)
{
	return sv_call_fails(SV_CALL_PREAD, ENOMEM) ? -1 : pread(fd, to, bytes, (off_t)at);
}

static inline ssize_t sv_pwritev(int fd, const struct iovec *from, int count, uint64_t at)
{
	return sv_call_fails(SV_CALL_PWRITE, ENOMEM) ? -1 : pwritev(fd, from, count, (off_t)at);
}

/* To a pipe. (sv_pipe leaves it a page, so that the first message needs none.) */
static inline ssize_t sv_write_once(int pipe, const void *from, size_t bytes)
{
	return sv_call_fails(SV_CALL_WRITE, ENOMEM) ? -1 : write(pipe, from, bytes);
}

/* How often it is written again: a call that gets no page has looked for one everywhere. */
#define SV_WRITE_TRIES 100

/* To a pipe, of what would get lost: for lack of memory it is written again. */
static inline ssize_t sv_write(int pipe, const void *from, size_t bytes)
{
	ssize_t n = -1;

	for (int i = 0; i < SV_WRITE_TRIES && n < 0; i++) {
		n = sv_write_once(pipe, from, bytes);
		if (n < 0 && errno != ENOMEM && errno != EINTR)
			break;
	}
	return n;
}

static inline void *sv_malloc(size_t bytes)
{
	return sv_call_fails(SV_CALL_MALLOC, ENOMEM) ? NULL : malloc(bytes);
}

static inline void *sv_calloc(size_t count, size_t bytes)
{
	return sv_call_fails(SV_CALL_MALLOC, ENOMEM) ? NULL : calloc(count, bytes);
}

static inline void *sv_realloc(void *at, size_t bytes)
{
	return sv_call_fails(SV_CALL_MALLOC, ENOMEM) ? NULL : realloc(at, bytes);
}

static inline char *sv_strdup(const char *text)
{
	return sv_call_fails(SV_CALL_MALLOC, ENOMEM) ? NULL : strdup(text);
}

static inline DIR *sv_fdopendir(int fd)
{
	return sv_call_fails(SV_CALL_MALLOC, ENOMEM) ? NULL : fdopendir(fd);
}

/* 0 or an errno, as pthread_create. */
static inline int sv_thread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*body)(void *))
{
	return sv_call_fails(SV_CALL_THREAD, EAGAIN) ? EAGAIN : pthread_create(thread, attr, body, NULL);
}
