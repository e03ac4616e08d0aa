/*
 * A process that runs out of descriptors for a moment. Memory that it registers then is of the kind that it would have
 * been, or is not registered; operations on a peer wait, or end with an error of our own side, since the peer lives.
 */
#include "../src/object/layout.h"
#include "test.h"

#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/stat.h>

#define PAGE 4096u
#define REGIONS 64u
#if defined(__SANITIZE_THREAD__)
#define ADDS 30000u
#else
#define ADDS 300000u
#endif

/* --- no descriptors --- */

#define MOST 256

struct shortage {
	struct rlimit before;
	int taken[MOST], count;
};

/* Takes all descriptors but this many. The helper thread has none that it would close in the shortage. */
static void run_short(struct shortage *s, int spare)
{
	struct rlimit few;

	callers_dismissed();
	CHECK_EQ(getrlimit(RLIMIT_NOFILE, &s->before), 0);
	few = s->before;
	few.rlim_cur = MOST;
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
	s->count = 0;
	while ((s->taken[s->count] = dup(0)) >= 0)
		s->count++;
	CHECK_EQ(errno, EMFILE);
	while (spare--)
		close(s->taken[--s->count]);
}

static void end_shortage(struct shortage *s)
{
	while (s->count)
		close(s->taken[--s->count]);
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &s->before), 0);
}

/* --- the peer: it adds to the word that it is given --- */

struct adds {
	struct address to;
	uint32_t count; /* 0: it ends */
};

static void add(struct endpoint *e, struct address to, uint32_t count)
{
	struct ibv_sge sge = sge_of(e, 0, 8);
	struct ibv_send_wr wr = atomic_wr(IBV_WR_ATOMIC_FETCH_AND_ADD, &sge, to, 0, 1, 0);

	while (count--)
		post_and_expect(e, &wr, IBV_WC_SUCCESS);
}

static int adder(void)
{
	struct endpoint e;
	struct address own;
	struct adds adds;

	endpoint_open(&e, MEMORY_MEMFD, PAGE, NULL);
	own = address_of(&e);
	child_send(3, &own, sizeof(own));
	child_receive(3, &adds, sizeof(adds));
	qp_connect(e.qp, adds.to.qpn);
	for (;;) {
		child_send(3, "d", 1);
		child_receive(3, &adds, sizeof(adds));
		if (!adds.count)
			break;
		add(&e, adds.to, adds.count);
	}
	endpoint_close(&e);
	return 0;
}

static void await(struct child *c)
{
	char done;

	child_receive(c->socket, &done, 1);
}

/* Makes the peer connect to us. */
static void adder_connects(struct child *c, const struct endpoint *e)
{
	struct adds adds = {address_of(e), 0};

	child_send(c->socket, &adds, sizeof(adds));
	await(c);
}

/* Starts a peer that is connected to us; we are not yet connected to it. */
static struct child adder_call(const struct endpoint *e, struct address *its)
{
	struct child c = child_start("adder");

	child_receive(c.socket, its, sizeof(*its));
	adder_connects(&c, e);
	return c;
}

/* The same, but our queue pair was ready to receive before the peer could be reached. */
static struct child adder_call_early(const struct endpoint *e, struct address *its)
{
	struct child c = child_start("adder");

	child_receive(c.socket, its, sizeof(*its));
	callers_queue(its->qpn);
	qp_to_init(e->qp, ALL_ACCESS);
	qp_to_rtr(e->qp, its->qpn);
	adder_connects(&c, e);
	callers_taken(its->qpn);
	return c;
}

static struct child adder_start(struct endpoint *e)
{
	struct address its;
	struct child c = adder_call(e, &its);

	qp_connect(e->qp, its.qpn);
	return c;
}

static void adder_adds(struct child *c, struct address to, uint32_t count)
{
	child_send(c->socket, &(struct adds){to, count}, sizeof(struct adds));
}

static void adder_end(struct child *c)
{
	adder_adds(c, (struct address){0}, 0);
	child_finish(c);
}

