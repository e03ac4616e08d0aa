/*
 * What backs a range of our memory.
 *
 * A shared mapping of a memfd (Farheap's arenas) can be mapped by peers too: then an operation is a plain copy. It must
 * be sealed against shrinking, and its descriptor must still be open here, so that peers can open it through /proc.
 * Everything else (malloc, stacks, a Java heap) stays where it is and peers use process_vm_readv/writev. The other
 * way, moving such pages into a shared mapping at registration, was not taken: it changes what fork, mremap and free
 * do to memory that is not ours.
 */
#include "device/backing.h"
#include "object/layout.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

struct area {
	uint64_t start, end, offset, ino;
	dev_t dev;
	bool shared;
};

/* Are [addr, end) mapped, readable, and writable if need be? `first` gets the file behind the whole of it, if one. */
static int survey(uint64_t addr, uint64_t end, bool write, struct area *whole)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];
	uint64_t at = addr;
	int error = 0;

	if (!maps)
		return errno;
	whole->ino = 0;
	while (at < end && fgets(line, sizeof(line), maps)) {
		struct area a;
		char mode[5];
		unsigned major_nr, minor_nr;

		if (sscanf(line, "%lx-%lx %4s %lx %x:%x %lu", &a.start, &a.end, mode, &a.offset, &major_nr, &minor_nr,
		        &a.ino) != 7)
			continue; /* the rest of a long line */
		if (a.end <= at)
			continue;
		if (a.start > at || mode[0] != 'r' || (write && mode[1] != 'w'))
			break;
		a.dev = makedev(major_nr, minor_nr);
		a.shared = mode[3] == 's';
		if (at == addr)
			*whole = a;
		else if (!a.shared || a.ino != whole->ino || a.dev != whole->dev ||
		         a.offset != whole->offset + (a.start - whole->start))
			whole->shared = false; /* a patchwork */
		at = a.end;
	}
	if (at < end)
		error = EFAULT;
	fclose(maps);
	return error;
}

/* A descriptor of ours for this file; a dup of it, as the program may close its own. */
static int dup_descriptor(dev_t dev, uint64_t ino)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;
	int found = -1;

	if (!dir)
		return -1;
	while (found < 0 && (entry = readdir(dir))) {
		struct stat st;
		char *end;
		long fd = strtol(entry->d_name, &end, 10);

		if (*end || end == entry->d_name || fd == dirfd(dir) || fstat((int)fd, &st))
			continue;
		if (st.st_ino != ino || st.st_dev != dev || !S_ISREG(st.st_mode))
			continue;
		int seals = fcntl((int)fd, F_GET_SEALS);

		if (seals >= 0 && (seals & F_SEAL_SHRINK) && !(seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE)))
			found = fcntl((int)fd, F_DUPFD_CLOEXEC, 0);
		/* another thread may have closed and reused the number since we looked */
		if (found >= 0 && (fstat(found, &st) || st.st_ino != ino || st.st_dev != dev)) {
			close(found);
			found = -1;
		}
	}
	closedir(dir);
	return found;
}

int sv_backing_find(const void *addr, size_t length, bool write, struct sv_backing *backing)
{
	uint64_t start = (uint64_t)(uintptr_t)addr;
	struct area area = {0};

	*backing = (struct sv_backing){.kind = SV_MR_PRIVATE, .fd = -1};
	if (length == 0)
		return 0;
	if (start + length < start)
		return EFAULT;
	int error = survey(start, start + length, write, &area);

	if (error)
		return error;
	if (area.shared && area.ino) {
		backing->fd = dup_descriptor(area.dev, area.ino);
		if (backing->fd >= 0) {
			backing->kind = SV_MR_SHARED;
			backing->ino = area.ino;
			backing->offset = area.offset + (start - area.start);
			return 0;
		}
	}
	/* Yama, where it is on, lets a process into our memory only if we say so */
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	return 0;
}
