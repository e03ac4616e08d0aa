/* Memory regions and windows, as their own process sees them; peers see the entry of each in the segment. */
#pragma once
#include <infiniband/verbs.h>
#include <stdatomic.h>

#include "base/macros.h"
#include "object/layout.h"
#include "object/process.h"

struct sv_files;

struct sv_mr {
	struct ibv_mr mr;
	struct sv_mr_entry *entry;
	struct sv_files *files; /* the files whose memory it is; NULL: it is no file's memory, or this is a window's slot */
	uint32_t index;
	_Atomic unsigned windows;
	struct sv_mw *window; /* this slot is a window's */
};

/* The region of ours with this lkey, checked; NULL if it does not cover the range or forbids the access. */
static inline struct sv_mr_entry *sv_mr_local(
    uint32_t lkey, uint32_t pd, uint64_t addr, uint64_t length, unsigned access)
{
	struct sv_mr_entry *entry = &sv_process.segment->mrs[SV_KEY_INDEX(lkey)];

	if (unlikely(lkey == 0 || atomic_load_explicit(&entry->key, memory_order_acquire) != lkey))
		return NULL;
	uint64_t offset = addr - entry->iova;

	if (unlikely(entry->pd != pd || (entry->access & access) != access || offset > entry->length ||
	             length > entry->length - offset))
		return NULL;
	return entry;
}

/* Publish the entry, after all its other fields were written. */
static inline void sv_mr_show(struct sv_mr_entry *entry, uint32_t key, uint16_t kind)
{
	const struct sv_mr_entry shown = {.key = key, .kind = kind, .filled = (uint16_t)(entry->filled + 1)};

	atomic_store_explicit(&entry->meaning, shown.meaning, memory_order_release);
}

/* A memory window. */
struct sv_mw {
	struct ibv_mw mw;
	struct sv_mr slot; /* its entry in the region table */
	struct sv_mr *region;
	uint32_t leaving; /* the key that is being invalidated: done as soon as `copier` is out (quiesce.c) */
	uint32_t copier;
};
