/*
 * Versions of glibc's symbols that older systems have too than the one that builds: from glibc 2.27 on. Included ahead
 * of all that is shipped. glibc 2.34 took libpthread and libdl into libc and gave their functions a new version there;
 * it has the old ones too. Before it they are looked for in their own libraries: see old_library.c.
 */
#pragma once

#define FARHEAP_LIBDL(X) X(dlclose, 2.2.5) X(dlerror, 2.2.5) X(dlopen, 2.2.5) X(dlsym, 2.2.5)

#define FARHEAP_LIBPTHREAD(X) \
	X(pthread_attr_setstacksize, 2.2.5) \
	X(pthread_create, 2.2.5) \
	X(pthread_join, 2.2.5) \
	X(pthread_mutex_trylock, 2.2.5) \
	X(pthread_mutexattr_destroy, 2.2.5) \
	X(pthread_mutexattr_init, 2.2.5) \
	X(pthread_mutexattr_settype, 2.2.5) \
	X(pthread_once, 2.2.5) \
	X(pthread_setname_np, 2.12) \
	X(pthread_sigmask, 2.2.5)

#ifndef FARHEAP_OLD_LIBRARY
#define FARHEAP_OLD(name, version) __asm__(".symver " #name "," #name "@GLIBC_" #version);
FARHEAP_LIBDL(FARHEAP_OLD)
FARHEAP_LIBPTHREAD(FARHEAP_OLD)
#undef FARHEAP_OLD

#ifndef __cplusplus
/* Before glibc 2.33 these were inline functions, over what is called here. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sys/stat.h>
int __fxstat(int version, int fd, struct stat *status);
int __fxstatat(int version, int directory, const char *name, struct stat *status, int flags);
#define FARHEAP_STAT_VERSION 1
#define fstat(fd, status) __fxstat(FARHEAP_STAT_VERSION, fd, status)
#define fstatat(directory, name, status, flags) __fxstatat(FARHEAP_STAT_VERSION, directory, name, status, flags)
#endif
#endif
