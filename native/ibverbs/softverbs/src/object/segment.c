/* Ring memory in our control segment: first fit over a list of free extents, page by page. */
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

static uint64_t round_up(uint64_t bytes)
{
	return (bytes + PAGE - 1) & ~(PAGE - 1);
}

static void add(uint64_t offset, uint64_t bytes)
{
	struct extent **at = &free_extents;

	while (*at && (*at)->offset < offset)
		at = &(*at)->next;
	/* merge with the next one, and with the one before by taking it out and adding the union */
	if (*at && offset + bytes == (*at)->offset) {
		(*at)->offset = offset;
		(*at)->bytes += bytes;
	} else {
		struct extent *extent = malloc(sizeof(*extent));

		if (!extent)
			return; /* the pages are given back all the same; only their addresses are lost */
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

void sv_segment_init(int fd)
{
	uint64_t start = round_up(offsetof(struct sv_segment, rings));

	segment_fd = fd;
	free_extents = NULL;
	add(start, SV_SEGMENT_SIZE - start);
}

void sv_segment_destroy(void)
{
	while (free_extents) {
		struct extent *next = free_extents->next;

		free(free_extents);
		free_extents = next;
	}
}

uint64_t sv_segment_alloc(size_t bytes)
{
	uint64_t need = round_up(bytes);

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
		return offset;
	}
	return 0;
}

void sv_segment_free(uint64_t offset, size_t bytes)
{
	if (!offset)
		return;
	/* give the pages back, and hand them out zeroed the next time */
	fallocate(segment_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)round_up(bytes));
	add(offset, round_up(bytes));
}
