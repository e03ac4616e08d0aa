/*
 * Which files peers may map, and how they reach them: a peer opens a file through a descriptor of ours, by its number
 * in /proc. It is a dup of the program's, so that the program may close its own.
 *
 * A file is shared (peers map its regions, and atomics on them are the processor's) or private (its regions are reached
 * with system calls, and atomics on them are a read and a write under a lock). Atomics of the two kinds are not atomic
 * with each other. So the kind is decided when the file is registered first, and stays until its last region is gone.
 * If we lack a descriptor or memory to find out the kind of a file, holding it fails.
 *
 * One lock guards the table and the counts. It is held while a file is looked for among our descriptors, so that two
 * threads that register a file at the same time find one kind. A thread that takes it holds no other lock of ours, and
 * takes none while it holds this one. A descriptor is closed only with its last region, whose key peers no longer use
 * (quiesce.c): a peer that is just opening that number still finds this file there, or finds by the inode that it is
 * another one.
 */
#include "base/calls.h"
#include "device/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct file {
	struct file *next;
	struct sv_file_name name;
	int fd;         /* -1: private */
	unsigned users; /* how often regions hold it */
};

struct sv_files {
	size_t count;
	struct file *file[];
};

#define BUCKETS 256

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct file *buckets[BUCKETS];

static struct file **bucket_of(const struct sv_file_name *name)
{
	return &buckets[name->ino % BUCKETS];
}

static struct file *find(const struct sv_file_name *name)
{
	struct file *file = *bucket_of(name);

	while (file && (file->name.ino != name->ino || file->name.dev != name->dev))
		file = file->next;
	return file;
}

/* Is it sealed against shrinking, so that a process that maps it gets no SIGBUS, and not sealed against writing? */
static bool may_be_mapped(int fd)
{
	int seals = fcntl(fd, F_GET_SEALS);

	return seals >= 0 && (seals & F_SEAL_SHRINK) && !(seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE));
}

static bool is_of(int fd, const struct sv_file_name *name)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_ino == name->ino && st.st_dev == name->dev && S_ISREG(st.st_mode);
}

/*
 * Find a descriptor of ours for this file, if peers may map it, and dup it; -1: there is none. Returns 0 or errno: a
 * lack of descriptors or memory does not mean that there is none.
 */
static int dup_descriptor(const struct sv_file_name *name, int *found)
{
	DIR *dir = sv_opendir("/proc/self/fd");
	struct dirent *entry;
	int error = 0;

	*found = -1;
	if (!dir)
		return errno;
	while (*found < 0 && (errno = 0, entry = readdir(dir))) {
		char *end;
		long fd = strtol(entry->d_name, &end, 10);

		if (*end || end == entry->d_name || fd == dirfd(dir) || !is_of((int)fd, name) || !may_be_mapped((int)fd))
			continue;
		*found = sv_dup((int)fd);
		/*
		 * from here on there is one: failing to get it is an error, also if another thread has closed it since we
		 * looked
		 */
		error = *found < 0 ? errno : 0;
		if (*found >= 0 && !is_of(*found, name)) {
			close(*found);
			*found = -1;
			error = EBADF;
		}
	}
	if (!entry && errno)
		error = errno;
	closedir(dir);
	return error;
}

/* With the lock. */
static int add(const struct sv_file_name *name, int fd, struct file **added)
{
	struct file *file = sv_malloc(sizeof(*file));

	if (!file)
		return ENOMEM;
	*file = (struct file){.next = *bucket_of(name), .name = *name, .fd = fd};
	*bucket_of(name) = *added = file;
	return 0;
}

/* With the lock. */
static int hold(const struct sv_file_name *name, struct file **held)
{
	struct file *file = find(name);
	int fd = -1, error = 0;

	/* a private file is looked for again: it may have been sealed since, or the program may have opened a descriptor */
	if (file && file->fd >= 0)
		error = may_be_mapped(file->fd) ? 0 : EINVAL;
	else if ((error = dup_descriptor(name, &fd)) == 0 && file && fd >= 0)
		error = EINVAL;
	if (!error && !file)
		error = add(name, fd, &file);
	if (error) {
		/* whatever close returns, the number is free again */
		if (fd >= 0)
			close(fd);
		return error;
	}
	file->users++;
	*held = file;
	return 0;
}

/* With the lock. */
static void release(struct file *file)
{
	if (--file->users)
		return;
	struct file **at = bucket_of(&file->name);

	while (*at != file)
		at = &(*at)->next;
	*at = file->next;
	if (file->fd >= 0)
		close(file->fd);
	free(file);
}

int sv_files_hold(const struct sv_file_name *names, size_t count, struct sv_files **held)
{
	struct sv_files *files = sv_malloc(sizeof(*files) + count * sizeof(struct file *));
	int error = 0;

	if (!files)
		return ENOMEM;
	files->count = 0;
	pthread_mutex_lock(&lock);
	while (files->count < count && !error) {
		error = hold(&names[files->count], &files->file[files->count]);
		files->count += !error;
	}
	pthread_mutex_unlock(&lock);
	if (error)
		sv_files_release(files);
	else
		*held = files;
	return error;
}

int sv_files_descriptor(const struct sv_files *held, size_t index)
{
	return held->file[index]->fd;
}

void sv_files_release(struct sv_files *held)
{
	if (!held)
		return;
	pthread_mutex_lock(&lock);
	while (held->count)
		release(held->file[--held->count]);
	pthread_mutex_unlock(&lock);
	free(held);
}

void sv_files_after_fork(void)
{
	pthread_mutex_init(&lock, NULL);
	for (size_t i = 0; i < BUCKETS; i++) {
		for (struct file *file = buckets[i]; file; file = file->next)
			if (file->fd >= 0)
				close(file->fd);
		buckets[i] = NULL;
	}
}
