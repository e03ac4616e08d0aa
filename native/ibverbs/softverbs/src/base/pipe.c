#include "base/calls.h"
#include "base/pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

int sv_pipe(int fds[2], bool nonblocking_read, uint64_t *ino)
{
	struct stat st;

	if (sv_pipe2(fds, O_CLOEXEC))
		return errno;
	fcntl(fds[1], F_SETFL, O_NONBLOCK);
	if (nonblocking_read)
		fcntl(fds[0], F_SETFL, O_NONBLOCK);
	if (fstat(fds[0], &st)) {
		int error = errno;

		close(fds[0]);
		close(fds[1]);
		return error;
	}
	*ino = st.st_ino;
	return 0;
}
