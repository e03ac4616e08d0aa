/*
 * Thousands of regions of one peer: each access reaches its own region, an access to a known region takes no lock that
 * other threads take, and regions come and go beside accesses to the others.
 */
#include "test.h"

#include <dlfcn.h>
#include <stdatomic.h>

#define REGIONS 5000u
#define PAGE 4096u
#define ROUNDS 2
#define WORKERS 2

/*
 * The number of mutexes that this thread has locked. A sanitizer has its own pthread_mutex_lock, and the count stays 0.
 */
static _Thread_local unsigned long mutexes;

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define COUNTED 1
static int (*real_lock)(pthread_mutex_t *);

__attribute__((constructor)) static void find_lock(void)
{
	*(void **)&real_lock = dlsym(RTLD_NEXT, "pthread_mutex_lock");
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	if (!real_lock)
		find_lock();
	mutexes++;
	return real_lock(mutex);
}
#else
#define COUNTED 0
#endif

/* The owner of the regions, a page each, of which the first word counts accesses, below the region's number. */
struct offer {
	uint64_t addr;
	uint32_t keys[REGIONS];
	uint32_t qpns[WORKERS];
};

static void deregister(struct ibv_mr *mr)
{
	int error;

	while ((error = ibv_dereg_mr(mr)) == EBUSY) {
		/* an accessor that lost its core was in the middle of an access */
	}
	CHECK_EQ(error, 0);
}

static int owner(void)
{
	static struct ibv_mr *regions[REGIONS];
	static struct offer offer;
	struct endpoint e;
	struct ibv_qp *qps[WORKERS];
	uint32_t others[WORKERS];
	char command = 'c';

	endpoint_open(&e, MEMORY_MEMFD, REGIONS * PAGE, NULL);
	offer.addr = (uintptr_t)e.buffer;
	for (uint64_t i = 0; i < REGIONS; i++)
		*(uint64_t *)(e.buffer + i * PAGE) = i << 32;
	for (int i = 0; i < WORKERS; i++) {
		qps[i] = i ? qp_create(&e, NULL) : e.qp;
		offer.qpns[i] = qps[i]->qp_num;
	}
	for (uint32_t step = 1; command != 'd'; step = 2) {
		/* at first all, then every other one again */
		for (uint32_t i = step - 1; i < REGIONS; i += step) {
			if (regions[i])
				deregister(regions[i]);
			regions[i] = ibv_reg_mr(e.pd, e.buffer + i * PAGE, PAGE, ALL_ACCESS);
			CHECK(regions[i] != NULL);
			offer.keys[i] = regions[i]->rkey;
		}
		child_send(3, &offer, sizeof(offer));
		if (command == 'c') {
			child_receive(3, others, sizeof(others));
			for (int i = 0; i < WORKERS; i++)
				qp_connect(qps[i], others[i]);
			child_send(3, &command, 1);
		}
		child_receive(3, &command, 1);
	}
	/* more regions go than the owner can list one by one, while the peer is stopped */
	CHECK_EQ(kill(getppid(), SIGSTOP), 0);
	for (uint32_t i = 0; i < REGIONS; i++)
		deregister(regions[i]);
	CHECK_EQ(kill(getppid(), SIGCONT), 0);
	child_send(3, &command, 1);
	child_receive(3, &command, 1); /* no thread accesses them any more */
	for (int i = 1; i < WORKERS; i++)
		CHECK_EQ(ibv_destroy_qp(qps[i]), 0);
	endpoint_close(&e);
	return 0;
}

struct worker {
	struct endpoint e;
	struct offer offer;
	uint64_t visits[REGIONS];
	_Atomic uint32_t passes;
	_Atomic bool stop;
};

