/*
 * The promises of RDMA, observed from another process while operations execute: words do not tear, a write's last bytes
 * are stored last, a write has taken effect before the send that follows it completes, atomics of several initiators
 * lose none; and verbs called from several threads at once.
 */
#include "test.h"

#define SIZE (1u << 20)

/* The number of rounds; fewer if the device is late on purpose, which hands every operation from thread to thread. */
static unsigned rounds = 20000, additions = 5000, posts = 20000;

/* The target watches its own memory. */
static int target(void)
{
	struct endpoint e;
	struct address own, other;

	endpoint_open(&e, MEMORY_MEMFD, SIZE, &(struct options){.recv_wr = 1024});
	own = address_of(&e);
	child_send(3, &own, sizeof(own));
	child_receive(3, &other, sizeof(other));
	qp_connect(e.qp, other.qpn);
	for (unsigned i = 0; i < 1000; i++)
		post_receive(&e, i, SIZE / 2, 8);
	char go = 'g';

	child_send(3, &go, 1);

	/* the writer fills 4 KiB with one value per round: every word is whole, and once the last is there all are */
	volatile uint64_t *words = (volatile uint64_t *)e.buffer;
	uint64_t seen = 0, torn = 0, early = 0;

	while (seen < rounds) {
		uint64_t last = __atomic_load_n(&words[511], __ATOMIC_ACQUIRE);

		if (last == seen)
			continue;
		for (int i = 0; i < 512; i++) {
			uint64_t word = words[i];

			if ((word >> 32) != (word & 0xffffffff))
				torn++;
			/* a later round may have begun, but nothing of an earlier one may remain */
			if ((word & 0xffffffff) < (last & 0xffffffff))
				early++;
		}
		seen = last & 0xffffffff;
	}
	CHECK_EQ(torn, 0);
	CHECK_EQ(early, 0);

	/* each message announces a write that came before it */
	for (uint64_t i = 1; i <= 1000; i++) {
		struct ibv_wc wc = poll_one(e.cq);

		CHECK_EQ(wc.status, IBV_WC_SUCCESS);
		CHECK(*(volatile uint64_t *)(e.buffer + 65536) >= i);
	}
	child_receive(3, &go, 1);
	endpoint_close(&e);
	return 0;
}

static void writer(void)
{
	struct child c = child_start("target");
	struct endpoint e;
	struct address own, to;
	char go;

	endpoint_open(&e, MEMORY_MEMFD, SIZE, &(struct options){.send_wr = 1024});
	own = address_of(&e);
	child_receive(c.socket, &to, sizeof(to));
	child_send(c.socket, &own, sizeof(own));
	qp_connect(e.qp, to.qpn);
	child_receive(c.socket, &go, 1);
	step("a target that polls its memory sees whole words, and the last word last");
	for (uint64_t round = 1; round <= rounds; round++) {
		uint64_t *from = (uint64_t *)(e.buffer + 8192);
		struct ibv_sge sge = sge_of(&e, 8192, 4096);
		struct ibv_send_wr wr = one_sided(IBV_WR_RDMA_WRITE, &sge, to, 0);

		for (int i = 0; i < 512; i++)
			from[i] = round << 32 | round;
		post_and_expect(&e, &wr, IBV_WC_SUCCESS);
		if (round % 64 == 0)
			sched_yield();
	}
	step("a write is visible before the message behind it arrives");
	for (uint64_t i = 1; i <= 1000; i++) {
		struct ibv_sge sge = {(uintptr_t)&i, 8, 0};
		struct ibv_send_wr write = one_sided(IBV_WR_RDMA_WRITE, &sge, to, 65536), send = write;

		write.next = &send;
		write.send_flags = IBV_SEND_INLINE;
		send.opcode = IBV_WR_SEND;
		send.send_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED;
		post_and_expect(&e, &write, IBV_WC_SUCCESS);
	}
	step("a read returns what the write before it stored");
	for (uint64_t i = 0; i < 1000; i++) {
		struct ibv_sge from = {(uintptr_t)&i, 8, 0}, back = sge_of(&e, 0, 8);
		struct ibv_send_wr write = one_sided(IBV_WR_RDMA_WRITE, &from, to, 131072);
		struct ibv_send_wr read = one_sided(IBV_WR_RDMA_READ, &back, to, 131072);

		write.next = &read;
		write.send_flags = IBV_SEND_INLINE;
		post_and_expect(&e, &write, IBV_WC_SUCCESS);
		CHECK_EQ(*(uint64_t *)e.buffer, i);
	}
	child_send(c.socket, &go, 1);
	child_finish(&c);
	endpoint_close(&e);
}

#define ADDERS 3

