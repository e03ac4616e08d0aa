/* Faults on request, the times of the NIC model, and that order=weak shows the mistakes that it is meant to show. */
#include "test.h"

#include <dlfcn.h>

int softverbs_control(const char *settings);
void softverbs_model(uint64_t numbers[6]);

static struct endpoint a, b;

/* How long sends wait: 67 ms, or some tens of seconds. */
enum { IMPATIENT = 12, PATIENT = 21 };

static void open_pair(uint8_t timeout)
{
	endpoint_open(&a, MEMORY_MEMFD, 1 << 20, NULL);
	endpoint_open(&b, MEMORY_MEMFD, 1 << 20, NULL);
	qp_to_init(a.qp, ALL_ACCESS);
	qp_to_init(b.qp, ALL_ACCESS);
	qp_to_rtr(a.qp, b.qp->qp_num);
	qp_to_rtr(b.qp, a.qp->qp_num);
	qp_to_rts(a.qp, timeout, 3, 7);
	qp_to_rts(b.qp, timeout, 3, 7);
}

static void close_pair(void)
{
	endpoint_close(&a);
	endpoint_close(&b);
}

static void control(const char *settings)
{
	CHECK_EQ(softverbs_control(settings), 0);
}

/* How many operations that can be late the model has timed so far. */
static uint64_t judged(void)
{
	uint64_t numbers[6];

	softverbs_model(numbers);
	return numbers[0];
}

static struct ibv_send_wr write_of(struct ibv_sge *sge, uint32_t bytes)
{
	*sge = sge_of(&a, 0, bytes);
	return one_sided(IBV_WR_RDMA_WRITE, sge, address_of(&b), 0);
}

static void link_down_and_up(void)
{
	struct ibv_sge sge;
	struct ibv_port_attr port;

	step("the link goes down: sends wait, and go on when it comes back in time; else they fail");
	open_pair(PATIENT);
	struct ibv_send_wr wr = write_of(&sge, 8);

	post_and_expect(&a, &wr, IBV_WC_SUCCESS);
	control("link=down");
	expect_event(a.context, IBV_EVENT_PORT_ERR);
	CHECK_EQ(ibv_query_port(a.context, 1, &port), 0);
	CHECK_EQ(port.state, IBV_PORT_DOWN);
	post(a.qp, &wr);
	poll_none(a.cq, 20);
	control("link=up");
	expect_event(a.context, IBV_EVENT_PORT_ACTIVE);
	CHECK_EQ(poll_one(a.cq).status, IBV_WC_SUCCESS);
	close_pair();
	open_pair(IMPATIENT);
	wr = write_of(&sge, 8);
	control("link=down");
	post_and_expect(&a, &wr, IBV_WC_RETRY_EXC_ERR);
	control("link=up");
	close_pair();
}

static void stragglers(void)
{
	struct ibv_sge sge;

	step("stragglers: every operation 5 ms late");
	open_pair(PATIENT);
	struct ibv_send_wr wr = write_of(&sge, 8);

	control("straggler=1:5000000");
	uint64_t start = now_ns();

	post_and_expect(&a, &wr, IBV_WC_SUCCESS);
	CHECK(now_ns() - start >= 5000000);
	control("straggler=0:0");
	close_pair();
}

static void corruption(void)
{
	struct ibv_sge sge;

	step("corrupted payloads: one byte differs, and nobody says so");
	open_pair(PATIENT);
	struct ibv_send_wr wr = write_of(&sge, 1000);
	unsigned different = 0;

	memset(a.buffer, 0x40, 1000);
	control("corrupt=1");
	post_and_expect(&a, &wr, IBV_WC_SUCCESS);
	for (int i = 0; i < 1000; i++)
		different += b.buffer[i] != 0x40;
	CHECK_EQ(different, 1);
	control("corrupt=0");
	close_pair();
}

