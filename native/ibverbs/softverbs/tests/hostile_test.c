/*
 * A peer whose control segment changes while it is read: it may make its operations and ours fail, but never make us
 * copy to or from memory that it does not offer.
 */
#include "../src/object/layout.h"
#include "test.h"

#define REGION 65536
#define FAR (1ull << 40)

int softverbs_control(const char *settings);

/* --- a region that grows after it was mapped --- */

static int grower(uint64_t before, uint64_t after)
{
	struct endpoint e;
	struct address own, to[2];
	char go;

	endpoint_open(&e, MEMORY_MEMFD, REGION, NULL);
	struct ibv_qp *second = qp_create(&e, NULL);

	own = address_of(&e);
	own_segment()->mrs[SV_KEY_INDEX(own.rkey)].length = before;
	child_send(3, &own, sizeof(own));
	own.qpn = second->qp_num;
	child_send(3, &own, sizeof(own));
	child_receive(3, to, sizeof(to));
	qp_connect(e.qp, to[0].qpn);
	qp_connect(second, to[1].qpn);
	child_send(3, "g", 1);
	child_receive(3, &go, 1); /* it has mapped our region */
	own_segment()->mrs[SV_KEY_INDEX(own.rkey)].length = after;
	child_send(3, "g", 1);
	child_receive(3, &go, 1);
	CHECK_EQ(ibv_destroy_qp(second), 0);
	endpoint_close(&e);
	return 0;
}

/* Connects two queue pairs, the endpoint's and another, which it returns, to those of a child that then has a region.
 */
static struct ibv_qp *meet_with_two(struct endpoint *e, struct child *c, struct address to[2])
{
	struct address own[2];
	char go;

	endpoint_open(e, MEMORY_MEMFD, REGION, NULL);
	struct ibv_qp *second = qp_create(e, NULL);

	child_receive(c->socket, to, 2 * sizeof(*to));
	own[0] = own[1] = address_of(e);
	own[1].qpn = second->qp_num;
	child_send(c->socket, own, sizeof(own));
	qp_connect(e->qp, to[0].qpn);
	qp_connect(second, to[1].qpn);
	child_receive(c->socket, &go, 1);
	return second;
}

static void region_that_grows(void)
{
	struct endpoint e;
	struct address to[2];
	struct child c = child_start("grower");
	char go;

	step("a region that its owner makes larger after it was mapped, used by another queue pair");
	struct ibv_qp *second = meet_with_two(&e, &c, to), *first = e.qp;

	struct ibv_sge sge = sge_of(&e, 0, 8);
	struct ibv_send_wr write = one_sided(IBV_WR_RDMA_WRITE, &sge, to[0], REGION - 8);

	post_and_expect(&e, &write, IBV_WC_SUCCESS);
	child_send(c.socket, "g", 1);
	child_receive(c.socket, &go, 1);
	e.qp = second;
	post_and_expect(&e, &write, IBV_WC_SUCCESS); /* the region's original part is still mapped */
	write.wr.rdma.remote_addr = to[0].addr + (64ull << 20);
	post_and_expect(&e, &write, IBV_WC_REM_ACCESS_ERR);
	child_send(c.socket, "g", 1);
	child_finish(&c);
	e.qp = first;
	CHECK_EQ(ibv_destroy_qp(second), 0);
	endpoint_close(&e);
}

static void region_that_grows_in_a_shortage(void)
{
	struct endpoint e;
	struct address to[2];
	struct child c = child_start("late grower");
	char go;

	step("a region that its owner makes larger, as its memory is, while there is none to map it once more");
	struct ibv_qp *second = meet_with_two(&e, &c, to), *first = e.qp;

	struct ibv_sge sge = sge_of(&e, 0, 8);
	struct ibv_send_wr near = one_sided(IBV_WR_RDMA_WRITE, &sge, to[0], 0);
	struct ibv_send_wr far = one_sided(IBV_WR_RDMA_WRITE, &sge, to[0], REGION - 8);

	post_and_expect(&e, &near, IBV_WC_SUCCESS);
	child_send(c.socket, "g", 1);
	child_receive(c.socket, &go, 1);
	e.qp = second;
	CHECK_EQ(softverbs_control("fault_at=mmap:1"), 0);
	post_and_expect(&e, &far, IBV_WC_SUCCESS);
	e.qp = first; /* the mapping that it uses is still valid */
	post_and_expect(&e, &near, IBV_WC_SUCCESS);
	child_send(c.socket, "g", 1);
	child_finish(&c);
	CHECK_EQ(ibv_destroy_qp(second), 0);
	endpoint_close(&e);
}

