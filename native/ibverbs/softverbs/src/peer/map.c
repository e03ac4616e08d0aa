/*
 * Mappings of a peer's memory regions. A queue pair asks for one when it first meets a region, so they are found by the
 * region's index: of a list of all, each of thousands of regions would be a walk past the others.
 */
#include "base/calls.h"
#include "object/layout.h"
#include "peer/map.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* A power of two. With all regions that a process can have there are 16 in each. */
#define BUCKETS 4096u

static struct sv_map **bucket_of(struct sv_maps *maps, uint32_t key)
{
	return &maps->buckets[SV_KEY_INDEX(key) % BUCKETS];
}

/* What a mapping of this file begins and ends at: of huge pages only whole ones are mapped, or unmapped. */
static uint64_t page_of(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type == HUGETLBFS_MAGIC ? (uint64_t)fs.f_bsize : 4096;
}

/* -1 with errno: ESTALE if the owner has something else there, or nothing that can be mapped. */
static int open_backing(int fd_dir, const struct sv_mr_entry *entry, uint64_t need)
{
	char name[16];
	struct stat st;

	snprintf(name, sizeof(name), "%d", entry->fd);
	int fd = sv_openat(fd_dir, name, O_RDWR);

	if (fd < 0)
		return -1;
	int seals = fcntl(fd, F_GET_SEALS);

	/* without the seal the peer could truncate the file under us, and our next access would be a SIGBUS */
	if (seals >= 0 && (seals & F_SEAL_SHRINK) && fstat(fd, &st) == 0 && st.st_ino == entry->ino &&
	    (uint64_t)st.st_size >= need)
		return fd;
	close(fd);
	errno = ESTALE;
	return -1;
}

/* NULL with errno. */
static struct sv_map *map_anew(struct sv_maps *maps, int fd_dir, uint32_t key, const struct sv_mr_entry *entry)
{
	if (entry->length > UINT64_MAX / 4 || entry->offset > UINT64_MAX / 4) {
		errno = ESTALE;
		return NULL;
	}
	int fd = open_backing(fd_dir, entry, entry->offset + entry->length);

	if (fd < 0)
		return NULL;
	uint64_t page = page_of(fd), start = entry->offset & ~(page - 1), skip = entry->offset - start;
	uint64_t bytes = (skip + entry->length + page - 1) & ~(page - 1);

	struct sv_map *map = sv_calloc(1, sizeof(*map));
	/* populate: a first touch through a second mapping costs more than the copy */
	void *at = map ? sv_mmap(bytes, MAP_POPULATE, fd, start) : MAP_FAILED;

	int error = errno;

	close(fd);
	if (at == MAP_FAILED) {
		free(map);
		errno = error;
		return NULL;
	}
	madvise(at, bytes, MADV_DONTFORK);
	struct sv_map **bucket = bucket_of(maps, key);

	*map = (struct sv_map){.next = *bucket,
	    .key = key,
	    .users = 1,
	    .ino = entry->ino,
	    .offset = entry->offset,
	    .base = (uint8_t *)at + skip,
	    .bytes = entry->length,
	    .mapping = at,
	    .length = bytes};
	*bucket = map;
	return map;
}

static void unmap(struct sv_map **at)
{
	struct sv_map *map = *at;

	*at = map->next;
	munmap(map->mapping, map->length);
	free(map);
}

static void unmap_if_done(struct sv_maps *maps, struct sv_map *map)
{
	struct sv_map **at = bucket_of(maps, map->key);

	if (map->users || !map->stale)
		return;
	while (*at != map)
		at = &(*at)->next;
	unmap(at);
}

struct sv_map *sv_map_get(struct sv_maps *maps, int fd_dir, uint32_t key, const struct sv_mr_entry *entry, bool may_map)
{
	if (!maps->buckets && !(maps->buckets = sv_calloc(BUCKETS, sizeof(*maps->buckets)))) {
		errno = ENOMEM;
		return NULL;
	}
	struct sv_map *old = *bucket_of(maps, key);

	while (old && (old->key != key || old->stale))
		old = old->next;
	bool same = old && old->ino == entry->ino && old->offset == entry->offset;
	bool anew = !same || entry->length > old->bytes;

	if (anew && !may_map) {
		errno = EINPROGRESS;
		return NULL;
	}
	struct sv_map *map = anew ? map_anew(maps, fd_dir, key, entry) : NULL;
	int error = errno;

	if (!map && same) {
		/* what is longer is mapped when there is memory */
		if (anew && sv_is_shortage(error))
			return NULL;
		/* of a region that is said to be longer than it can be, what it had is still there */
		old->users++;
		return old;
	}
	if (old) {
		old->stale = true;
		unmap_if_done(maps, old);
	}
	errno = error;
	return map;
}

void sv_map_put(struct sv_maps *maps, struct sv_map *map)
{
	map->users--;
	unmap_if_done(maps, map);
}

bool sv_maps_sweep(struct sv_maps *maps, const struct sv_mr_entry *regions)
{
	bool held = false;

	for (uint32_t i = 0; maps->buckets && i < BUCKETS; i++) {
		for (struct sv_map **at = &maps->buckets[i]; *at;) {
			struct sv_map *map = *at;
			bool gone = map->stale || atomic_load(&regions[SV_KEY_INDEX(map->key)].key) != map->key;

			if (gone && !map->users) {
				unmap(at);
			} else {
				held = held || gone;
				at = &map->next;
			}
		}
	}
	return held;
}

void sv_maps_release(struct sv_maps *maps)
{
	for (uint32_t i = 0; maps->buckets && i < BUCKETS; i++)
		while (maps->buckets[i])
			unmap(&maps->buckets[i]);
	free(maps->buckets);
	maps->buckets = NULL;
}
