/*
 * Mapping the regions of a peer: while one region is populated, which takes long, no other operation waits for it; and
 * a region that goes costs nothing for the queue pairs that never used it.
 */
#include "test.h"

#include <dlfcn.h>
#include <stdatomic.h>

int softverbs_control(const char *settings);
const char *softverbs_describe(void);

#define PAGE 4096u

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

/* --- populating a mapping of a certain length takes as long as the test wants --- */

static _Atomic size_t slow_length;
static _Atomic bool slow_begun, slow_goes_on;

static void populating(size_t length)
{
	if (length != atomic_load(&slow_length))
		return;
	atomic_store(&slow_begun, true);
	while (!atomic_load(&slow_goes_on))
		usleep(100);
}

/* This sanitizer needs its own mmap. */
#if !defined(__SANITIZE_THREAD__)
static void *(*real_mmap)(void *, size_t, int, int, int, off_t);

void *mmap(void *at, size_t length, int protection, int flags, int fd, off_t offset)
{
	if (!real_mmap)
		*(void **)&real_mmap = dlsym(RTLD_NEXT, "mmap");
	if (flags & MAP_POPULATE)
		populating(length);
	return real_mmap(at, length, protection, flags, fd, offset);
}
#endif

static int (*real_madvise)(void *, size_t, int);

__attribute__((constructor)) static void find_madvise(void)
{
	*(void **)&real_madvise = dlsym(RTLD_NEXT, "madvise");
}

int madvise(void *at, size_t length, int advice)
{
	if (advice == MADV_POPULATE_READ)
		populating(length);
	return real_madvise(at, length, advice);
}

static void slow_down(size_t length)
{
	atomic_store(&slow_begun, false);
	atomic_store(&slow_goes_on, false);
	atomic_store(&slow_length, length);
}

static void await_slow(void)
{
	uint64_t until = now_ns() + PATIENCE_NS;

	while (!atomic_load(&slow_begun)) {
		if (now_ns() > until)
			overdue(__FILE__, __LINE__, "the region is populated");
		usleep(100);
	}
}

static void go_on(void)
{
	atomic_store(&slow_length, 0);
	atomic_store(&slow_goes_on, true);
}

/* --- the owner: two domains, with a queue pair for each of ours, and regions of which each word is its address --- */

#define FIRST 8u  /* queue pairs of the first domain; the last of them is connected late */
#define QPS 9u    /* and one of the second */
#define GOING 16u /* regions that go, in addition to those below */

enum { KNOWN, SLOW, LATE, OTHER, REGIONS };

/* In pages: those that are slow to populate are the only ones of their length. */
static const size_t pages_of[REGIONS] = {[KNOWN] = 1, [SLOW] = 3, [LATE] = 5, [OTHER] = 1};

struct offer {
	uint32_t qpns[QPS];
	struct address regions[REGIONS], going[GOING];
};

static struct ibv_mr *offer_region(struct endpoint *e, size_t *used, size_t pages, struct address *offered)
{
	uint8_t *at = e->buffer + *used * PAGE;
	struct ibv_mr *mr = ibv_reg_mr(e->pd, at, pages * PAGE, ALL_ACCESS);

	CHECK(mr);
	*used += pages;
	CHECK(*used * PAGE <= e->size);
	*offered = (struct address){0, mr->rkey, (uintptr_t)at};
	return mr;
}

static int owner(void)
{
	struct endpoint first, second;
	struct ibv_qp *qps[QPS];
	struct ibv_mr *mrs[REGIONS], *going[GOING];
	struct offer offer;
	uint32_t others[QPS];
	size_t used = 0, used_of_second = 0;
	char command;
	unsigned gone = 0;

	endpoint_open(&first, MEMORY_MEMFD, 64 * PAGE, NULL);
	endpoint_open(&second, MEMORY_MEMFD, PAGE, NULL);
	for (uint64_t *word = (uint64_t *)first.buffer; (uint8_t *)word < first.buffer + first.size; word++)
		*word = (uintptr_t)word;
	*(uint64_t *)second.buffer = (uintptr_t)second.buffer;
	for (unsigned i = 0; i < QPS; i++) {
		qps[i] = i == 0 ? first.qp : i < FIRST ? qp_create(&first, NULL) : second.qp;
		offer.qpns[i] = qps[i]->qp_num;
	}
	for (unsigned i = 0; i < REGIONS; i++)
		mrs[i] = i == OTHER ? offer_region(&second, &used_of_second, pages_of[i], &offer.regions[i])
		                    : offer_region(&first, &used, pages_of[i], &offer.regions[i]);
	for (unsigned i = 0; i < GOING; i++)
		going[i] = offer_region(&first, &used, 1, &offer.going[i]);
	child_send(3, &offer, sizeof(offer));
	child_receive(3, others, sizeof(others));
	for (unsigned i = 0; i < QPS; i++)
		if (i != FIRST - 1)
			qp_connect(qps[i], others[i]);
	do {
		child_send(3, "d", 1);
		child_receive(3, &command, 1);
		if (command == 'o')
			CHECK_EQ(ibv_dereg_mr(mrs[OTHER]), 0);
		else if (command == 'l')
			qp_connect(qps[FIRST - 1], others[FIRST - 1]);
		else if (command == 'g')
			CHECK_EQ(ibv_dereg_mr(going[gone++]), 0);
	} while (command != 'x');
	for (unsigned i = 0; i < OTHER; i++)
		CHECK_EQ(ibv_dereg_mr(mrs[i]), 0);
	for (unsigned i = 1; i < FIRST; i++)
		CHECK_EQ(ibv_destroy_qp(qps[i]), 0);
	endpoint_close(&first);
	endpoint_close(&second);
	return 0;
}

