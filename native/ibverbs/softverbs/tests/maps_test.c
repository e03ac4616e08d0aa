/*
 * Mappings of a peer's regions: a sweep looks at the regions that are gone and not at the others, and finds all that
 * are gone, however many there are; no mapping that has a user is unmapped; a populated mapping has its pages.
 */
#include "base/populate.h"
#include "peer/map.h"
#include "test.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define PAGE 4096u
#define REGIONS 6000u
#define ONE_BY_ONE 1000u
#define BATCH 100u

static struct sv_segment *owner;
static struct sv_maps maps;
static struct sv_map *mapped[REGIONS];
static bool seen[REGIONS];
static int memory, descriptors;

static uint32_t key_of(uint32_t region)
{
	return 5u << 24 | region << 8 | 0x37;
}

static uint32_t queue_pair_of(uint32_t region)
{
	return region % 2 ? 3 : 70;
}

static void show(uint32_t region, uint64_t ino)
{
	struct sv_mr_entry *entry = &owner->mrs[region];

	entry->fd = memory;
	entry->ino = ino;
	entry->offset = (uint64_t)region * PAGE;
	entry->length = PAGE;
	atomic_store(&entry->key, key_of(region));
}

static struct sv_map *get(uint32_t region, bool may_map)
{
	return sv_map_get(&maps, descriptors, key_of(region), &owner->mrs[region], may_map, queue_pair_of(region));
}

/* Lists a region as gone, as the owner does: see sv_peers_unmap in peer.c. */
static void go(uint32_t region)
{
	uint32_t count = atomic_load(&owner->gone.count);

	atomic_store(&owner->mrs[region].key, 0);
	atomic_store(&owner->gone.indices[count % SV_GONE], (uint16_t)region);
	atomic_store(&owner->gone.count, count + 1);
}

/* A sweep unmaps this number of regions, each for the first time, and only regions that are gone. */
static uint64_t sweep(uint32_t expected)
{
	struct sv_map *unused = NULL;
	uint64_t holders = sv_maps_sweep(&maps, owner, &unused);

	for (struct sv_map *map = unused; map; map = map->next, expected--) {
		uint32_t region = SV_KEY_INDEX(map->key);

		CHECK(!seen[region] && atomic_load(&owner->mrs[region].key) == 0);
		CHECK_EQ(map->users, 0);
		seen[region] = true;
	}
	CHECK_EQ(expected, 0);
	sv_maps_unmap(unused);
	return holders;
}

