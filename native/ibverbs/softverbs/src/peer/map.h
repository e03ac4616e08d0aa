/* The mappings of a peer's memory regions: one for each region, shared by all queue pairs to that peer. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "object/layout.h"

struct sv_map {
	struct sv_map *next;       /* in its bucket, or of those that leave */
	struct sv_map *next_fresh; /* of those that are to be populated */
	uint32_t key;
	uint32_t users;
	uint64_t holders;     /* the queue pairs that are its users, and some that were: see sv_holder */
	bool leaves;          /* its key names something else by now, or nothing: it goes after its last user */
	uint64_t ino, offset; /* what is mapped of which file: a window's keys come round after 256 of them */
	uint8_t *base;        /* of the region */
	uint64_t bytes;       /* of it that are mapped */
	void *mapping;
	size_t length;
};

/* All of it under the peer's lock. */
struct sv_maps {
	struct sv_map **buckets; /* by the regions' indices; NULL before the first is mapped */
	struct sv_map *fresh;
	struct sv_map *leaving;
	uint32_t gone;   /* so many of the regions that the owner says are gone were looked at */
	uint64_t looked; /* how many mappings sweeps looked at */
};

/* The bit of a queue pair, which it shares with each 64th. */
static inline uint64_t sv_holder(uint32_t qp)
{
	return 1ull << qp % 64;
}

/*
 * Map the region, of the process with these descriptors, if we may, or find it mapped; it has this queue pair as a user
 * more. NULL with errno. ESTALE: the owner has something else there, or nothing that can be mapped. EINPROGRESS: a
 * thread that may map is to do so.
 */
struct sv_map *sv_map_get(
    struct sv_maps *maps, int fd_dir, uint32_t key, const struct sv_mr_entry *entry, bool may_map, uint32_t qp);
/* Whether it has no more users and is to be swept. */
bool sv_map_put(struct sv_map *map);
/* Is it the caller's to populate this one? It is asked once. */
bool sv_map_claim(struct sv_maps *maps, struct sv_map *map);
/* One that no thread has claimed, claimed, with a user more; NULL: there is none. */
struct sv_map *sv_maps_claim(struct sv_maps *maps);
/* Under no lock; it has a user meanwhile. */
void sv_map_populate(const struct sv_map *map);
/*
 * Have the mappings of regions that are gone leave, and put those that no queue pair uses any more into a list, for
 * sv_maps_unmap. The holders of the others.
 */
uint64_t sv_maps_sweep(struct sv_maps *maps, const struct sv_segment *owner, struct sv_map **unused);
/* Under no lock. */
void sv_maps_unmap(struct sv_map *unused);
/* All of them, which have no users. */
void sv_maps_release(struct sv_maps *maps);