static bool is_shared(const struct ibv_mr *mr)
{
	return own_segment()->mrs[SV_KEY_INDEX(mr->rkey)].kind == SV_MR_SHARED;
}

static struct address place_in(const struct ibv_mr *mr)
{
	return (struct address){0, mr->rkey, (uintptr_t)mr->addr};
}

/* --- registering --- */

/* Of two processes each adds to one word, through a key of its own: the second is registered in a shortage. */
static void registered_in_a_shortage(void)
{
	struct endpoint e, own;
	unsigned refused = 0, registered = 0;

	step("the same memory again, with few descriptors left: as it was before, or not at all");
	endpoint_open(&e, MEMORY_MEMFD, PAGE, NULL);
	endpoint_open(&own, MEMORY_MALLOC, PAGE, NULL);
	qp_connect(own.qp, own.qp->qp_num);
	struct child c = adder_start(&e);
	volatile uint64_t *word = (uint64_t *)e.buffer;

	for (int spare = 0; spare < 6; spare++) {
		struct shortage shortage;

		run_short(&shortage, spare);
		struct ibv_mr *mr = ibv_reg_mr(own.pd, e.buffer, PAGE, ALL_ACCESS);
		int error = errno;

		end_shortage(&shortage);
		if (!mr) {
			CHECK_EQ(error, EMFILE);
			refused++;
			continue;
		}
		registered++;
		*word = 0;
		adder_adds(&c, place_in(e.mr), ADDS);
		add(&own, place_in(mr), ADDS);
		await(&c);
		CHECK_EQ(*word, 2 * ADDS);
		CHECK(is_shared(mr));
		CHECK_EQ(ibv_dereg_mr(mr), 0);
	}
	CHECK(refused > 0);
	CHECK(registered > 0);
	adder_end(&c);
	endpoint_close(&own);
	endpoint_close(&e);
}

/* The first region of a file: before it, softverbs has no descriptor of the file. */
static void first_in_a_shortage(void)
{
	struct endpoint e;
	int fd;
	uint8_t *at = memory_alloc(MEMORY_MEMFD, PAGE, &fd);
	unsigned refused = 0;

	step("memory that is registered for the first time: as memory that peers map, or not at all");
	endpoint_open(&e, MEMORY_MALLOC, PAGE, NULL);
	for (int spare = 0; spare < 6; spare++) {
		struct shortage shortage;

		run_short(&shortage, spare);
		struct ibv_mr *mr = ibv_reg_mr(e.pd, at, PAGE, ALL_ACCESS);
		int error = errno;

		end_shortage(&shortage);
		if (mr) {
			CHECK(is_shared(mr));
			CHECK_EQ(ibv_dereg_mr(mr), 0);
		} else {
			CHECK_EQ(error, EMFILE);
			refused++;
		}
	}
	CHECK(refused > 0 && refused < 6);
	memory_free(MEMORY_MEMFD, at, PAGE, fd);
	endpoint_close(&e);
}