/* --- a receive that changes while a sender fills it --- */

#if !defined(__SANITIZE_THREAD__)
static _Atomic bool stop;
static struct sv_recv_wqe *volatile wqe;

/* Changes a receive for moments; nearly all the time it is as it was posted. */
static void *change(void *unused)
{
	(void)unused;
	while (!atomic_load(&stop)) {
		struct sv_recv_wqe *target = wqe;
		uint64_t good = target ? __atomic_load_n(&target->sge[0].addr, __ATOMIC_RELAXED) : 0;

		if (!target || good >= FAR << 8)
			continue;
		/* the program may post it again meanwhile: then it stays */
		for (int pulse = 0; pulse < 100; pulse++) {
			uint64_t was = good;

			if (!__atomic_compare_exchange_n(
			        &target->sge[0].addr, &was, good + FAR, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
				break;
			for (int wait = 0; wait < 10; wait++)
				__builtin_ia32_pause();
			was = good + FAR;
			if (!__atomic_compare_exchange_n(
			        &target->sge[0].addr, &was, good, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
				break;
			__atomic_store_n(&target->num_sge, pulse % 2 ? 1 : 0x7fffffff, __ATOMIC_RELAXED);
			for (int wait = 0; wait < 100; wait++)
				__builtin_ia32_pause();
		}
	}
	return NULL;
}

static void receive_that_changes(void)
{
	struct endpoint a, b;
	const struct options one = {.recv_wr = 1, .sge = 1};
	pthread_t thread;
	unsigned sent = 0, refused = 0;

	step("a receive that changes between a sender's check of it and its copy");
	endpoint_open(&a, MEMORY_MALLOC, REGION, &one);
	endpoint_open(&b, MEMORY_MALLOC, REGION, &one);
	CHECK_EQ(pthread_create(&thread, NULL, change, NULL), 0);
	uint64_t until = now_ns() + 4000000000ull;

	for (bool connected = false; now_ns() < until && sent < 2000000;) {
		if (!connected) {
			wqe = NULL;
			CHECK_EQ(ibv_destroy_qp(a.qp), 0);
			CHECK_EQ(ibv_destroy_qp(b.qp), 0);
			while (ibv_poll_cq(a.cq, 1, &(struct ibv_wc){0}) + ibv_poll_cq(b.cq, 1, &(struct ibv_wc){0}))
				;
			a.qp = qp_create(&a, &one);
			b.qp = qp_create(&b, &one);
			qp_connect(a.qp, b.qp->qp_num);
			qp_connect(b.qp, a.qp->qp_num);
			connected = true;
		}
		struct sv_segment *segment = own_segment();
		uint64_t ring = segment->qps[b.qp->qp_num & (SV_QPS - 1)].rq.wqes;
		struct ibv_sge sge = sge_of(&a, 0, 4096);
		struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};

		for (int i = 0; i < 1000 && connected; i++, sent++) {
			post_receive(&b, 1, 0, 4096);
			wqe = (struct sv_recv_wqe *)((uint8_t *)segment + ring);
			post(a.qp, &wr);
			connected = poll_one(a.cq).status == IBV_WC_SUCCESS;
			refused += !connected;
			poll_one(b.cq);
		}
	}
	atomic_store(&stop, true);
	CHECK_EQ(pthread_join(thread, NULL), 0);
	step("%u messages, %u refused", sent, refused);
	endpoint_close(&a);
	endpoint_close(&b);
}

#endif

int main(int argc, char **argv)
{
	if (argc > 1)
		return strcmp(argv[1], "grower") == 0 ? grower(REGION, FAR) : grower(REGION / 2, REGION);
	struct footprint before = footprint_now();

	region_that_grows();
	region_that_grows_in_a_shortage();
#if !defined(__SANITIZE_THREAD__) /* the test has a race on purpose */
	receive_that_changes();
#endif
	CHECK_EQ(footprint_now().fds, before.fds);
	CHECK_EQ(footprint_now().maps, before.maps);
	return 0;
}