static int adder(void)
{
	struct endpoint e;
	struct address own, to;
	char go = 'g';

	endpoint_open(&e, MEMORY_MALLOC, 4096, NULL);
	own = address_of(&e);
	child_send(3, &own, sizeof(own));
	child_receive(3, &to, sizeof(to));
	qp_connect(e.qp, to.qpn);
	child_send(3, &go, 1);
	child_receive(3, &go, 1);
	for (unsigned i = 0; i < additions; i++) {
		struct ibv_sge sge = sge_of(&e, 0, 8);
		struct ibv_send_wr wr = atomic_wr(IBV_WR_ATOMIC_FETCH_AND_ADD, &sge, to, 0, 1, 0);

		post_and_expect(&e, &wr, IBV_WC_SUCCESS);
		/* and one by compare and swap, until it succeeds */
		for (;;) {
			uint64_t expected = *(uint64_t *)e.buffer;

			wr = atomic_wr(IBV_WR_ATOMIC_CMP_AND_SWP, &sge, to, 0, expected, expected + 1);
			post_and_expect(&e, &wr, IBV_WC_SUCCESS);
			if (*(uint64_t *)e.buffer == expected)
				break;
		}
	}
	child_send(3, &go, 1);
	child_receive(3, &go, 1); /* stay until all is counted */
	endpoint_close(&e);
	return 0;
}

static void counters(enum memory kind)
{
	struct child c[ADDERS];
	struct endpoint e[ADDERS];
	struct address to;
	char go;

	step("%d processes add to one word in %s memory: nothing is lost", ADDERS,
	    kind == MEMORY_MEMFD ? "shared" : "private");
	for (int i = 0; i < ADDERS; i++) {
		c[i] = child_start("adder");
		endpoint_open(&e[i], kind, 65536, NULL);
		struct address own = {e[i].qp->qp_num, 0, (uintptr_t)e[0].buffer};
		/* all count in the first one's memory, registered in each one's domain */
		struct ibv_mr *mr = i ? ibv_reg_mr(e[i].pd, e[0].buffer, 65536, ALL_ACCESS) : e[0].mr;

		CHECK(mr);
		if (i) {
			CHECK_EQ(ibv_dereg_mr(e[i].mr), 0);
			e[i].mr = mr;
		}
		own.rkey = mr->rkey;
		child_receive(c[i].socket, &to, sizeof(to));
		child_send(c[i].socket, &own, sizeof(own));
		qp_connect(e[i].qp, to.qpn);
		child_receive(c[i].socket, &go, 1);
	}
	for (int i = 0; i < ADDERS; i++)
		child_send(c[i].socket, &go, 1);
	for (int i = 0; i < ADDERS; i++)
		child_receive(c[i].socket, &go, 1);
	CHECK_EQ(*(uint64_t *)e[0].buffer, 2ull * ADDERS * additions);
	for (int i = ADDERS - 1; i >= 0; i--) {
		child_send(c[i].socket, &go, 1);
		child_finish(&c[i]);
		endpoint_close(&e[i]);
	}
}

/* Threads */

static struct endpoint ta, tb;
static _Atomic unsigned completed;
static _Atomic bool stop;

static void *poster(void *argument)
{
	struct address to = address_of(&tb);
	struct ibv_send_wr *bad;

	(void)argument;
	for (unsigned done = 0; done < posts;) {
		struct ibv_sge sge = sge_of(&ta, 0, 64);
		struct ibv_send_wr wr = one_sided(IBV_WR_RDMA_READ, &sge, to, 0);
		int error = ibv_post_send(ta.qp, &wr, &bad);

		if (error == ENOMEM) {
			sched_yield();
			continue;
		}
		CHECK_EQ(error, 0);
		done++;
	}
	return NULL;
}

static void *poller(void *argument)
{
	struct ibv_wc wc[8];

	(void)argument;
	while (!stop) {
		int n = ibv_poll_cq(ta.cq, 8, wc);

		CHECK(n >= 0);
		for (int i = 0; i < n; i++)
			CHECK_EQ(wc[i].status, IBV_WC_SUCCESS);
		completed += (unsigned)n;
		if (n == 0)
			sched_yield();
	}
	return NULL;
}

static void *registrar(void *argument)
{
	(void)argument;
	while (!stop) {
		struct ibv_mr *mr = ibv_reg_mr(ta.pd, ta.buffer, 4096, ALL_ACCESS);

		CHECK(mr);
		CHECK_EQ(ibv_dereg_mr(mr), 0);
	}
	return NULL;
}

static void *connector(void *argument)
{
	(void)argument;
	while (!stop) {
		struct ibv_qp *one = qp_create(&ta, NULL), *two = qp_create(&tb, NULL);
		struct ibv_sge sge = sge_of(&ta, 0, 8);

		qp_connect(one, two->qp_num);
		qp_connect(two, one->qp_num);
		struct ibv_send_wr wr = one_sided(IBV_WR_RDMA_WRITE, &sge, address_of(&tb), 64), *bad;

		wr.send_flags = 0;
		CHECK_EQ(ibv_post_send(one, &wr, &bad), 0);
		CHECK_EQ(ibv_destroy_qp(one), 0);
		CHECK_EQ(ibv_destroy_qp(two), 0);
	}
	return NULL;
}

