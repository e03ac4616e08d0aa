/*
 * The first touch of a page through a second mapping costs more than the copy, so mappings are populated. MAP_POPULATE
 * would do so inside mmap, which takes up to a second for gigabytes, under the lock that keeps other threads from
 * mapping the same region.
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

/*
 * While a call runs, no thread of this process can map memory, so a mapping is populated in pieces. A multiple of all
 * page sizes but the largest huge pages.
 */
#define PIECE (4ull << 20)

#define PAGE 4096u
#define ELEMENTS 512

/*
 * For kernels before 5.14: the kernel reads a byte of each page for us; a page that cannot be had is an error, not a
 * SIGBUS.
 */
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

	/* populating for reading is enough: a page of a shared writable mapping is mapped writable */
	for (size_t done = 0; done < bytes; done += PIECE) {
		size_t piece = bytes - done < PIECE ? bytes - done : PIECE;

		if (madvise(from + done, piece, MADV_POPULATE_READ) == 0)
			continue;
		if (errno == EINVAL)
			read_each(from + done, bytes - done);
		return;
	}
}