static void visit(struct worker *w, uint32_t region, enum ibv_wc_status status)
{
	struct address to = {0, w->offer.keys[region], w->offer.addr + (uint64_t)region * PAGE};
	struct ibv_sge sge = sge_of(&w->e, 0, 8);
	struct ibv_send_wr wr = atomic_wr(IBV_WR_ATOMIC_FETCH_AND_ADD, &sge, to, 0, 1, 0);

	post_and_expect(&w->e, &wr, status);
	if (status == IBV_WC_SUCCESS)
		CHECK_EQ(*(uint64_t *)w->e.buffer, (uint64_t)region << 32 | w->visits[region]++);
}

/* Every region or every other one, in an order in which neighbours are far apart. */
static void visit_all(struct worker *w, uint32_t first, uint32_t step)
{
	uint32_t count = (REGIONS - first + step - 1) / step;

	for (uint32_t i = 0; i < count; i++)
		visit(w, first + step * (i * 1009 % count), IBV_WC_SUCCESS);
}

/* Visits the regions that stay, while others go. */
static void *visit_always(void *of)
{
	struct worker *w = of;

	while (!atomic_load(&w->stop)) {
		visit_all(w, 0, 2);
		atomic_fetch_add(&w->passes, 1);
	}
	return NULL;
}

static void await_passes(struct worker *w, uint32_t passes)
{
	uint64_t since = now_ns();

	while (atomic_load(&w->passes) < passes) {
		if (now_ns() - since > PATIENCE_NS)
			overdue(__FILE__, __LINE__, "the other thread visits its regions");
		sched_yield();
	}
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "owner") == 0)
		return owner();
	static struct worker workers[WORKERS];
	struct worker *one = &workers[0], *other = &workers[1];
	struct child c = child_start("owner");
	uint32_t own[WORKERS];
	pthread_t thread;
	char go;

	child_receive(c.socket, &one->offer, sizeof(one->offer));
	other->offer = one->offer;
	for (int i = 0; i < WORKERS; i++) {
		endpoint_open(&workers[i].e, MEMORY_MALLOC, PAGE, NULL);
		own[i] = workers[i].e.qp->qp_num;
	}
	child_send(c.socket, own, sizeof(own));
	for (int i = 0; i < WORKERS; i++)
		qp_connect(workers[i].e.qp, one->offer.qpns[i]);
	child_receive(c.socket, &go, 1);

	step("%u regions, each its own", REGIONS);
	int mapped = footprint_now().maps;

	visit_all(one, 0, 1);
	step("known ones, without a lock");
	unsigned long before = mutexes;

	CHECK(before > 0 || !COUNTED);
	visit_all(one, 0, 1);
	CHECK_EQ(mutexes, before);

	step("some come and go, the others are accessed");
	memcpy(other->visits, one->visits, sizeof(other->visits));
	CHECK_EQ(pthread_create(&thread, NULL, visit_always, other), 0);
	uint32_t gone = one->offer.keys[1];

	for (int round = 0; round < ROUNDS; round++) {
		await_passes(other, atomic_load(&other->passes) + 1);
		child_send(c.socket, "r", 1);
		child_receive(c.socket, &one->offer, sizeof(one->offer));
		visit_all(one, 1, 2);
		visit_all(one, 1, 2);
	}
	await_passes(other, atomic_load(&other->passes) + 1);
	atomic_store(&other->stop, true);
	CHECK_EQ(pthread_join(thread, NULL), 0);

	step("a key of one that went");
	CHECK(one->offer.keys[1] != gone);
	one->offer.keys[1] = gone;
	visit(one, 1, IBV_WC_REM_ACCESS_ERR);

	step("all go, and so do their mappings");
	child_send(c.socket, "d", 1);
	child_receive(c.socket, &go, 1);
	uint64_t since = now_ns();

	/* the program itself has mappings, too: stacks and allocated memory */
	while (footprint_now().maps > mapped + 100) {
		if (now_ns() - since > PATIENCE_NS)
			overdue(__FILE__, __LINE__, "mappings of regions that are gone are freed");
		poll(NULL, 0, 10);
	}
	child_send(c.socket, "x", 1);
	child_finish(&c);
	for (int i = 0; i < WORKERS; i++)
		endpoint_close(&workers[i].e);
	return 0;
}
