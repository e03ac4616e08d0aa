/*
 * What backs a range of our memory.
 *
 * A shared mapping of a memfd (Farheap's arenas) can be mapped by peers, too: then an operation is a plain copy. The
 * memfd must be sealed against shrinking, and its descriptor must still be open here, so that peers can open it through
 * /proc. All other memory (malloc, stacks, a Java heap) stays where it is, and peers use system calls. The alternative,
 * to move such pages into a shared mapping at registration, was not taken: it changes what fork, mremap and free do to
 * memory that is not ours. Memory that peers can map is never registered as private: see files.c.
 */
#include "base/calls.h"
#include "device/backing.h"
#include "device/files.h"
#include "object/layout.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/sysmacros.h>

/*
 * The shared mappings of files in the range, by address; a mapping that continues the one before in the same file is
 * not counted apart.
 */
struct survey {
	struct sv_file_name *names;
	size_t count, room;
	uint64_t offset; /* the offset of the first byte of the range in the first file */
	uint64_t next;   /* the offset of the byte that would continue the last mapping */
	bool others;     /* the range has memory that is no file's, too */
};

/* One mapping, or the part of it that is in the range. */
struct area {
	uint64_t start, end, offset;
	struct sv_file_name name;
	bool shared;
};

static int add(struct survey *survey, const struct area *area)
{
	struct sv_file_name *last = survey->count ? &survey->names[survey->count - 1] : NULL;

	if (!area->shared || !area->name.ino) {
		survey->others = true;
		return 0;
	}
	bool goes_on = last && last->ino == area->name.ino && last->dev == area->name.dev && survey->next == area->offset;

	survey->next = area->offset + (area->end - area->start);
	if (goes_on)
		return 0;
	if (!last)
		survey->offset = area->offset;
	if (survey->count == survey->room) {
		size_t room = survey->room ? 2 * survey->room : 1;
		struct sv_file_name *names = sv_realloc(survey->names, room * sizeof(*names));

		if (!names)
			return ENOMEM;
		survey->names = names;
		survey->room = room;
	}
	survey->names[survey->count++] = area->name;
	return 0;
}

/*
 * Survey [addr, end). EFAULT: it is not all mapped, readable, and writable if `write`. The caller frees survey->names.
 */
static int look(uint64_t addr, uint64_t end, bool write, struct survey *survey)
{
	FILE *maps = sv_fopen("/proc/self/maps");
	char line[512];
	uint64_t at = addr;
	int error = 0;

	if (!maps)
		return errno;
	while (at < end && !error && fgets(line, sizeof(line), maps)) {
		struct area a;
		char mode[5];
		unsigned major_nr, minor_nr;
		int path = 0;

		if (sscanf(line, "%lx-%lx %4s %lx %x:%x %lu %n", &a.start, &a.end, mode, &a.offset, &major_nr, &minor_nr,
		        &a.name.ino, &path) != 7)
			continue; /* the rest of a long line */
		if (a.end <= at)
			continue;
		if (a.start > at || mode[0] != 'r' || (write && mode[1] != 'w'))
			break;
		a.name.dev = makedev(major_nr, minor_nr);
		/* System V memory has its own number as inode, which may also be that of a memfd */
		a.shared = mode[3] == 's' && strncmp(line + path, "/SYSV", 5) != 0;
		a.offset += at - a.start;
		a.start = at;
		error = add(survey, &a);
		at = a.end;
	}
	if (!error && at < end)
		error = ferror(maps) ? errno : EFAULT;
	fclose(maps);
	return error;
}

static int settle(const struct survey *survey, struct sv_backing *backing)
{
	int error = sv_files_hold(survey->names, survey->count, &backing->files);

	if (error)
		return error;
	for (size_t i = 0; i < survey->count; i++) {
		int fd = sv_files_descriptor(backing->files, i);

		if (fd < 0)
			continue;
		if (survey->count > 1 || survey->others) {
			sv_files_release(backing->files);
			return EINVAL;
		}
		backing->kind = SV_MR_SHARED;
		backing->fd = fd;
		backing->ino = survey->names[0].ino;
		backing->offset = survey->offset;
	}
	return 0;
}

int sv_backing_find(const void *addr, size_t length, bool write, struct sv_backing *backing)
{
	uint64_t start = (uint64_t)(uintptr_t)addr;
	struct survey survey = {0};

	*backing = (struct sv_backing){.kind = SV_MR_PRIVATE, .fd = -1};
	if (length == 0)
		return 0;
	if (start + length < start)
		return EFAULT;
	int error = look(start, start + length, write, &survey);

	if (!error && survey.count)
		error = settle(&survey, backing);
	free(survey.names);
	/* if Yama is on, it lets a process into our memory only with our permission */
	if (!error && backing->kind == SV_MR_PRIVATE)
		prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	return error;
}