static void map_all(void)
{
	struct stat st;

	step("%u regions", REGIONS);
	owner = mmap(NULL, sizeof(*owner), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(owner != MAP_FAILED);
	munmap(memory_alloc(MEMORY_MEMFD, (size_t)REGIONS * PAGE, &memory), (size_t)REGIONS * PAGE);
	CHECK_EQ(fstat(memory, &st), 0);
	descriptors = open("/proc/self/fd", O_RDONLY | O_DIRECTORY);
	CHECK(descriptors >= 0);
	for (uint32_t i = 0; i < REGIONS; i++) {
		show(i, st.st_ino);
		CHECK(!get(i, false));
		CHECK_EQ(errno, EINPROGRESS);
		CHECK(mapped[i] = get(i, true));
		CHECK(get(i, false) == mapped[i]);
		CHECK(!sv_map_put(mapped[i]));
	}
	CHECK_EQ(sweep(0), 0);
}

static void gone_one_by_one(void)
{
	step("each of %u goes when its queue pair lets go of it, at the cost of %u", ONE_BY_ONE, ONE_BY_ONE);
	maps.looked = 0;
	for (uint32_t i = 0; i < ONE_BY_ONE; i++) {
		go(i);
		CHECK_EQ(sweep(0), sv_holder(queue_pair_of(i)));
		CHECK(sv_map_put(mapped[i]));
		CHECK_EQ(sweep(1), 0);
		CHECK_EQ(sweep(0), 0);
	}
	/* each region, others in its bucket, and the region again when it is unmapped */
	CHECK(maps.looked <= 4 * ONE_BY_ONE);
}

static void gone_together(uint32_t from, uint32_t count, uint64_t most)
{
	step("%u together", count);
	maps.looked = 0;
	for (uint32_t i = from; i < from + count; i++)
		go(i);
	CHECK_EQ(sweep(0), sv_holder(3) | sv_holder(70));
	for (uint32_t i = from; i < from + count; i++)
		CHECK(sv_map_put(mapped[i]));
	CHECK_EQ(sweep(count), 0);
	CHECK(maps.looked <= most);
}

/* A window's key repeats, and then names another place. */
static void something_else(uint32_t region)
{
	struct sv_map *unused = NULL, *map;

	step("the same key, of something else");
	owner->mrs[region].offset += PAGE;
	CHECK(map = get(region, true));
	CHECK(map != mapped[region]);
	CHECK_EQ(sweep(0), sv_holder(queue_pair_of(region)));
	CHECK(sv_map_put(mapped[region]));
	CHECK_EQ(sv_maps_sweep(&maps, owner, &unused), 0);
	CHECK(unused == mapped[region] && !unused->next);
	sv_maps_unmap(unused);
	mapped[region] = map;
}

static void populated_once(uint32_t region)
{
	struct sv_map *map;

	step("what is mapped is one thread's to populate, and no thread's if it is gone");
	CHECK(sv_map_claim(&maps, mapped[region]));
	CHECK(!sv_map_claim(&maps, mapped[region]));
	while ((map = sv_maps_claim(&maps))) {
		uint32_t at = SV_KEY_INDEX(map->key);

		CHECK(at != region && map == mapped[at] && !seen[at]);
		CHECK(!sv_map_put(map));
		CHECK(!sv_map_claim(&maps, map));
	}
}

static void present(const uint8_t *at, size_t pages, bool expected)
{
	int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	uint64_t entry;

	CHECK(pagemap >= 0);
	for (size_t i = 0; i < pages; i++) {
		CHECK_EQ(
		    pread(pagemap, &entry, sizeof(entry), (off_t)(((uintptr_t)at / PAGE + i) * sizeof(entry))), sizeof(entry));
		CHECK_EQ(entry >> 63, expected);
	}
	close(pagemap);
}

/* More than one piece, and not a multiple of it. */
#define MANY 3001u

static void populated(void)
{
	int fd;
	uint8_t *at = memory_alloc(MEMORY_MEMFD, MANY * PAGE, &fd);
	uint8_t *second = mmap(NULL, MANY * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	CHECK(second != MAP_FAILED);
	memset(at, 7, MANY * PAGE);
	present(second, MANY, false);
	sv_populate(second, MANY * PAGE);
	present(second, MANY, true);
	munmap(second, MANY * PAGE);
	memory_free(MEMORY_MEMFD, at, MANY * PAGE, fd);
}

/* From now on the kernel is one without MADV_POPULATE_READ. */
static void have_old_kernel(void)
{
	struct sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 3),
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 22, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

	CHECK_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	CHECK_EQ(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
	CHECK(madvise(owner, PAGE, 22) && errno == EINVAL);
}

int main(void)
{
	map_all();
	populated_once(REGIONS - 1);
	gone_one_by_one();
	gone_together(ONE_BY_ONE, BATCH, 4 * BATCH);
	something_else(REGIONS - 2);
	/* more than the owner can name: all are looked at */
	uint32_t rest = REGIONS - ONE_BY_ONE - BATCH - 2;

	CHECK(rest > SV_GONE);
	gone_together(ONE_BY_ONE + BATCH, rest, 4 * REGIONS);
	CHECK(!sv_map_put(mapped[REGIONS - 1]) && !sv_map_put(mapped[REGIONS - 2]));
	sv_maps_release(&maps);
	step("populated: all pages are there");
	populated();
	step("populated, on a kernel before 5.14: all pages are there");
	have_old_kernel();
	populated();
	return 0;
}
