#include "base/calls.h"
#include "base/pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* A pipe that has held a byte keeps that page for the next write. Returns 0 or errno. */
static int leave_page(const int fds[2])
{
	char c = 0;

	return sv_write(fds[1], &c, 1) == 1 && read(fds[0], &c, 1) == 1 ? 0 : errno;
}

int sv_pipe(int fds[2], bool nonblocking_read, uint64_t *ino)
{
	struct stat st;

	if (sv_pipe2(fds, O_CLOEXEC))
		return errno;
	fcntl(fds[1], F_SETFL, O_NONBLOCK);
	if (nonblocking_read)
		fcntl(fds[0], F_SETFL, O_NONBLOCK);
	int error = leave_page(fds);

	if (error || fstat(fds[0], &st)) {
		error = error ? error : errno;
		close(fds[0]);
		close(fds[1]);
		return error;
	}
	*ino = st.st_ino;
	return 0;
}
