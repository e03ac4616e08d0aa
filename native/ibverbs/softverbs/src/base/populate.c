/*
 * A first touch through a second mapping costs more than the copy, so a mapping is populated; but not by MAP_POPULATE,
 * which would take as long as that takes, a second for gigabytes, under the lock that keeps others from mapping the
 * same.
 */
#include "base/populate.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

/* Each call keeps threads of this process from mapping memory. A multiple of all pages but the largest huge ones. */
#define PIECE (4ull << 20)

#define PAGE 4096u
#define ELEMENTS 512

/* Before Linux 5.14: the kernel reads a byte of each page, and a page that cannot be had is an error and no SIGBUS. */
static void read_each(uint8_t *at, size_t bytes)
{
	struct iovec from[ELEMENTS];
	uint8_t sink[ELEMENTS];

	for (size_t done = 0; done < bytes;) {
		size_t count = 0;

		for (; count < ELEMENTS && done < bytes; count++, done += PAGE)
			from[count] = (struct iovec){at + done, 1};
		const struct iovec to = {sink, count};

		if (process_vm_readv(getpid(), &to, 1, from, count, 0) != (ssize_t)count)
			return;
	}
}

void sv_populate(void *at, size_t bytes)
{
	uint8_t *from = at;

	/* reading is enough: a page of a shared mapping that may be written is mapped to be written */
	for (size_t done = 0; done < bytes; done += PIECE) {
		size_t piece = bytes - done < PIECE ? bytes - done : PIECE;

		if (madvise(from + done, piece, MADV_POPULATE_READ) == 0)
			continue;
		if (errno == EINVAL)
			read_each(from + done, bytes - done);
		return;
	}
}
