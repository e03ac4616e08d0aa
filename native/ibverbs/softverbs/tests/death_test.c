/* A peer is killed: what waits for it and what comes later ends in error within a second; nothing hangs or leaks. */
#include "test.h"

static int passive(const char *what)
{
	struct endpoint e;
	struct address own, other;

	endpoint_open(&e, MEMORY_MEMFD, 1 << 20, NULL);
	own = address_of(&e);
	child_send(3, &own, sizeof(own));
	child_receive(3, &other, sizeof(other));
	qp_connect(e.qp, other.qpn);
	char go = 'g';

	child_send(3, &go, 1);
	if (strcmp(what, "fork") == 0) {
		/* a child that lives on must not keep our name alive, and may open the device for itself */
		if (fork() == 0) {
			struct endpoint own_device;

			endpoint_open(&own_device, MEMORY_MALLOC, 4096, NULL);
			qp_connect(own_device.qp, own_device.qp->qp_num);
			struct ibv_sge sge = sge_of(&own_device, 0, 8);
			struct ibv_send_wr write = one_sided(IBV_WR_RDMA_WRITE, &sge, address_of(&own_device), 64);

			post_and_expect(&own_device, &write, IBV_WC_SUCCESS);
			go = 'c';
			child_send(3, &go, 1);
			child_receive(3, &go, 1);
			_exit(0);
		}
		pause();
	}
	if (strcmp(what, "exec") == 0) {
		child_receive(3, &go, 1);
		execl("/bin/sleep", "sleep", "100", (char *)NULL);
	}
	pause();
	return 1;
}

static struct address start(struct child *c, struct endpoint *e, const char *what)
{
	struct address own, to;
	char go;

	*c = child_start(what);
	endpoint_open(e, MEMORY_MALLOC, 1 << 20, NULL);
	own = address_of(e);
	child_receive(c->socket, &to, sizeof(to));
	child_send(c->socket, &own, sizeof(own));
	qp_to_init(e->qp, ALL_ACCESS);
	qp_to_rtr(e->qp, to.qpn);
	qp_to_rts(e->qp, 0, 7, 7); /* it waits for ever: what ends does so because the peer is dead */
	child_receive(c->socket, &go, 1);
	return to;
}

static void outstanding(void)
{
	struct child c;
	struct endpoint e;
	struct address to = start(&c, &e, "wait");
	struct ibv_sge sge = sge_of(&e, 0, 8);
	struct ibv_send_wr write = one_sided(IBV_WR_RDMA_WRITE, &sge, to, 0);
	struct ibv_send_wr send = {
	    .wr_id = 2, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};

	step("outstanding sends, polled");
	post_and_expect(&e, &write, IBV_WC_SUCCESS);
	post_receive(&e, 50, 0, 8);
	post(e.qp, &send); /* no receive there: it waits, and the write behind it */
	write.wr_id = 3;
	post(e.qp, &write);
	poll_none(e.cq, 10);
	child_kill(&c);
	/* the sends in order; the receive, which is of another queue, at any place among them */
	uint64_t next_send = 2;

	for (int i = 0; i < 3; i++) {
		struct ibv_wc wc = poll_one(e.cq);

		CHECK_EQ(wc.status, wc.wr_id == 2 ? IBV_WC_RETRY_EXC_ERR : IBV_WC_WR_FLUSH_ERR);
		if (wc.wr_id != 50)
			CHECK_EQ(wc.wr_id, next_send++);
	}
	CHECK_EQ(next_send, 4);
	CHECK_EQ(qp_state(e.qp), IBV_QPS_ERR);
	endpoint_close(&e);
}