static void limits(void)
{
	struct ibv_sge sge;

	step("a QP that fails after 3 operations; a limit on registered memory");
	open_pair(PATIENT);
	struct ibv_send_wr wr = write_of(&sge, 8);

	control("qp_error_after=3");
	for (int i = 0; i < 3; i++)
		post_and_expect(&a, &wr, IBV_WC_SUCCESS);
	post_and_expect(&a, &wr, IBV_WC_FATAL_ERR);
	CHECK_EQ(qp_state(a.qp), IBV_QPS_ERR);
	control("qp_error_after=0");
	control("memlock=3000000");
	struct ibv_mr *mr = ibv_reg_mr(a.pd, a.buffer, 900000, ALL_ACCESS);

	CHECK(mr);
	CHECK(!ibv_reg_mr(a.pd, a.buffer, 900000, ALL_ACCESS));
	CHECK_EQ(errno, ENOMEM);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	control("memlock=0");
	close_pair();
	CHECK_EQ(softverbs_control("no_such_fault=1"), EINVAL);
}

static void model(void)
{
	struct ibv_sge sge, read_sge;

	step("a modelled NIC: nothing earlier than it says");
	open_pair(PATIENT);
	struct ibv_send_wr wr = write_of(&sge, 8), read = write_of(&read_sge, 125000);

	control("latency=1000000 message=0 fetch=0 gbps=1 misses=allow");
	read.opcode = IBV_WR_RDMA_READ;
	*(volatile uint64_t *)b.buffer = 0;
	*(uint64_t *)a.buffer = 42;
	uint64_t counted = judged();
	uint64_t start = now_ns();

	post(a.qp, &wr);
	while (*(volatile uint64_t *)b.buffer != 42) /* the target polls its memory; no thread polls the CQ */
		CHECK(now_ns() - start < PATIENCE_NS);
	CHECK(now_ns() - start >= 1000000);
	CHECK_EQ(poll_one(a.cq).status, IBV_WC_SUCCESS);
	CHECK(now_ns() - start >= 2000000); /* there and back */
	CHECK_EQ(judged(), counted + 1);
	start = now_ns();
	post(a.qp, &read);
	CHECK_EQ(poll_one(a.cq).status, IBV_WC_SUCCESS);
	CHECK(now_ns() - start >= 3000000); /* and a megabit at a gigabit a second */
	/* a READ cannot be late, so it must not lower the share of late operations */
	CHECK_EQ(judged(), counted + 1);
	close_pair();
}

/* `first`, then one that fails, then one behind it, which must not execute. */
static void behind_an_error(bool after_a_read)
{
	struct ibv_sge sges[3];
	struct ibv_send_wr read = write_of(&sges[0], 8), bad = write_of(&sges[1], 8), good = write_of(&sges[2], 8);

	sges[0].addr += 4096;
	read.opcode = IBV_WR_RDMA_READ;
	read.next = &bad;
	sges[1].lkey ^= 0x01000000;
	bad.wr_id = 2;
	bad.next = &good;
	good.wr_id = 3;
	*(volatile uint64_t *)b.buffer = 0;
	*(uint64_t *)a.buffer = 42;
	post(a.qp, after_a_read ? &read : &bad);
	if (after_a_read)
		CHECK_EQ(poll_one(a.cq).status, IBV_WC_SUCCESS);
	struct ibv_wc wc = poll_one(a.cq);

	CHECK_EQ(wc.wr_id, 2);
	CHECK_EQ(wc.status, IBV_WC_LOC_PROT_ERR);
	wc = poll_one(a.cq);
	CHECK_EQ(wc.wr_id, 3);
	CHECK_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
	CHECK_EQ(*(volatile uint64_t *)b.buffer, 0);
}