/* --- us --- */

static struct endpoint sides[QPS];
static struct offer offer;

static struct ibv_send_wr read_of(struct endpoint *e, struct ibv_sge *sge, struct address from)
{
	*sge = sge_of(e, 0, 8);
	return one_sided(IBV_WR_RDMA_READ, sge, from, 0);
}

static void read_word(struct endpoint *e, struct address from)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = read_of(e, &sge, from);

	post_and_expect(e, &wr, IBV_WC_SUCCESS);
	CHECK_EQ(*(uint64_t *)e->buffer, from.addr);
}

static void *read_slow(void *side)
{
	read_word(side, offer.regions[SLOW]);
	return NULL;
}

static void have(struct child *c, const char *command)
{
	char done;

	child_send(c->socket, command, 1);
	child_receive(c->socket, &done, 1);
}

static void await_maps(int count)
{
	uint64_t until = now_ns() + PATIENCE_NS;

	while (footprint_now().maps > count) {
		if (now_ns() > until)
			overdue(__FILE__, __LINE__, "a region that is gone is unmapped");
		usleep(100);
	}
}

static void populated_in_a_post(struct child *c)
{
	pthread_t thread;

	step("while a post populates a region");
	read_word(&sides[0], offer.regions[KNOWN]);
	read_word(&sides[FIRST], offer.regions[OTHER]);
	slow_down(pages_of[SLOW] * PAGE);
	CHECK_EQ(pthread_create(&thread, NULL, read_slow, &sides[1]), 0);
	await_slow();
	int maps = footprint_now().maps;

	step("  a queue pair that has not met another region of the peer uses it");
	read_word(&sides[2], offer.regions[KNOWN]);
	step("  and a region that goes is unmapped");
	have(c, "o");
	await_maps(maps - 1);
	go_on();
	CHECK_EQ(pthread_join(thread, NULL), 0);
	read_word(&sides[2], offer.regions[SLOW]);
}

static void populated_by_the_helper(struct child *c)
{
	struct endpoint *late = &sides[FIRST - 1];
	struct ibv_sge sge;
	struct ibv_send_wr wr = read_of(late, &sge, offer.regions[LATE]);

	step("while the helper thread populates a region");
	post(late->qp, &wr); /* it waits for the peer, and no thread polls */
	slow_down(pages_of[LATE] * PAGE);
	have(c, "l");
	await_slow();
	step("  what waited for it is done, and its queue pair is used");
	CHECK_EQ(poll_one(late->cq).status, IBV_WC_SUCCESS);
	CHECK_EQ(*(uint64_t *)late->buffer, offer.regions[LATE].addr);
	read_word(late, offer.regions[KNOWN]);
	step("  the others too, and others are made");
	read_word(&sides[2], offer.regions[LATE]);
	CHECK_EQ(ibv_destroy_qp(qp_create(late, NULL)), 0);
	go_on();
}

static unsigned long barriers_left(void)
{
	const char *setting = strstr(softverbs_describe(), "fault_at=membarrier:");
	unsigned long left = 0;

	CHECK(setting && sscanf(setting, "fault_at=membarrier:%lu", &left) == 1);
	return left;
}

static void known_to_all(void)
{
	for (unsigned i = 0; i < FIRST; i++)
		read_word(&sides[i], offer.regions[KNOWN]);
}

/* The bias of a queue pair's lock is revoked with a barrier. */
static void gone_at_the_cost_of_its_users(struct child *c)
{
	step("regions that go: of %u queue pairs only the one that has used them is looked at", FIRST);
	for (unsigned i = 0; i < GOING; i++)
		read_word(&sides[0], offer.going[i]);
	known_to_all();
	int maps = footprint_now().maps;

	CHECK_EQ(softverbs_control("fault_at=membarrier:1000000"), 0);
	unsigned long before = barriers_left();

	for (unsigned i = 0; i < GOING; i++) {
		have(c, "g");
		await_maps(--maps);
		known_to_all();
	}
	CHECK(before - barriers_left() <= 2 * GOING);
	CHECK_EQ(softverbs_control("fault_at=membarrier:0"), 0);
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "owner") == 0)
		return owner();
	struct footprint before = footprint_now();
	struct child c = child_start("owner");
	uint32_t own[QPS];
	char done;

	child_receive(c.socket, &offer, sizeof(offer));
	for (unsigned i = 0; i < QPS; i++) {
		endpoint_open(&sides[i], MEMORY_MALLOC, PAGE, NULL);
		own[i] = sides[i].qp->qp_num;
	}
	child_send(c.socket, own, sizeof(own));
	for (unsigned i = 0; i < QPS; i++)
		qp_connect(sides[i].qp, offer.qpns[i]);
	child_receive(c.socket, &done, 1);
	populated_in_a_post(&c);
	populated_by_the_helper(&c);
	gone_at_the_cost_of_its_users(&c);
	child_send(c.socket, "x", 1);
	child_finish(&c);
	for (unsigned i = 0; i < QPS; i++)
		endpoint_close(&sides[i]);
	struct footprint after = footprint_after(&before);

	step("nothing is left");
	CHECK_EQ(after.fds, before.fds);
	CHECK_EQ(after.maps, before.maps);
	CHECK_EQ(after.threads, before.threads);
	return 0;
}
