/*
 * A peer is killed: operations that wait for it, and later ones, end in error within a second; nothing hangs or leaks.
 */
#include "../src/object/layout.h"
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
	qp_to_rts(e->qp, 0, 7, 7); /* retries never end: an operation that ends does so because the peer is dead */
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

/* A process of another user that knows our numbers gets nothing. */
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

/* --- killed while it held the lock of a queue that many send to: what it leaves is made there, in our own segment ---
 */

static void datagrams_up(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 0x11};

	CHECK_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY), 0);
	attr.qp_state = IBV_QPS_RTR;
	CHECK_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
	attr.qp_state = IBV_QPS_RTS;
	CHECK_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN), 0);
}

static void send_one(struct endpoint *e, uint32_t datagram_to, enum ibv_wc_status status)
{
	struct ibv_sge sge = sge_of(e, 0, 8);
	struct ibv_ah_attr to = {.dlid = 1, .port_num = 1};
	struct ibv_send_wr wr = {
	    .wr_id = 1, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};

	if (datagram_to) {
		wr.wr.ud.ah = ibv_create_ah(e->pd, &to);
		wr.wr.ud.remote_qpn = datagram_to;
		wr.wr.ud.remote_qkey = 0x11;
		CHECK(wr.wr.ud.ah);
	}
	post_and_expect(e, &wr, status);
	if (datagram_to)
		CHECK_EQ(ibv_destroy_ah(wr.wr.ud.ah), 0);
}

/* Sends one message and reports the name by which it would hold a lock. */
static int holder(bool datagram)
{
	struct endpoint e;
	struct address own, to;

	endpoint_open(&e, MEMORY_MALLOC, 4096, &(struct options){.type = datagram ? IBV_QPT_UD : IBV_QPT_RC});
	own = address_of(&e);
	child_send(3, &own, sizeof(own));
	child_receive(3, &to, sizeof(to));
	if (datagram)
		datagrams_up(e.qp);
	else
		qp_connect(e.qp, to.qpn);
	send_one(&e, datagram ? to.qpn : 0, IBV_WC_SUCCESS);
	const struct sv_header *header = &own_segment()->header;
	uint64_t name = header->nonce << 12 | header->slot | 1ull << 63;

	child_send(3, &name, sizeof(name));
	pause();
	return 1;
}

/* It has sent its one message, and is dead. */
static uint64_t name_of_the_dead(struct child *c)
{
	uint64_t name;

	child_receive(c->socket, &name, sizeof(name));
	child_kill(c);
	return name;
}

static struct sv_qp_entry *entry_of(const struct ibv_qp *qp)
{
	return &own_segment()->qps[qp->qp_num & (SV_QPS - 1)];
}

static void holder_of_a_shared_queue(void)
{
	struct endpoint e, sender;
	struct address own, to;
	struct child c = child_start("holder");

	step("a sender that is killed when its receive is consumed, and it still holds the shared queue: no other is");
	endpoint_open(&e, MEMORY_MALLOC, 4096, NULL);
	endpoint_open(&sender, MEMORY_MALLOC, 4096, NULL);
	struct ibv_srq_init_attr init = {.attr = {.max_wr = 4, .max_sge = 1}};
	struct ibv_srq *srq = ibv_create_srq(e.pd, &init);
	struct ibv_sge sge = sge_of(&e, 0, 64);
	struct ibv_recv_wr receive = {.wr_id = 5, .sg_list = &sge, .num_sge = 1}, *bad;

	CHECK(srq);
	CHECK_EQ(ibv_destroy_qp(e.qp), 0);
	e.qp = qp_create(&e, &(struct options){.srq = srq});
	struct ibv_qp *other = qp_create(&e, &(struct options){.srq = srq});

	CHECK_EQ(ibv_post_srq_recv(srq, &receive, &bad), 0);
	own = address_of(&e);
	child_receive(c.socket, &to, sizeof(to));
	qp_connect(e.qp, to.qpn);
	child_send(c.socket, &own, sizeof(own));
	uint64_t name = name_of_the_dead(&c);

	CHECK_EQ(poll_one(e.cq).wr_id, 5);
	struct sv_rq_entry *rq = &own_segment()->srqs[entry_of(e.qp)->srq - 1];

	rq->intent_record = 0;
	atomic_store(&rq->intent_qp, (e.qp->qp_num & (SV_QPS - 1)) + 1);
	atomic_store(&rq->lock, name);
	qp_connect(other, sender.qp->qp_num);
	qp_to_init(sender.qp, 0);
	qp_to_rtr(sender.qp, other->qp_num);
	qp_to_rts(sender.qp, 18, 7, 0);
	send_one(&sender, 0, IBV_WC_RNR_RETRY_EXC_ERR); /* there is no receive */
	CHECK_EQ(atomic_load(&rq->head), atomic_load(&rq->tail));
	CHECK_EQ(ibv_destroy_qp(other), 0);
	CHECK_EQ(ibv_destroy_qp(e.qp), 0);
	e.qp = NULL;
	CHECK_EQ(ibv_destroy_srq(srq), 0);
	endpoint_close(&sender);
	endpoint_close(&e);
}

static void holder_of_a_datagram_queue(void)
{
	struct options ud = {.type = IBV_QPT_UD};
	struct endpoint e, sender;
	struct address own, to;
	struct child c = child_start("shooter");

	step("a sender of datagrams that is killed before its receive is consumed: it is not used again");
	endpoint_open(&e, MEMORY_MALLOC, 4096, &ud);
	endpoint_open(&sender, MEMORY_MALLOC, 4096, &ud);
	datagrams_up(e.qp);
	datagrams_up(sender.qp);
	post_receive(&e, 5, 0, 64);
	own = address_of(&e);
	child_receive(c.socket, &to, sizeof(to));
	child_send(c.socket, &own, sizeof(own));
	uint64_t name = name_of_the_dead(&c);

	CHECK_EQ(poll_one(e.cq).wr_id, 5);
	struct sv_rq_entry *rq = &entry_of(e.qp)->rq;

	atomic_fetch_sub(&rq->head, 1);
	atomic_store(&rq->lock, name);
	send_one(&sender, e.qp->qp_num, IBV_WC_SUCCESS); /* lost: there is no receive */
	poll_none(e.cq, 1);
	post_receive(&e, 6, 0, 64);
	send_one(&sender, e.qp->qp_num, IBV_WC_SUCCESS);
	CHECK_EQ(poll_one(e.cq).wr_id, 6);
	poll_none(e.cq, 1);
	endpoint_close(&sender);
	endpoint_close(&e);
}

int main(int argc, char **argv)
{
	if (argc > 1 && (strcmp(argv[1], "holder") == 0 || strcmp(argv[1], "shooter") == 0))
		return holder(strcmp(argv[1], "shooter") == 0);
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
	holder_of_a_shared_queue();
	holder_of_a_datagram_queue();
	struct footprint after = footprint_after(&before);

	step("nothing is left");
	CHECK_EQ(after.fds, before.fds);
	CHECK_EQ(after.maps, before.maps);
	CHECK_EQ(after.threads, before.threads);
	return 0;
}
