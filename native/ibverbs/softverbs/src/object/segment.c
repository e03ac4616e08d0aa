/*
 * Ring memory in our control segment: first fit over a list of free extents, in whole pages. For each piece in use an
 * extent is kept ready, which giving it back may need, since giving back must not fail.
 */
#include "base/calls.h"
#include "object/layout.h"
#include "object/segment.h"

#include <fcntl.h>
#include <stdlib.h>

#define PAGE 4096ull

struct extent {
	struct extent *next;
	uint64_t offset, bytes;
};

static int segment_fd;
static struct extent *free_extents;
/* As many as there are pieces in use. */
static struct extent *spares;

static uint64_t round_up(uint64_t bytes)
{
	return (bytes + PAGE - 1) & ~(PAGE - 1);
}

static void keep(struct extent **list, struct extent *extent)
{
	extent->next = *list;
	*list = extent;
}

static void drop_all(struct extent **list)
{
	while (*list) {
		struct extent *next = (*list)->next;

		free(*list);
		*list = next;
	}
}

/* Add a free piece. `extent` is used if it is needed. */
static void add(struct extent *extent, uint64_t offset, uint64_t bytes)
{
	struct extent **at = &free_extents;

	while (*at && (*at)->offset < offset)
		at = &(*at)->next;
	/* merge with the next one, and with the one before by taking it out and adding the union */
	if (*at && offset + bytes == (*at)->offset) {
		(*at)->offset = offset;
		(*at)->bytes += bytes;
		free(extent);
	} else {
		*extent = (struct extent){*at, offset, bytes};
		*at = extent;
	}
	for (struct extent *e = free_extents; e && e->next;) {
		struct extent *next = e->next;

		if (e->offset + e->bytes != next->offset) {
			e = next;
			continue;
		}
		e->bytes += next->bytes;
		e->next = next->next;
		free(next);
	}
}

int sv_segment_init(int fd)
{
	uint64_t start = round_up(offsetof(struct sv_segment, rings));
	struct extent *extent = sv_malloc(sizeof(*extent));

	segment_fd = fd;
	free_extents = spares = NULL;
	if (!extent)
		return ENOMEM;
	add(extent, start, SV_SEGMENT_SIZE - start);
	return 0;
}

void sv_segment_destroy(void)
{
	drop_all(&free_extents);
	drop_all(&spares);
}

uint64_t sv_segment_alloc(size_t bytes)
{
	uint64_t need = round_up(bytes);
	struct extent *spare = sv_malloc(sizeof(*spare));

	if (!spare)
		return 0;
	for (struct extent **at = &free_extents; *at; at = &(*at)->next) {
		struct extent *extent = *at;

		if (extent->bytes < need)
			continue;
		uint64_t offset = extent->offset;

		extent->offset += need;
		extent->bytes -= need;
		if (!extent->bytes) {
			*at = extent->next;
			free(extent);
		}
		keep(&spares, spare);
		return offset;
	}
	free(spare);
	return 0;
}

void sv_segment_free(uint64_t offset, size_t bytes)
{
	if (!offset)
		return;
	/* give the pages back to the kernel, so that they are zeroed when they are handed out again */
	fallocate(segment_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)round_up(bytes));
	struct extent *spare = spares;

	spares = spare->next;
	add(spare, offset, round_up(bytes));
}
