/*
 * The helper thread: it notices every connection, whatever else happens at that moment; it lets any number of peers
 * come and go; it finishes operations for which no thread polls; it sleeps when there is nothing to do; and it holds no
 * lock that a program needs.
 */
#include "test.h"

#include <sched.h>

int softverbs_control(const char *settings);

static void control(const char *settings)
{
	CHECK_EQ(softverbs_control(settings), 0);
}

static void await(const volatile uint64_t *word, uint64_t value, const char *what)
{
	uint64_t until = now_ns() + PATIENCE_NS;

	while (*word != value) {
		if (now_ns() > until)
			overdue(__FILE__, __LINE__, what);
		usleep(200);
	}
}

/* --- order=weak: the helper executes operations for which no thread polls --- */

/* A queue pair that is connected to itself. */
static void open_mirror(struct endpoint *e)
{
	endpoint_open(e, MEMORY_MALLOC, 4096, NULL);
	qp_connect(e->qp, e->qp->qp_num);
}

/* Each of `calls` writes is the first that waits, and so wakes the helper; one more is left to the helper alone. */
static void call_and_leave(struct endpoint *e, unsigned calls, uint64_t value)
{
	struct ibv_sge sge = {(uintptr_t)&value, 8, 0};
	struct ibv_send_wr wr = one_sided(IBV_WR_RDMA_WRITE, &sge, address_of(e), 64);

	wr.send_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED;
	for (unsigned i = 0; i < calls; i++)
		post_and_expect(e, &wr, IBV_WC_SUCCESS);
	*(volatile uint64_t *)(e->buffer + 64) = 0;
	post(e->qp, &wr);
	await((uint64_t *)(e->buffer + 64), value, "a write that nobody polls for arrives");
	CHECK_EQ(poll_one(e->cq).status, IBV_WC_SUCCESS);
}

static void never_deaf(void)
{
	struct endpoint e;

	step("calls at every moment, also while it attends to another: it hears the next");
	control("order=weak");
	open_mirror(&e);
	for (uint64_t round = 1; round <= 300; round++)
		call_and_leave(&e, 200, round);
	endpoint_close(&e);
	control("order=strict");
}

#define HANDOVERS 300

static pthread_barrier_t meeting;

static void *successor(void *argument)
{
	(void)argument;
	for (uint64_t round = 1; round <= HANDOVERS; round++) {
		struct endpoint e;

		pthread_barrier_wait(&meeting);
		open_mirror(&e);
		call_and_leave(&e, 0, round);
		pthread_barrier_wait(&meeting);
		endpoint_close(&e);
	}
	return NULL;
}

static void opened_while_closed(void)
{
	pthread_t thread;

	step("one thread closes the device as the last while another opens it: the new one has a helper");
	control("order=weak");
	CHECK_EQ(pthread_barrier_init(&meeting, NULL, 2), 0);
	CHECK_EQ(pthread_create(&thread, NULL, successor, NULL), 0);
	for (uint64_t round = 1; round <= HANDOVERS; round++) {
		struct endpoint e;

		open_mirror(&e);
		pthread_barrier_wait(&meeting);
		endpoint_close(&e);
		pthread_barrier_wait(&meeting);
	}
	CHECK_EQ(pthread_join(thread, NULL), 0);
	pthread_barrier_destroy(&meeting);
	control("order=strict");
}

