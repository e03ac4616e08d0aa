/* Ring memory in our control segment, and places in anybody's. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"
#include "object/layout.h"

/* Ring memory in the segment; offset 0 means none left. Under the process lock. */
uint64_t sv_segment_alloc(size_t bytes);
void sv_segment_free(uint64_t offset, size_t bytes);
int sv_segment_init(int fd); /* 0 or errno */
void sv_segment_destroy(void);

/* A place in a segment whose offset a peer gave us, or NULL if it is outside. */
static inline void *sv_at(struct sv_segment *segment, uint64_t offset, uint64_t bytes)
{
	if (unlikely(offset > SV_SEGMENT_SIZE || bytes > SV_SEGMENT_SIZE - offset))
		return NULL;
	return (uint8_t *)segment + offset;
}
