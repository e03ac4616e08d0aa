/* The mappings of a peer's memory regions: one for each region, shared by all queue pairs to that peer. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "object/layout.h"

struct sv_map {
	struct sv_map *next;       /* in its bucket, or in the list of those that leave */
	struct sv_map *next_fresh; /* in the list of those that are to be populated */
	uint32_t key;
	uint32_t users;
	uint64_t holders;     /* the queue pairs that are its users, and some that were; see sv_holder */
	bool leaves;          /* its key names another region by now, or none: it goes after its last user */
	uint64_t ino, offset; /* of which file what is mapped: a window's keys repeat after 256 */
	uint8_t *base;        /* of the region */
	uint64_t bytes;       /* how many bytes of it are mapped */
	void *mapping;
	size_t length;
};

/* All of this is under the peer's lock. */
struct sv_maps {
	struct sv_map **buckets; /* by the regions' indices; NULL before the first is mapped */
	struct sv_map *fresh;
	struct sv_map *leaving;
	uint32_t gone;   /* how many of the regions that the owner lists as gone were looked at */
	uint64_t looked; /* how many mappings sweeps have looked at */
};

/* The bit of a queue pair in `holders`, which it shares with each 64th queue pair. */
static inline uint64_t sv_holder(uint32_t qp)
{
	return 1ull << qp % 64;
}

/*
 * Find the mapping of a region of the process with these descriptors, or map it, if may_map; this queue pair becomes a
 * user of it. NULL with errno. ESTALE: the owner has something else there, or nothing that can be mapped. EINPROGRESS:
 * a thread that may map has to do it.
 */
struct sv_map *sv_map_get(
    struct sv_maps *maps, int fd_dir, uint32_t key, const struct sv_mr_entry *entry, bool may_map, uint32_t qp);
/* Returns whether it has no more users and is to be swept. */
bool sv_map_put(struct sv_map *map);
/* Is the calling thread to populate this mapping? Only the first caller is. */
bool sv_map_claim(struct sv_maps *maps, struct sv_map *map);
/* Claim a mapping that no thread has claimed, and add a user to it; NULL: there is none. */
struct sv_map *sv_maps_claim(struct sv_maps *maps);
/* Call this under no lock, while the mapping has a user. */
void sv_map_populate(const struct sv_map *map);
/*
 * Make the mappings of regions that are gone leave, and put those without users into a list for sv_maps_unmap. Returns
 * the holders of the other ones that leave.
 */
uint64_t sv_maps_sweep(struct sv_maps *maps, const struct sv_segment *owner, struct sv_map **unused);
/* Under no lock. */
void sv_maps_unmap(struct sv_map *unused);
/* Unmap all of them. None has users. */
void sv_maps_release(struct sv_maps *maps);