static void posts_while_it_reads(void)
{
	struct endpoint e;
	struct ibv_cq_init_attr_ex init = {.cqe = 64, .wc_flags = IBV_WC_STANDARD_FLAGS};
	struct ibv_poll_cq_attr attr = {0};

	step("a program that posts between the start and the end of a poll");
	endpoint_open(&e, MEMORY_MALLOC, 4096, NULL);
	struct ibv_cq_ex *cq = ibv_create_cq_ex(e.context, &init);
	struct ibv_cq *plain = e.cq;

	CHECK(cq);
	CHECK_EQ(ibv_destroy_qp(e.qp), 0);
	control("order=weak");
	e.cq = ibv_cq_ex_to_cq(cq);
	e.qp = qp_create(&e, NULL);
	qp_connect(e.qp, e.qp->qp_num);
	struct ibv_sge sge = sge_of(&e, 0, 8);
	struct ibv_send_wr wr = one_sided(IBV_WR_RDMA_READ, &sge, address_of(&e), 64);

	for (int i = 0; i < 4; i++)
		post(e.qp, &wr);
	uint64_t until = now_ns() + PATIENCE_NS;

	for (int i = 0; i < 500;) {
		CHECK(now_ns() < until);
		if (i % 2)
			usleep(1000); /* so that it is the helper that executes */
		if (ibv_start_poll(cq, &attr))
			continue;
		do {
			CHECK_EQ(cq->status, IBV_WC_SUCCESS);
			post(e.qp, &wr);
			i++;
		} while (ibv_next_poll(cq) == 0);
		ibv_end_poll(cq);
	}
	CHECK_EQ(ibv_destroy_qp(e.qp), 0);
	CHECK_EQ(ibv_destroy_cq(e.cq), 0);
	e.cq = plain;
	e.qp = NULL;
	endpoint_close(&e);
	control("order=strict");
}

/* --- peers --- */

static int peer(void)
{
	struct endpoint e;
	struct address own, other;
	char go = 'g';

	endpoint_open(&e, MEMORY_MALLOC, 65536, NULL);
	struct ibv_qp *another = qp_create(&e, NULL); /* a server has one that is up */

	qp_connect(another, another->qp_num);
	own = address_of(&e);
	child_send(3, &own, sizeof(own));
	child_receive(3, &other, sizeof(other));
	qp_connect(e.qp, other.qpn);
	child_send(3, &go, 1);
	child_receive(3, &go, 1); /* until we may go */
	CHECK_EQ(ibv_destroy_qp(another), 0);
	endpoint_close(&e);
	return 0;
}

static void connect_to(struct child *c, struct endpoint *e, uint32_t qpn)
{
	struct address own = address_of(e);
	char go;

	child_send(c->socket, &own, sizeof(own));
	qp_connect(e->qp, qpn);
	child_receive(c->socket, &go, 1);
}

/*
 * More than a socket's backlog holds (SOMAXCONN): a connection that is not accepted stays in it for the server's life.
 */
#define VISITS (4096 + 64)

static void many_visits(void)
{
	struct child c = child_start("peer");
	struct endpoint e;
	struct address to;
	char go = 'x';

	step("%d attach and detach, and the next is served", VISITS);
	endpoint_open(&e, MEMORY_MALLOC, 4096, NULL);
	child_receive(c.socket, &to, sizeof(to));
	for (int i = 0; i < VISITS; i++) {
		struct ibv_qp *qp = qp_create(&e, NULL);

		qp_to_init(qp, 0);
		qp_to_rtr(qp, to.qpn); /* looks for the peer */
		CHECK_EQ(ibv_destroy_qp(qp), 0);
	}
	connect_to(&c, &e, to.qpn);
	struct ibv_sge sge = sge_of(&e, 0, 8);
	struct ibv_send_wr wr = one_sided(IBV_WR_RDMA_READ, &sge, to, 0);

	post_and_expect(&e, &wr, IBV_WC_SUCCESS);
	child_send(c.socket, &go, 1);
	child_finish(&c);
	endpoint_close(&e);
}

#define DEAD 8