static void outstanding_parked(void)
{
	struct child c;
	struct endpoint e;

	start(&c, &e, "wait");
	struct ibv_sge sge = sge_of(&e, 0, 8);
	struct ibv_send_wr send = {
	    .wr_id = 2, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
	struct pollfd p = {.fd = e.channel->fd, .events = POLLIN};
	struct ibv_cq *cq;
	void *context;

	step("outstanding sends, parked on the completion channel");
	CHECK_EQ(ibv_req_notify_cq(e.cq, 0), 0);
	post(e.qp, &send);
	child_kill(&c);
	CHECK_EQ(poll(&p, 1, PATIENCE_S * 1000), 1);
	CHECK_EQ(ibv_get_cq_event(e.channel, &cq, &context), 0);
	ibv_ack_cq_events(cq, 1);
	CHECK_EQ(poll_one(e.cq).status, IBV_WC_RETRY_EXC_ERR);
	endpoint_close(&e);
}

static void later(void)
{
	struct child c;
	struct endpoint e;
	struct address to = start(&c, &e, "wait");
	struct ibv_sge sge = sge_of(&e, 0, 8);
	struct ibv_send_wr write = one_sided(IBV_WR_RDMA_WRITE, &sge, to, 0);

	step("later operations; the passive side hears nothing before");
	post_receive(&e, 50, 0, 8);
	child_kill(&c);
	poll_none(e.cq, 200);
	CHECK_EQ(qp_state(e.qp), IBV_QPS_RTS);
	post(e.qp, &write);
	for (int i = 0; i < 2; i++) {
		struct ibv_wc wc = poll_one(e.cq);

		CHECK_EQ(wc.status, wc.wr_id == 50 ? IBV_WC_WR_FLUSH_ERR : IBV_WC_RETRY_EXC_ERR);
	}
	CHECK_EQ(qp_state(e.qp), IBV_QPS_ERR);
	endpoint_close(&e);
}

static void replaced_program(void)
{
	struct child c;
	struct endpoint e;
	struct address to = start(&c, &e, "exec");
	struct ibv_sge sge = sge_of(&e, 0, 8);
	struct ibv_send_wr write = one_sided(IBV_WR_RDMA_WRITE, &sge, to, 0);
	char go = 'g';

	step("a peer that execs another program");
	child_send(c.socket, &go, 1);
	uint64_t until = now_ns() + PATIENCE_NS;
	struct ibv_wc wc;

	do {
		post(e.qp, &write);
		wc = poll_one(e.cq);
		usleep(1000);
	} while (wc.status == IBV_WC_SUCCESS && now_ns() < until);
	CHECK_EQ(wc.status, IBV_WC_RETRY_EXC_ERR);
	child_kill(&c);
	endpoint_close(&e);
}

static void forked_child(void)
{
	struct child c;
	struct endpoint e;
	struct address to = start(&c, &e, "fork");
	struct ibv_sge sge = sge_of(&e, 0, 8);
	struct ibv_send_wr write = one_sided(IBV_WR_RDMA_WRITE, &sge, to, 0);
	struct ibv_wc wc;
	char go;

	step("a peer that dies while a child it forked lives on");
	child_receive(c.socket, &go, 1);
	CHECK_EQ(go, 'c');
	post_and_expect(&e, &write, IBV_WC_SUCCESS);
	kill(c.pid, SIGKILL);
	CHECK_EQ(waitpid(c.pid, NULL, 0), c.pid);
	uint64_t since = now_ns();

	do {
		post(e.qp, &write);
		wc = poll_one(e.cq);
		usleep(1000);
	} while (wc.status == IBV_WC_SUCCESS && now_ns() - since < PATIENCE_NS);
	CHECK_EQ(wc.status, IBV_WC_RETRY_EXC_ERR);
	child_send(c.socket, &go, 1);
	close(c.socket);
	endpoint_close(&e);
}

/* Another user knows our numbers, and gets nothing. */
static void another_user(void)
{
	struct endpoint e;
	int status;

	if (geteuid() != 0) {
		step("another user's process: skipped, needs root to become one");
		return;
	}
	step("another user's process finds no such peer");
	endpoint_open(&e, MEMORY_MALLOC, 4096, NULL);
	struct address own = address_of(&e);
	pid_t pid = fork();

	if (pid == 0) {
		struct endpoint stranger;

		if (setgid(65534) || setuid(65534))
			_exit(2);
		endpoint_open(&stranger, MEMORY_MALLOC, 4096, NULL);
		qp_connect(stranger.qp, own.qpn);
		struct ibv_sge sge = sge_of(&stranger, 0, 8);
		struct ibv_send_wr write = one_sided(IBV_WR_RDMA_WRITE, &sge, own, 0);

		post_and_expect(&stranger, &write, IBV_WC_RETRY_EXC_ERR);
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFEXITED(status));
	CHECK_EQ(WEXITSTATUS(status), 0);
	endpoint_close(&e);
}

/* Killed in the middle of writing: the target must be able to take its memory back. */
static int writer(void)
{
	struct endpoint e;
	struct address own, to;

	endpoint_open(&e, MEMORY_MEMFD, 16 << 20, NULL);
	own = address_of(&e);
	child_send(3, &own, sizeof(own));
	child_receive(3, &to, sizeof(to));
	qp_connect(e.qp, to.qpn);
	char go = 'g';

	child_send(3, &go, 1);
	for (;;) {
		struct ibv_sge sge = sge_of(&e, 0, 8 << 20);
		struct ibv_send_wr write = one_sided(IBV_WR_RDMA_WRITE, &sge, to, 0);

		post(e.qp, &write);
		if (poll_one(e.cq).status != IBV_WC_SUCCESS)
			return 0;
	}
}

static void killed_in_the_middle(int signal)
{
	struct endpoint e;
	struct address own, to;
	struct child c = child_start("writer");
	char go;

	step("a writer that is %s in the middle of a copy: dereg waits for it, and for no ghost",
	    signal == SIGKILL ? "killed" : "stopped, then killed");
	endpoint_open(&e, MEMORY_MEMFD, 16 << 20, NULL);
	own = address_of(&e);
	child_receive(c.socket, &to, sizeof(to));
	child_send(c.socket, &own, sizeof(own));
	qp_connect(e.qp, to.qpn);
	child_receive(c.socket, &go, 1);
	usleep(20000);
	if (signal == SIGSTOP) {
		kill(c.pid, SIGSTOP);
		usleep(1000);
		pid_t killer = fork();

		if (killer == 0) {
			usleep(100000);
			kill(c.pid, SIGKILL);
			_exit(0);
		}
		int error;

		while ((error = ibv_dereg_mr(e.mr)) == EBUSY)
			;
		CHECK_EQ(error, 0);
		CHECK_EQ(waitpid(killer, NULL, 0), killer);
		CHECK_EQ(waitpid(c.pid, NULL, 0), c.pid);
		close(c.socket);
	} else {
		child_kill(&c);
		CHECK_EQ(ibv_dereg_mr(e.mr), 0);
	}
	e.mr = NULL;
	memset(e.buffer, 0, e.size);
	usleep(10000);
	for (size_t i = 0; i < e.size; i++)
		CHECK(e.buffer[i] == 0);
	endpoint_close(&e);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return strcmp(argv[1], "writer") == 0 ? writer() : passive(argv[1]);
	struct footprint before = footprint_now();

	outstanding();
	outstanding_parked();
	later();
	replaced_program();
	forked_child();
	another_user();
	for (int i = 0; i < 5; i++) {
		killed_in_the_middle(SIGKILL);
		killed_in_the_middle(SIGSTOP);
	}
	struct footprint after = footprint_after(&before);

	step("nothing is left");
	CHECK_EQ(after.fds, before.fds);
	CHECK_EQ(after.maps, before.maps);
	CHECK_EQ(after.threads, before.threads);
	return 0;
}
