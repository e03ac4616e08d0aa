/* The mappings of a peer's memory regions: one for each region, shared by all queue pairs to that peer. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "object/layout.h"

struct sv_map {
	struct sv_map *next; /* in its bucket */
	uint32_t key;
	uint32_t users;
	bool stale;           /* its key names something else by now: it goes with its last user */
	uint64_t ino, offset; /* what is mapped of which file: a window's keys come round after 256 of them */
	uint8_t *base;        /* of the region */
	uint64_t bytes;       /* of it that are mapped */
	void *mapping;
	size_t length;
};

/* By the regions' indices. All of it under the peer's lock. */
struct sv_maps {
	struct sv_map **buckets; /* NULL before the first is mapped */
};

/*
 * Map the region, of the process with these descriptors, if we may, or find it mapped; it has one user more. NULL with
 * errno. ESTALE: the owner has something else there, or nothing that can be mapped. EINPROGRESS: a thread that may map
 * is to do so.
 */
struct sv_map *sv_map_get(
    struct sv_maps *maps, int fd_dir, uint32_t key, const struct sv_mr_entry *entry, bool may_map);
void sv_map_put(struct sv_maps *maps, struct sv_map *map);
/* Free mappings of regions that are gone from the owner's table; whether some are still used. */
bool sv_maps_sweep(struct sv_maps *maps, const struct sv_mr_entry *regions);
/* All of them, which have no users. */
void sv_maps_release(struct sv_maps *maps);