/* `ours` READs in flight at once; then a WRITE behind two of them. */
static void model_depths(uint8_t ours)
{
	struct ibv_sge sge, read_sge;
	struct ibv_send_wr read, wr;
	const unsigned reads = 4;

	step("a modelled NIC: %u READs under way at once", ours);
	endpoint_open(&a, MEMORY_MEMFD, 1 << 20, NULL);
	endpoint_open(&b, MEMORY_MEMFD, 1 << 20, NULL);
	qp_connect(b.qp, a.qp->qp_num);
	qp_to_init(a.qp, ALL_ACCESS);
	qp_to_rtr(a.qp, b.qp->qp_num);
	struct ibv_qp_attr attr = {
	    .qp_state = IBV_QPS_RTS, .timeout = PATIENT, .retry_cnt = 3, .rnr_retry = 7, .max_rd_atomic = ours};

	CHECK_EQ(ibv_modify_qp(a.qp, &attr,
	             IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
	                 IBV_QP_MAX_QP_RD_ATOMIC),
	    0);
	read = write_of(&read_sge, 8);
	read.opcode = IBV_WR_RDMA_READ;
	read_sge.addr += 4096;
	wr = write_of(&sge, 8);
	uint64_t start = now_ns();

	for (unsigned i = 0; i < reads; i++)
		post(a.qp, &read);
	for (unsigned i = 1; i <= reads; i++) {
		CHECK_EQ(poll_one(a.cq).status, IBV_WC_SUCCESS);
		/* there and back, 1 ms each, for each round of them */
		CHECK(now_ns() - start >= 2000000ull * ((i + ours - 1) / ours));
	}
	*(volatile uint64_t *)b.buffer = 0;
	*(uint64_t *)a.buffer = 43;
	start = now_ns();
	for (unsigned i = 0; i < reads; i++)
		post(a.qp, &read);
	post(a.qp, &wr);
	while (*(volatile uint64_t *)b.buffer != 43)
		CHECK(now_ns() - start < PATIENCE_NS);
	/* it leaves once the last READ has left */
	CHECK(now_ns() - start >= 2000000ull * ((reads - 1) / ours) + 1000000);
	for (unsigned i = 0; i <= reads; i++)
		CHECK_EQ(poll_one(a.cq).status, IBV_WC_SUCCESS);
	close_pair();
}

static void model_errors(void)
{
	step("a modelled NIC: what stands behind an operation that fails is flushed, and not executed");
	for (int i = 0; i < 10; i++) {
		open_pair(PATIENT);
		behind_an_error(i % 2);
		close_pair();
	}
}

/* A QP is at rest for a while after each operation; the next operation may come at any moment of that time. */
static void model_rests(void)
{
	struct ibv_sge sge;
	uint64_t until = now_ns() + PATIENCE_NS, before;

	control("latency=1000");
	step("a modelled NIC: what follows a rest is executed, though nobody polls");
	open_pair(PATIENT);
	struct ibv_send_wr wr = write_of(&sge, 8);

	for (uint64_t i = 1; i <= 400; i++) {
		*(volatile uint64_t *)a.buffer = i;
		post(a.qp, &wr);
		while (*(volatile uint64_t *)b.buffer != i)
			CHECK(now_ns() < until);
		CHECK_EQ(poll_one(a.cq).status, IBV_WC_SUCCESS);
		usleep((unsigned)(i * 7 % 350));
	}
	step("a modelled NIC: in the end the helper sleeps");
	do {
		CHECK(now_ns() < until);
		before = cpu_ns();
		usleep(50000);
	} while (cpu_ns() - before > 10000000);
	step("a modelled NIC: a QP that rests fails, and gives its receives back");
	for (uint64_t i = 1; i <= 20; i++) {
		struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

		close_pair();
		open_pair(PATIENT);
		wr = write_of(&sge, 8);
		post_receive(&a, i, 4096, 8);
		post_and_expect(&a, &wr, IBV_WC_SUCCESS);
		CHECK_EQ(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE), 0);
		struct ibv_wc wc = poll_one(a.cq);

		CHECK_EQ(wc.wr_id, i);
		CHECK_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
	}
	close_pair();
	control("latency=1000000");
}

