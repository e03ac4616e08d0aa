#include "base/barrier.h"
#include "base/calls.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int sv_barrier_init(void)
{
	if (sv_membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0 &&
	    sv_membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) == 0)
		return 0;
	int error = errno;

	if (error == ENOMEM)
		return error; /* a shortage passes: the device can be opened later */
	fprintf(stderr, "softverbs: membarrier is refused (%s): %s\n", strerror(error),
	    error == EPERM ? "a seccomp filter of this process or container has to allow it"
	                   : "Linux 4.16 or newer is needed, and a seccomp filter that allows it");
	return error;
}

/*
 * Other processes rely on these barriers: a process that continued without them could write into memory that they have
 * taken back.
 */
static void must(int command)
{
	while (sv_membarrier(command)) {
		if (errno != ENOMEM) {
			fprintf(stderr,
			    "softverbs: membarrier fails (%s) since the device was opened, by a seccomp filter perhaps: this "
			    "process ends\n",
			    strerror(errno));
			abort();
		}
		sched_yield();
	}
}

void sv_barrier_process(void)
{
	must(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}

void sv_barrier_host(void)
{
	must(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
}
