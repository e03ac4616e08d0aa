#include "base/barrier.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

static int membarrier(int command)
{
	return (int)syscall(SYS_membarrier, command, 0, 0);
}

int sv_barrier_init(void)
{
	if (membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) || membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED))
		return errno;
	return 0;
}

void sv_barrier_process(void)
{
	membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}

void sv_barrier_host(void)
{
	membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
}