static void one_descriptor_a_file(void)
{
	struct endpoint e;
	struct ibv_mr *mrs[REGIONS];
	int fds[REGIONS];
	uint8_t *memory[REGIONS];

	step("%u regions of one file: one descriptor, and none when the last of them is gone", REGIONS);
	endpoint_open(&e, MEMORY_MEMFD, REGIONS * PAGE, NULL);
	CHECK_EQ(ibv_dereg_mr(e.mr), 0);
	e.mr = NULL;
	struct footprint before = footprint_now();

	for (unsigned i = 0; i < REGIONS; i++)
		CHECK(mrs[i] = ibv_reg_mr(e.pd, e.buffer + (size_t)i * PAGE, PAGE, ALL_ACCESS));
	CHECK_EQ(footprint_now().fds, before.fds + 1);
	step("the last of them is reached when the first, and the program's own descriptor, are gone");
	e.mr = mrs[0];
	struct child c = adder_start(&e);

	CHECK_EQ(close(e.memfd), 0);
	for (unsigned i = 0; i < REGIONS - 1; i++)
		CHECK_EQ(ibv_dereg_mr(mrs[i]), 0);
	e.mr = NULL;
	adder_adds(&c, place_in(mrs[REGIONS - 1]), 10);
	await(&c);
	CHECK_EQ(*(uint64_t *)(e.buffer + (size_t)(REGIONS - 1) * PAGE), 10);
	adder_end(&c);
	CHECK_EQ(ibv_dereg_mr(mrs[REGIONS - 1]), 0);
	e.memfd = dup(0);
	step("%u files: a descriptor each", REGIONS);
	before = footprint_now();
	for (unsigned i = 0; i < REGIONS; i++) {
		memory[i] = memory_alloc(MEMORY_MEMFD, PAGE, &fds[i]);
		CHECK(mrs[i] = ibv_reg_mr(e.pd, memory[i], PAGE, ALL_ACCESS));
		CHECK(is_shared(mrs[i]));
	}
	CHECK_EQ(footprint_now().fds, before.fds + 2 * (int)REGIONS);
	for (unsigned i = 0; i < REGIONS; i++) {
		CHECK_EQ(ibv_dereg_mr(mrs[i]), 0);
		memory_free(MEMORY_MEMFD, memory[i], PAGE, fds[i]);
	}
	CHECK_EQ(footprint_now().fds, before.fds);
	endpoint_close(&e);
}

static void *register_often(void *endpoint)
{
	struct endpoint *e = endpoint;

	for (int i = 0; i < 200; i++) {
		struct ibv_mr *mr = ibv_reg_mr(e->pd, e->buffer, PAGE, ALL_ACCESS);

		CHECK(mr);
		CHECK(is_shared(mr));
		CHECK_EQ(ibv_dereg_mr(mr), 0);
	}
	return NULL;
}

static void registered_by_several_threads(void)
{
	struct endpoint e;
	pthread_t threads[4];

	step("one file, registered and deregistered by several threads");
	endpoint_open(&e, MEMORY_MEMFD, PAGE, NULL);
	CHECK_EQ(ibv_dereg_mr(e.mr), 0);
	e.mr = NULL;
	struct footprint before = footprint_now();

	for (int i = 0; i < 4; i++)
		CHECK_EQ(pthread_create(&threads[i], NULL, register_often, &e), 0);
	for (int i = 0; i < 4; i++)
		CHECK_EQ(pthread_join(threads[i], NULL), 0);
	CHECK_EQ(footprint_now().fds, before.fds);
	endpoint_close(&e);
}

static void not_registered(struct endpoint *e, uint8_t *at, size_t bytes)
{
	errno = 0;
	CHECK(!ibv_reg_mr(e->pd, at, bytes, ALL_ACCESS));
	CHECK_EQ(errno, EINVAL);
}

static void two_kinds(void)
{
	struct endpoint e;
	int fd;
	struct ibv_mr *mr, *second;

	step("memory that is sealed, or not any more what peers may map, while it is registered: not a second time");
	endpoint_open(&e, MEMORY_MALLOC, PAGE, NULL);
	uint8_t *at = memory_alloc(MEMORY_UNSEALED, 2 * PAGE, &fd);

	CHECK(mr = ibv_reg_mr(e.pd, at, PAGE, ALL_ACCESS));
	CHECK(second = ibv_reg_mr(e.pd, at, 2 * PAGE, ALL_ACCESS));
	CHECK(!is_shared(mr) && !is_shared(second));
	CHECK_EQ(ibv_dereg_mr(second), 0);
	CHECK_EQ(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	not_registered(&e, at, PAGE);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	CHECK(mr = ibv_reg_mr(e.pd, at, PAGE, ALL_ACCESS));
	CHECK(is_shared(mr));
	CHECK_EQ(fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE), 0);
	not_registered(&e, at, PAGE);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	CHECK(mr = ibv_reg_mr(e.pd, at, PAGE, ALL_ACCESS));
	CHECK(!is_shared(mr));
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	memory_free(MEMORY_UNSEALED, at, 2 * PAGE, fd);
	endpoint_close(&e);
}