/* Runs in a process of its own, because the model stays on. */
static int weak(void)
{
	unsigned overtaken = 0, reused = 0, added = 0;
	struct ibv_sge sge, read_sge, add_sge, next_sge;

	control("order=weak seed=1");
	open_pair(PATIENT);
	uint64_t until = now_ns() + PATIENCE_NS, i = 0;

	/* the helper may run between a post and the next step, more often on a busy machine */
	while ((i < 500 || overtaken <= i / 25 || reused <= i / 25 || added <= i / 25) && now_ns() < until) {
		i++;
		/* a write behind an unfenced read of the same word */
		uint64_t value = i;
		struct ibv_send_wr write = write_of(&sge, 8), read = write_of(&read_sge, 8);

		read_sge = sge_of(&a, 4096, 8);
		read.opcode = IBV_WR_RDMA_READ;
		read.next = &write;
		read.wr_id = 1;
		write.wr_id = 2;
		*(uint64_t *)a.buffer = value;
		post(a.qp, &read);
		/* and the buffer is reused before the write has completed */
		*(volatile uint64_t *)a.buffer = ~value;
		CHECK_EQ(poll_one(a.cq).wr_id, 1); /* completions stay in order */
		CHECK_EQ(poll_one(a.cq).wr_id, 2);
		uint64_t got = *(uint64_t *)b.buffer, seen = *(uint64_t *)(a.buffer + 4096);

		CHECK(got == value || got == ~value);
		reused += got == ~value;
		overtaken += seen == value || seen == ~value;

		/* fenced, it never overtakes */
		uint64_t before = *(uint64_t *)b.buffer;

		*(uint64_t *)a.buffer = i << 32;
		write.send_flags |= IBV_SEND_FENCE;
		post(a.qp, &read);
		poll_one(a.cq);
		poll_one(a.cq);
		CHECK_EQ(*(uint64_t *)(a.buffer + 4096), before);
		*(uint64_t *)b.buffer = 0;

		/* an atomic behind an unfenced read of the same word, and another, which never overtakes the first */
		struct ibv_send_wr add = atomic_wr(IBV_WR_ATOMIC_FETCH_AND_ADD, &add_sge, address_of(&b), 0, 1, 0);
		struct ibv_send_wr next = atomic_wr(IBV_WR_ATOMIC_FETCH_AND_ADD, &next_sge, address_of(&b), 0, 1, 0);

		add_sge = sge_of(&a, 4104, 8);
		next_sge = sge_of(&a, 4112, 8);
		read.next = &add;
		add.next = &next;
		for (int fenced = 0; fenced < 2; fenced++) {
			*(uint64_t *)b.buffer = 0;
			post(a.qp, &read);
			for (int n = 0; n < 3; n++)
				poll_one(a.cq);
			CHECK_EQ(*(uint64_t *)(a.buffer + 4104), 0);
			CHECK_EQ(*(uint64_t *)(a.buffer + 4112), 1);
			CHECK(!fenced || *(uint64_t *)(a.buffer + 4096) == 0);
			added += *(uint64_t *)(a.buffer + 4096) != 0;
			add.send_flags |= IBV_SEND_FENCE;
		}
		*(uint64_t *)b.buffer = 0;
	}
	for (int i = 0; i < 100; i++) {
		close_pair();
		open_pair(PATIENT);
		behind_an_error(i % 2);
	}
	step("order=weak: of %lu unfenced writes %u overtook a read, of as many atomics %u; %u buffers were reused too "
	     "early",
	    i, overtaken, added, reused);
	CHECK(overtaken > i / 25);
	CHECK(added > i / 25);
	CHECK(reused > i / 25);
	close_pair();
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "weak") == 0)
		return weak();
	CHECK(dlsym(RTLD_DEFAULT, "softverbs_control"));
	link_down_and_up();
	stragglers();
	corruption();
	limits();
	model();
	model_rests();
	model_errors();
	for (uint8_t ours = 1; ours <= 4; ours++)
		model_depths(ours);
	execl("/proc/self/exe", "fault_test", "weak", (char *)NULL);
	return 1;
}