static void quiet_about_the_dead(void)
{
	struct child c[DEAD];
	struct endpoint e[DEAD];

	step("peers whose death a post noticed: the helper sleeps");
	for (int i = 0; i < DEAD; i++) {
		struct address to;

		c[i] = child_start("peer");
		endpoint_open(&e[i], MEMORY_MALLOC, 4096, NULL);
		child_receive(c[i].socket, &to, sizeof(to));
		connect_to(&c[i], &e[i], to.qpn);
		struct ibv_sge sge = sge_of(&e[i], 0, 8);
		struct ibv_send_wr wr = one_sided(IBV_WR_RDMA_READ, &sge, to, 0);
		struct ibv_wc wc;

		kill(c[i].pid, SIGKILL);
		do {
			post(e[i].qp, &wr);
			wc = poll_one(e[i].cq);
		} while (wc.status == IBV_WC_SUCCESS);
		CHECK_EQ(wc.status, IBV_WC_RETRY_EXC_ERR);
		child_kill(&c[i]);
	}
	uint64_t before = cpu_ns();

	usleep(300000);
	CHECK(cpu_ns() - before < 30000000);
	for (int i = 0; i < DEAD; i++)
		endpoint_close(&e[i]);
}

/* --- datagrams --- */

#define ROUNDS 200
#define RECEIVES 16

static void datagrams_up(struct ibv_qp *qp, bool sends)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 0x11};

	CHECK_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY), 0);
	attr.qp_state = IBV_QPS_RTR;
	CHECK_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
	attr.qp_state = IBV_QPS_RTS;
	if (sends)
		CHECK_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN), 0);
}

static int shooter(void)
{
	struct endpoint e;
	uint32_t qpn;

	endpoint_open(&e, MEMORY_MALLOC, 4096, &(struct options){.type = IBV_QPT_UD});
	datagrams_up(e.qp, true);
	child_receive(3, &qpn, sizeof(qpn));
	struct ibv_ah_attr attr = {.dlid = 1, .port_num = 1};
	struct ibv_sge sge = sge_of(&e, 0, 4096);
	struct ibv_send_wr wr = {.sg_list = &sge,
	    .num_sge = 1,
	    .opcode = IBV_WR_SEND,
	    .send_flags = IBV_SEND_SIGNALED,
	    .wr.ud = {.ah = ibv_create_ah(e.pd, &attr), .remote_qpn = qpn, .remote_qkey = 0x11}};

	CHECK(wr.wr.ud.ah);
	for (;;) /* until we are killed */
		post_and_expect(&e, &wr, IBV_WC_SUCCESS);
}

static void errors_under_fire(void)
{
	struct child c = child_start("shooter");
	struct endpoint e;
	const size_t bytes = 40 + 4096;
	struct ibv_qp_attr attr;

	step("a QP that only receives datagrams goes to the error state while they come: its receives are given back");
	endpoint_open(&e, MEMORY_MALLOC, RECEIVES * bytes, &(struct options){.type = IBV_QPT_UD});
	child_send(c.socket, &e.qp->qp_num, sizeof(e.qp->qp_num));
	for (int round = 0; round < ROUNDS; round++) {
		int received = 0, flushed = 0;

		datagrams_up(e.qp, false);
		for (unsigned i = 0; i < RECEIVES; i++)
			post_receive(&e, i, i * bytes, (uint32_t)bytes);
		while (received < RECEIVES / 4)
			received += poll_one(e.cq).status == IBV_WC_SUCCESS;
		attr.qp_state = IBV_QPS_ERR;
		CHECK_EQ(ibv_modify_qp(e.qp, &attr, IBV_QP_STATE), 0);
		for (; received + flushed < RECEIVES; flushed++)
			if (poll_one(e.cq).status == IBV_WC_SUCCESS)
				received++, flushed--;
		attr.qp_state = IBV_QPS_RESET;
		CHECK_EQ(ibv_modify_qp(e.qp, &attr, IBV_QP_STATE), 0);
	}
	child_kill(&c);
	endpoint_close(&e);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return strcmp(argv[1], "peer") == 0 ? peer() : shooter();
	struct footprint before = footprint_now();

	never_deaf();
	opened_while_closed();
	posts_while_it_reads();
	many_visits();
	quiet_about_the_dead();
	errors_under_fire();
	struct footprint after = footprint_after(&before);

	step("nothing is left");
	CHECK_EQ(after.fds, before.fds);
	CHECK_EQ(after.maps, before.maps);
	CHECK_EQ(after.threads, before.threads);
	return 0;
}