/*
 * System V memory has its own number as inode, on the file system of the memfds, which count theirs. The test can ask
 * for its next number.
 */
static void number_of_another(void)
{
	struct endpoint e;
	struct stat st;
	uint64_t until = now_ns() + PATIENCE_NS;
	int id = -1;

	endpoint_open(&e, MEMORY_MEMFD, PAGE, NULL);
	CHECK_EQ(fstat(e.memfd, &st), 0);
	/* the next number is the machine's: another process may take it, or change it */
	while (id < 0 || (ino_t)id != st.st_ino) {
		FILE *next = fopen("/proc/sys/kernel/shm_next_id", "w");

		if (id >= 0)
			CHECK_EQ(shmctl(id, IPC_RMID, NULL), 0);
		if (now_ns() > until)
			overdue(__FILE__, __LINE__, "memory with that number");
		if (!next || fprintf(next, "%llu", (unsigned long long)st.st_ino) < 0 || fclose(next)) {
			step("not tested: the next number cannot be asked for");
			endpoint_close(&e);
			return;
		}
		id = shmget(IPC_PRIVATE, PAGE, IPC_CREAT | 0600);
		CHECK(id >= 0);
	}
	void *at = shmat(id, NULL, 0);

	CHECK(at != (void *)-1);
	CHECK_EQ(shmctl(id, IPC_RMID, NULL), 0);
	struct ibv_mr *mr = ibv_reg_mr(e.pd, at, PAGE, ALL_ACCESS);

	CHECK(mr);
	CHECK(!is_shared(mr));
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	CHECK_EQ(shmdt(at), 0);
	endpoint_close(&e);
}

