/*
 * The calls that need a descriptor, memory or a thread. Each can be made to fail on request (fault_at), as it does in a
 * process that has run out of these for a moment. No operation on memory that is mapped uses any of them.
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

/* Does this errno mean that we have run out of descriptors or memory? Such an error says nothing about a peer. */
bool sv_is_shortage(int error);
/* `setting` is CALL:N: the N-th call of that kind from now on fails, once; N is 0: none does. Returns 0 or EINVAL. */
int sv_calls_fault_at(const char *setting);
/* Write the settings whose call has not come yet, with the rest of N, each after a separator. */
void sv_calls_describe(char *text, size_t room);

/* For each kind, which call from now on fails: 1 is the next; 0: none. */
extern _Atomic uint64_t sv_calls_left[SV_CALLS];
/* Count a call. Returns whether it is the one that fails. */
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

/* All our mappings are shared mappings of files, for reading and writing. */
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

/* Write to a pipe, once. (sv_pipe leaves the pipe a page, so that the first message needs no memory.) */
static inline ssize_t sv_write_once(int pipe, const void *from, size_t bytes)
{
	return sv_call_fails(SV_CALL_WRITE, ENOMEM) ? -1 : write(pipe, from, bytes);
}

/* How often sv_write tries: the kernel looks for a page everywhere before a call fails for lack of one. */
#define SV_WRITE_TRIES 100

/* Write a message that must not get lost to a pipe: if the kernel lacks memory, the write is tried again. */
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
