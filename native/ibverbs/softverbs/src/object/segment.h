/* Ring memory in our control segment, and checked pointers into any segment. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"
#include "object/layout.h"

/* Allocate ring memory in our segment; returns its offset, or 0 if none is left. Under the process lock. */
uint64_t sv_segment_alloc(size_t bytes);
void sv_segment_free(uint64_t offset, size_t bytes);
int sv_segment_init(int fd); /* 0 or errno */
void sv_segment_destroy(void);

/* A pointer into a segment for an offset that a peer gave us, or NULL if it is outside. */
static inline void *sv_at(struct sv_segment *segment, uint64_t offset, uint64_t bytes)
{
	if (unlikely(offset > SV_SEGMENT_SIZE || bytes > SV_SEGMENT_SIZE - offset))
		return NULL;
	return (uint8_t *)segment + offset;
}