/* Pages of a file are followed by pages of no file. */
static void patchwork(enum memory kind, bool registered)
{
	struct endpoint e;
	int fd;

	endpoint_open(&e, MEMORY_MALLOC, PAGE, NULL);
	uint8_t *at = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t *file = memory_alloc(kind, PAGE, &fd);

	CHECK(at != MAP_FAILED);
	CHECK(mmap(at, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == at);
	struct footprint before = footprint_now();

	if (registered) {
		struct ibv_mr *mr = ibv_reg_mr(e.pd, at, 2 * PAGE, ALL_ACCESS);

		CHECK(mr);
		CHECK(!is_shared(mr));
		CHECK_EQ(ibv_dereg_mr(mr), 0);
	} else {
		not_registered(&e, at, 2 * PAGE);
		/* the same page of the file twice */
		CHECK(mmap(at + PAGE, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == at + PAGE);
		before = footprint_now();
		not_registered(&e, at, 2 * PAGE);
	}
	CHECK_EQ(footprint_now().fds, before.fds);
	munmap(at, 2 * PAGE);
	memory_free(kind, file, PAGE, fd);
	endpoint_close(&e);
}

/* --- reaching a peer --- */

/* Longer than we wait for a peer that is gone or ending. */
#define SHORTAGE_MS 700u

/* A write to a peer that lives: it is executed in the shortage or after it. */
static void written_at_last(struct endpoint *e, struct ibv_send_wr *wr, struct shortage *shortage)
{
	struct ibv_wc wc;
	int got = 0;

	post(e->qp, wr);
	for (uint64_t until = now_ns() + SHORTAGE_MS * 1000000ull; !got && now_ns() < until; usleep(100))
		got = ibv_poll_cq(e->cq, 1, &wc);
	end_shortage(shortage);
	if (!got)
		wc = poll_one(e->cq);
	CHECK_EQ(wc.status, IBV_WC_SUCCESS);
	CHECK_EQ(qp_state(e->qp), IBV_QPS_RTS);
}

static void connected_in_a_shortage(int spare)
{
	struct endpoint e;
	struct shortage shortage;
	struct address its;

	endpoint_open(&e, MEMORY_MEMFD, PAGE, NULL);
	struct child c = adder_call_early(&e, &its);
	struct ibv_sge sge = sge_of(&e, 0, 8);
	struct ibv_send_wr write = one_sided(IBV_WR_RDMA_WRITE, &sge, its, 0);

	struct ibv_mr *mr = ibv_reg_mr(e.pd, e.buffer, PAGE, ALL_ACCESS);

	CHECK(mr);
	run_short(&shortage, spare);
	if (!spare)
		CHECK_EQ(ibv_dereg_mr(mr), EBUSY); /* the peer may be in the middle of a copy, and cannot be looked at */
	qp_to_rts(e.qp, 0, 7, 7);              /* it waits for as long as it takes */
	written_at_last(&e, &write, &shortage);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	adder_end(&c);
	endpoint_close(&e);
}

static void ready_after_the_shortage(void)
{
	struct endpoint e;
	struct shortage shortage;
	struct address its;

	endpoint_open(&e, MEMORY_MEMFD, PAGE, NULL);
	struct child c = adder_call(&e, &its);
	struct ibv_sge sge = sge_of(&e, 0, 8);
	struct ibv_send_wr write = one_sided(IBV_WR_RDMA_WRITE, &sge, its, 0);

	qp_to_init(e.qp, ALL_ACCESS);
	for (int spare = 0; spare < 2; spare++) {
		run_short(&shortage, spare);
		int error = qp_try_rtr(e.qp, its.qpn);

		end_shortage(&shortage);
		CHECK_EQ(error, EMFILE);
		CHECK_EQ(qp_state(e.qp), IBV_QPS_INIT);
	}
	qp_to_rtr(e.qp, its.qpn);
	qp_to_rts(e.qp, 18, 7, 7);
	post_and_expect(&e, &write, IBV_WC_SUCCESS);
	adder_end(&c);
	endpoint_close(&e);
}

static void mapped_in_a_shortage(void)
{
	struct endpoint e;
	struct shortage shortage;
	struct address its;

	endpoint_open(&e, MEMORY_MEMFD, PAGE, NULL);
	struct child c = adder_call(&e, &its);
	struct ibv_sge sge = sge_of(&e, 0, 8);
	struct ibv_send_wr write = one_sided(IBV_WR_RDMA_WRITE, &sge, its, 0);

	qp_connect(e.qp, its.qpn);
	run_short(&shortage, 0);
	written_at_last(&e, &write, &shortage);
	adder_end(&c);
	endpoint_close(&e);
}

/* The operation's retries end before the shortage does. */
static void local_error(bool connected)
{
	struct endpoint e;
	struct shortage shortage;
	struct address its;

	endpoint_open(&e, MEMORY_MEMFD, PAGE, NULL);
	struct child c = connected ? adder_call(&e, &its) : adder_call_early(&e, &its);
	struct ibv_sge sge = sge_of(&e, 0, 8);
	struct ibv_send_wr write = one_sided(IBV_WR_RDMA_WRITE, &sge, its, 0);

	if (connected) {
		qp_to_init(e.qp, ALL_ACCESS);
		qp_to_rtr(e.qp, its.qpn);
	}
	qp_to_rts(e.qp, 12, 1, 7);
	run_short(&shortage, 0);
	post_and_expect(&e, &write, IBV_WC_LOC_QP_OP_ERR);
	end_shortage(&shortage);
	CHECK_EQ(qp_state(e.qp), IBV_QPS_ERR);
	adder_end(&c);
	endpoint_close(&e);
}

/* An operation without retries never ends by itself. */
static void unreliable_local_error(void)
{
	struct endpoint e;
	struct shortage shortage;
	struct address its;
	struct ibv_qp_attr attr = {
	    .qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_4096, .ah_attr = {.dlid = 1, .port_num = 1}};
	struct child c = child_start("adder");

	endpoint_open(&e, MEMORY_MEMFD, PAGE, &(struct options){.type = IBV_QPT_UC});
	child_receive(c.socket, &its, sizeof(its));
	callers_queue(its.qpn);
	qp_to_init(e.qp, IBV_ACCESS_REMOTE_WRITE);
	attr.dest_qp_num = its.qpn;
	CHECK_EQ(
	    ibv_modify_qp(e.qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN), 0);
	attr.qp_state = IBV_QPS_RTS;
	CHECK_EQ(ibv_modify_qp(e.qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN), 0);
	adder_connects(&c, &e);
	callers_taken(its.qpn);
	struct ibv_sge sge = sge_of(&e, 0, 8);
	struct ibv_send_wr write = one_sided(IBV_WR_RDMA_WRITE, &sge, its, 0);

	run_short(&shortage, 0);
	post_and_expect(&e, &write, IBV_WC_LOC_QP_OP_ERR);
	end_shortage(&shortage);
	CHECK_EQ(qp_state(e.qp), IBV_QPS_SQE);
	adder_end(&c);
	endpoint_close(&e);
}

static void unmapped(void)
{
	struct endpoint e;

	endpoint_open(&e, MEMORY_MALLOC, PAGE, NULL);
	struct child c = child_start("unmapper");
	struct address own = address_of(&e), its;

	child_receive(c.socket, &its, sizeof(its));
	child_send(c.socket, &own, sizeof(own));
	qp_connect(e.qp, its.qpn);
	await(&c);
	struct ibv_sge sge = sge_of(&e, 0, 8);
	struct ibv_send_wr write = one_sided(IBV_WR_RDMA_WRITE, &sge, its, 0);

	post_and_expect(&e, &write, IBV_WC_REM_OP_ERR);
	child_send(c.socket, "g", 1);
	child_finish(&c);
	endpoint_close(&e);
}

static int unmapper(void)
{
	struct endpoint e;
	struct address own, other;
	char go;

	endpoint_open(&e, MEMORY_MALLOC, PAGE, NULL);
	void *at = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ibv_mr *mr = ibv_reg_mr(e.pd, at, PAGE, ALL_ACCESS);

	CHECK(mr);
	own = (struct address){e.qp->qp_num, mr->rkey, (uintptr_t)at};
	child_send(3, &own, sizeof(own));
	child_receive(3, &other, sizeof(other));
	qp_connect(e.qp, other.qpn);
	munmap(at, PAGE);
	child_send(3, "d", 1);
	child_receive(3, &go, 1);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	endpoint_close(&e);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "unmapper") == 0)
		return unmapper();
	if (argc > 1 && strcmp(argv[1], "adder") == 0)
		return adder();
	struct footprint before = footprint_now();

	registered_in_a_shortage();
	first_in_a_shortage();
	one_descriptor_a_file();
	registered_by_several_threads();
	two_kinds();
	step("System V memory that has the number of a file that peers may map: not that file");
	number_of_another();
	step("memory that peers may map beside other memory: not as one region");
	patchwork(MEMORY_MEMFD, false);
	patchwork(MEMORY_UNSEALED, true);
	struct endpoint helped; /* the helper thread has its descriptors: a process without them fails at RTR */

	endpoint_open(&helped, MEMORY_MALLOC, PAGE, NULL);
	qp_connect(helped.qp, helped.qp->qp_num);
	step("a queue pair that cannot be connected to a peer that is there: not ready to receive from it");
	ready_after_the_shortage();
	for (int spare = 0; spare < 4; spare++) {
		step("a peer that lives, when only %d descriptors are left to connect to it: it is not dead", spare);
		connected_in_a_shortage(spare);
	}
	step("a region of a peer, when none is left to map it: the peer has it still");
	mapped_in_a_shortage();
	step("a shortage that lasts for longer than a send's retries: an error of our own");
	local_error(false);
	local_error(true);
	step("a shortage that lasts, on an unreliable connection: the same");
	unreliable_local_error();
	step("memory that its owner has unmapped: the owner's error");
	unmapped();
	endpoint_close(&helped);
	struct footprint after = footprint_after(&before);

	step("nothing is left");
	CHECK_EQ(after.fds, before.fds);
	CHECK_EQ(after.maps, before.maps);
	CHECK_EQ(after.threads, before.threads);
	return 0;
}