static void threads(void)
{
	pthread_t posters[2], pollers[2], other[2];

	step("two threads post to one QP, two poll one CQ, others register and connect");
	endpoint_open(&ta, MEMORY_MALLOC, 65536, NULL);
	endpoint_open(&tb, MEMORY_MALLOC, 65536, NULL);
	qp_connect(ta.qp, tb.qp->qp_num);
	qp_connect(tb.qp, ta.qp->qp_num);
	for (int i = 0; i < 2; i++) {
		CHECK_EQ(pthread_create(&posters[i], NULL, poster, NULL), 0);
		CHECK_EQ(pthread_create(&pollers[i], NULL, poller, NULL), 0);
	}
	CHECK_EQ(pthread_create(&other[0], NULL, registrar, NULL), 0);
	CHECK_EQ(pthread_create(&other[1], NULL, connector, NULL), 0);
	for (int i = 0; i < 2; i++)
		pthread_join(posters[i], NULL);
	uint64_t until = now_ns() + PATIENCE_NS;

	while (completed < 2 * posts && now_ns() < until)
		usleep(1000);
	stop = true;
	for (int i = 0; i < 2; i++) {
		pthread_join(pollers[i], NULL);
		pthread_join(other[i], NULL);
	}
	CHECK_EQ(completed, 2 * posts);
	endpoint_close(&ta);
	endpoint_close(&tb);
}

/* Datagrams */

/* A peer whose number shares its place among a sender's links with `place`. */
static int crowded(unsigned place)
{
	struct endpoint e;
	char go;

	endpoint_open(&e, MEMORY_MALLOC, 4096, &(struct options){.type = IBV_QPT_UD});
	while (((e.qp->qp_num ^ e.qp->qp_num >> 12) & 15) != place) {
		CHECK_EQ(ibv_destroy_qp(e.qp), 0);
		e.qp = qp_create(&e, &(struct options){.type = IBV_QPT_UD});
	}
	child_send(3, &e.qp->qp_num, sizeof(e.qp->qp_num));
	child_receive(3, &go, 1);
	endpoint_close(&e);
	return 0;
}

static void *shared_registrar(void *argument)
{
	struct endpoint *e = argument;

	while (!stop) {
		struct ibv_mr *mr = ibv_reg_mr(e->pd, e->buffer, 4096, ALL_ACCESS);

		CHECK(mr);
		CHECK_EQ(ibv_dereg_mr(mr), 0);
	}
	return NULL;
}

static void forgotten_peers(void)
{
	struct child c[2];
	struct endpoint e;
	uint32_t to[2];
	pthread_t thread;
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 0x11};
	struct ibv_ah_attr path = {.dlid = 1, .port_num = 1};

	step("one thread forgets a peer with each datagram, another has peers forget its regions");
	endpoint_open(&e, MEMORY_MEMFD, 4096, &(struct options){.type = IBV_QPT_UD});
	CHECK_EQ(ibv_modify_qp(e.qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY), 0);
	attr.qp_state = IBV_QPS_RTR;
	CHECK_EQ(ibv_modify_qp(e.qp, &attr, IBV_QP_STATE), 0);
	attr.qp_state = IBV_QPS_RTS;
	CHECK_EQ(ibv_modify_qp(e.qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN), 0);
	for (int i = 0; i < 2; i++) {
		c[i] = child_start("crowded");
		child_receive(c[i].socket, &to[i], sizeof(to[i]));
	}
	stop = false;
	CHECK_EQ(pthread_create(&thread, NULL, shared_registrar, &e), 0);
	struct ibv_sge sge = sge_of(&e, 0, 8);
	struct ibv_send_wr wr = {.wr_id = 1,
	    .sg_list = &sge,
	    .num_sge = 1,
	    .opcode = IBV_WR_SEND,
	    .send_flags = IBV_SEND_SIGNALED,
	    .wr.ud = {.ah = ibv_create_ah(e.pd, &path), .remote_qkey = 0x11}};

	CHECK(wr.wr.ud.ah);
	for (unsigned i = 0; i < rounds / 10; i++) {
		wr.wr.ud.remote_qpn = to[i % 2];
		post_and_expect(&e, &wr, IBV_WC_SUCCESS); /* lost, since there is no receive */
	}
	stop = true;
	pthread_join(thread, NULL);
	CHECK_EQ(ibv_destroy_ah(wr.wr.ud.ah), 0);
	for (int i = 0; i < 2; i++) {
		child_send(c[i].socket, "g", 1);
		child_finish(&c[i]);
	}
	endpoint_close(&e);
}

int main(int argc, char **argv)
{
	if (getenv("SOFTVERBS")) {
		rounds /= 5;
		additions /= 5;
		posts /= 5;
	}
	if (argc > 1 && strcmp(argv[1], "crowded") == 0)
		return crowded(3);
	if (argc > 1)
		return strcmp(argv[1], "target") == 0 ? target() : adder();
	struct footprint before = footprint_now();

	writer();
	counters(MEMORY_MEMFD);
	counters(MEMORY_MALLOC);
	threads();
	forgotten_peers();
	struct footprint after = footprint_after(&before);

	CHECK_EQ(after.fds, before.fds);
	CHECK_EQ(after.maps, before.maps);
	CHECK_EQ(after.threads, before.threads);
	return 0;
}
