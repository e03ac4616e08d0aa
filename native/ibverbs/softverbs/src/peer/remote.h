/* A peer's memory regions, as one queue pair sees them. */
#pragma once
#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/macros.h"
#include "object/layout.h"
#include "object/link.h"

struct sv_map;
struct sv_qp;

struct sv_remote {
	union {
		struct {
			uint32_t key; /* 0: no region, and nothing is granted */
			uint16_t kind;
			uint16_t filled;
		};
		uint64_t meaning; /* the `meaning` of the peer's entry when it was looked up */
	};
	uint32_t access;
	int unmapped; /* for a shared region without a base: the errno with which mapping it failed */
	uint64_t iova;
	uint64_t length;
	uint8_t *base; /* the address of iova in this process, or NULL: it is reached through system calls */
	uint64_t addr;
	struct sv_map *map;
} __attribute__((aligned(SV_LINE)));
_Static_assert(sizeof(struct sv_remote) == 64, "one line per region");

/* Operations whose answers carry data: they need resources of both sides, which the attributes of the QPs count. */
#define SV_ANSWERED_ACCESS (IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

/* The place of that key, in which another key may be. */
SV_INLINE struct sv_remote *sv_remote_place(const struct sv_remotes *remotes, uint32_t key)
{
	return &remotes->places[SV_KEY_INDEX(key) & remotes->mask];
}

/* Does the key still mean what it meant when it was looked up? */
SV_INLINE bool sv_remote_is_live(const struct sv_remotes *remotes, const struct sv_remote *remote, uint32_t key)
{
	return atomic_load_explicit(&remotes->regions[SV_KEY_INDEX(key)].meaning, memory_order_acquire) == remote->meaning;
}

/* Create an empty table, of no peer yet; false with errno. */
bool sv_remotes_create(struct sv_remotes *remotes);
struct sv_remote *sv_remote_load(struct sv_qp *qp, uint32_t key);
/*
 * The result of an operation on a shared region that could not be mapped: a status, or a reason to wait. The region is
 * mapped again when the operation is tried again.
 */
int sv_remote_unmapped(struct sv_qp *qp, struct sv_remote *remote);
void sv_remote_drop_all(struct sv_link *link);
/* Release the mappings that leave, so that the next sweep unmaps them. Under the QP's send lock. */
void sv_remote_sweep(struct sv_qp *qp);
/* Look up all keys again, since what is granted to this QP has changed. */
void sv_remote_forget(struct sv_link *link);
