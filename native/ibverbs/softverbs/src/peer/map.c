/*
 * Mappings of a peer's memory regions. A queue pair asks for one when it first meets a region. They are in a hash table
 * by the region's index, since in a list each of thousands of regions would cost a walk past the others.
 *
 * Posts and polls take the peer's lock for a region that they have not met yet, and must not wait long for it. So under
 * the lock a region is mapped, which takes a few system calls, but not populated or unmapped, which takes up to a
 * second for gigabytes. A mapping can be used before it is populated. The thread that mapped it populates it after it
 * has released the lock: a post does so at once, so that later posts to that region are fast; the helper thread does so
 * when it has released its other locks, too. A mapping that is no longer needed leaves: it is not found any more, and
 * the helper unmaps it when its last user is gone.
 *
 * The helper is woken when regions are gone. Its sweep looks at the regions that the owner lists, and then at the queue
 * pairs that may use a mapping that leaves. Other mappings cost it nothing, unless so many regions have gone that the
 * owner's list no longer has all of them: then it looks at all mappings, once.
 */
#include "base/calls.h"
#include "base/populate.h"
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

/* A power of two. A process that registers all regions it can has 16 of them in each. */
#define BUCKETS 4096u

static struct sv_map **bucket_of(struct sv_maps *maps, uint32_t key)
{
	return &maps->buckets[SV_KEY_INDEX(key) % BUCKETS];
}

/* The unit in which this file is mapped: of huge pages only whole ones are mapped or unmapped. */
static uint64_t page_of(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type == HUGETLBFS_MAGIC ? (uint64_t)fs.f_bsize : 4096;
}

/* Open the backing file. -1 with errno; ESTALE: the owner has something else there, or nothing that can be mapped. */
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

/* Map a region, whether or not it is mapped already. NULL with errno. */
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
	void *at = map ? sv_mmap(bytes, 0, fd, start) : MAP_FAILED;

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
	    .next_fresh = maps->fresh,
	    .key = key,
	    .ino = entry->ino,
	    .offset = entry->offset,
	    .base = (uint8_t *)at + skip,
	    .bytes = entry->length,
	    .mapping = at,
	    .length = bytes};
	*bucket = maps->fresh = map;
	return map;
}

static bool take_fresh(struct sv_maps *maps, const struct sv_map *map)
{
	struct sv_map **at = &maps->fresh;

	while (*at && *at != map)
		at = &(*at)->next_fresh;
	if (!*at)
		return false;
	*at = map->next_fresh;
	return true;
}

static void leave(struct sv_maps *maps, struct sv_map **at)
{
	struct sv_map *map = *at;

	*at = map->next;
	map->next = maps->leaving;
	maps->leaving = map;
	map->leaves = true;
	take_fresh(maps, map);
}

static struct sv_map *use(struct sv_map *map, uint32_t qp)
{
	map->users++;
	map->holders |= sv_holder(qp);
	return map;
}

struct sv_map *sv_map_get(
    struct sv_maps *maps, int fd_dir, uint32_t key, const struct sv_mr_entry *entry, bool may_map, uint32_t qp)
{
	if (!maps->buckets && !(maps->buckets = sv_calloc(BUCKETS, sizeof(*maps->buckets)))) {
		errno = ENOMEM;
		return NULL;
	}
	struct sv_map **at = bucket_of(maps, key);

	while (*at && (*at)->key != key)
		at = &(*at)->next;
	struct sv_map *old = *at;
	bool same = old && old->ino == entry->ino && old->offset == entry->offset;
	bool anew = !same || entry->length > old->bytes;

	if (!anew)
		return use(old, qp);
	if (!may_map) {
		errno = EINPROGRESS;
		return NULL;
	}
	struct sv_map *map = map_anew(maps, fd_dir, key, entry);
	int error = errno;

	if (!map && same) {
		/* it has grown: the longer mapping is made when there is memory */
		if (sv_is_shortage(error))
			return NULL;
		/* the entry claims more than the file has: what was mapped before is still there */
		return use(old, qp);
	}
	if (old) {
		/* behind the new one, which is the first of its bucket */
		for (at = bucket_of(maps, key); *at != old;)
			at = &(*at)->next;
		leave(maps, at);
	}
	errno = error;
	return map ? use(map, qp) : NULL;
}

bool sv_map_put(struct sv_map *map)
{
	if (--map->users)
		return false;
	map->holders = 0;
	return map->leaves;
}

bool sv_map_claim(struct sv_maps *maps, struct sv_map *map)
{
	return take_fresh(maps, map);
}

struct sv_map *sv_maps_claim(struct sv_maps *maps)
{
	struct sv_map *map = maps->fresh;

	if (map) {
		maps->fresh = map->next_fresh;
		map->users++;
	}
	return map;
}

void sv_map_populate(const struct sv_map *map)
{
	sv_populate(map->mapping, map->length);
}

static void look_at(struct sv_maps *maps, struct sv_map **bucket, const struct sv_mr_entry *regions)
{
	for (struct sv_map **at = bucket; *at;) {
		uint32_t key = (*at)->key;

		maps->looked++;
		if (atomic_load(&regions[SV_KEY_INDEX(key)].key) != key)
			leave(maps, at);
		else
			at = &(*at)->next;
	}
}

/* Look at the regions that have gone since this was last called. */
static void look_at_gone(struct sv_maps *maps, const struct sv_segment *owner)
{
	const struct sv_gone *gone = &owner->gone;
	uint32_t since = maps->gone, count = atomic_load_explicit(&gone->count, memory_order_acquire);

	if (count == since)
		return;
	maps->gone = count;
	if (!maps->buckets)
		return;
	if (count - since < SV_GONE)
		for (uint32_t i = since; i != count; i++) {
			/* if this place was overwritten by a later one, the count below shows it */
			uint16_t index = atomic_load_explicit(&gone->indices[i % SV_GONE], memory_order_acquire);

			look_at(maps, &maps->buckets[index % BUCKETS], owner->mrs);
		}
	/* the owner may be writing the next one, whose place is that of the first */
	if (atomic_load_explicit(&gone->count, memory_order_relaxed) - since >= SV_GONE)
		for (uint32_t i = 0; i < BUCKETS; i++)
			look_at(maps, &maps->buckets[i], owner->mrs);
}

uint64_t sv_maps_sweep(struct sv_maps *maps, const struct sv_segment *owner, struct sv_map **unused)
{
	uint64_t holders = 0;

	look_at_gone(maps, owner);
	for (struct sv_map **at = &maps->leaving; *at;) {
		struct sv_map *map = *at;

		maps->looked++;
		if (map->users) {
			holders |= map->holders;
			at = &map->next;
			continue;
		}
		*at = map->next;
		map->next = *unused;
		*unused = map;
	}
	return holders;
}

void sv_maps_unmap(struct sv_map *unused)
{
	while (unused) {
		struct sv_map *map = unused;

		unused = map->next;
		munmap(map->mapping, map->length);
		free(map);
	}
}

void sv_maps_release(struct sv_maps *maps)
{
	for (uint32_t i = 0; maps->buckets && i < BUCKETS; i++)
		sv_maps_unmap(maps->buckets[i]);
	sv_maps_unmap(maps->leaving);
	free(maps->buckets);
	*maps = (struct sv_maps){0};
}
