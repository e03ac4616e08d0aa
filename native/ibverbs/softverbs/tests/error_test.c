/* Every error that an RC program can cause: its completion, the state of both sides, the asynchronous event. */
#include "test.h"

int softverbs_control(const char *settings);

static struct endpoint a, b;

static void connect_fresh(const struct options *options)
{
	if (a.qp)
		CHECK_EQ(ibv_destroy_qp(a.qp), 0);
	if (b.qp)
		CHECK_EQ(ibv_destroy_qp(b.qp), 0);
	a.qp = qp_create(&a, options);
	b.qp = qp_create(&b, options);
	qp_connect(a.qp, b.qp->qp_num);
	qp_connect(b.qp, a.qp->qp_num);
}

static void expect_state(struct ibv_qp *qp, enum ibv_qp_state state)
{
	uint64_t until = now_ns() + PATIENCE_NS;

	while (qp_state(qp) != state && now_ns() < until)
		usleep(1000);
	CHECK_EQ(qp_state(qp), state);
}

static void expect_flush(struct endpoint *e, struct ibv_send_wr *wr)
{
	post(e->qp, wr);
	struct ibv_wc wc = poll_one(e->cq);

	CHECK_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
	CHECK_EQ(wc.wr_id, wr->wr_id);
}

/* The request is refused by the peer: both sides end in error, and the peer's receives are flushed. */
static void refused(const char *name, struct ibv_send_wr *wr, enum ibv_wc_status status, enum ibv_event_type event)
{
	step("%s", name);
	post_receive(&b, 31, 0, 64);
	wr->wr_id = 9;
	wr->send_flags &= ~(unsigned)IBV_SEND_SIGNALED; /* errors complete even so */
	post_and_expect(&a, wr, status);
	expect_state(a.qp, IBV_QPS_ERR);
	expect_state(b.qp, IBV_QPS_ERR);
	expect_event(b.context, event);
	struct ibv_wc wc = poll_one(b.cq);

	CHECK_EQ(wc.wr_id, 31);
	CHECK_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
	expect_flush(&a, wr);
	post_receive(&b, 32, 0, 64);
	wc = poll_one(b.cq);
	CHECK_EQ(wc.wr_id, 32);
	CHECK_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
	connect_fresh(NULL);
}

static void remote_access(void)
{
	struct address to = address_of(&b);
	struct ibv_sge sge = sge_of(&a, 0, 8);
	struct ibv_send_wr wr = one_sided(IBV_WR_RDMA_WRITE, &sge, to, 0);

	wr.wr.rdma.rkey ^= 0x01000000;
	refused("a rkey of another generation", &wr, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
	wr = one_sided(IBV_WR_RDMA_READ, &sge, to, b.size - 7);
	refused("a read over the end", &wr, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
	wr = one_sided(IBV_WR_RDMA_WRITE, &sge, to, (uint64_t)-1);
	refused("a write before the start", &wr, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
	wr = atomic_wr(IBV_WR_ATOMIC_FETCH_AND_ADD, &sge, to, 4, 1, 0);
	refused("a misaligned atomic", &wr, IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR);

	struct ibv_mr *read_only = ibv_reg_mr(b.pd, b.buffer, 4096, IBV_ACCESS_REMOTE_READ);
	struct ibv_mr *write_only = ibv_reg_mr(b.pd, b.buffer, 4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);

	CHECK(read_only && write_only);
	to.rkey = read_only->rkey;
	wr = one_sided(IBV_WR_RDMA_WRITE, &sge, to, 0);
	refused("a write to a region for reading", &wr, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
	wr = atomic_wr(IBV_WR_ATOMIC_CMP_AND_SWP, &sge, to, 0, 1, 0);
	refused("an atomic on a region for reading", &wr, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
	to.rkey = write_only->rkey;
	wr = one_sided(IBV_WR_RDMA_READ, &sge, to, 0);
	refused("a read of a region for writing", &wr, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
	CHECK_EQ(ibv_dereg_mr(read_only), 0);
	CHECK_EQ(ibv_dereg_mr(write_only), 0);
	wr = one_sided(IBV_WR_RDMA_WRITE, &sge, to, 0);
	refused("a region that was deregistered", &wr, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);

	struct ibv_pd *other = ibv_alloc_pd(b.context);
	struct ibv_mr *foreign = ibv_reg_mr(other, b.buffer, 4096, ALL_ACCESS);

	CHECK(other && foreign);
	CHECK_EQ(ibv_dealloc_pd(other), EBUSY);
	to.rkey = foreign->rkey;
	wr = one_sided(IBV_WR_RDMA_WRITE, &sge, to, 0);
	refused("a region of another protection domain", &wr, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
	CHECK_EQ(ibv_dereg_mr(foreign), 0);
	CHECK_EQ(ibv_dealloc_pd(other), 0);

	step("whose peer asked amiss has failed when the peer hears of it");
	to = address_of(&b);
	to.rkey ^= 0x01000000;
	wr = one_sided(IBV_WR_RDMA_WRITE, &sge, to, 0);
	post_and_expect(&a, &wr, IBV_WC_REM_ACCESS_ERR);
	struct ibv_sge own = sge_of(&b, 0, 8);
	struct ibv_send_wr back = one_sided(IBV_WR_RDMA_WRITE, &own, address_of(&a), 0);

	post_and_expect(&b, &back, IBV_WC_WR_FLUSH_ERR);
	expect_event(b.context, IBV_EVENT_QP_ACCESS_ERR);
	connect_fresh(NULL);

	step("a QP that allows no remote access");
	struct ibv_qp_attr attr = {.qp_access_flags = 0};

	CHECK_EQ(ibv_modify_qp(b.qp, &attr, IBV_QP_ACCESS_FLAGS), 0);
	to = address_of(&b);
	wr = one_sided(IBV_WR_RDMA_WRITE, &sge, to, 0);
	post_and_expect(&a, &wr, IBV_WC_REM_ACCESS_ERR);
	expect_event(b.context, IBV_EVENT_QP_ACCESS_ERR);
	connect_fresh(NULL);
}

static void local_errors(void)
{
	struct address to = address_of(&b);
	struct ibv_sge sge = sge_of(&a, 0, 8);
	struct ibv_send_wr wr = one_sided(IBV_WR_RDMA_WRITE, &sge, to, 0), next = wr;

	step("a bad lkey, and the flush of what follows");
	sge.lkey ^= 0x01000000;
	wr.next = &next;
	next.wr_id = 2;
	post(a.qp, &wr);
	CHECK_EQ(poll_one(a.cq).status, IBV_WC_LOC_PROT_ERR);
	struct ibv_wc wc = poll_one(a.cq);

	CHECK_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
	CHECK_EQ(wc.wr_id, 2);
	CHECK_EQ(qp_state(a.qp), IBV_QPS_ERR);
	CHECK_EQ(qp_state(b.qp), IBV_QPS_RTS); /* it saw nothing */
	connect_fresh(NULL);
	wr.next = NULL;

	step("local bounds, and a local region that must not be written");
	sge = sge_of(&a, a.size - 4, 8);
	post_and_expect(&a, &wr, IBV_WC_LOC_PROT_ERR);
	connect_fresh(NULL);
	struct ibv_mr *read_only = ibv_reg_mr(a.pd, a.buffer, 4096, 0);

	CHECK(read_only);
	sge = (struct ibv_sge){(uintptr_t)a.buffer, 8, read_only->lkey};
	wr = one_sided(IBV_WR_RDMA_READ, &sge, to, 0);
	post_and_expect(&a, &wr, IBV_WC_LOC_PROT_ERR);
	connect_fresh(NULL);
	CHECK_EQ(ibv_dereg_mr(read_only), 0);

	step("an atomic into the wrong number of bytes");
	sge = sge_of(&a, 0, 16);
	wr = atomic_wr(IBV_WR_ATOMIC_FETCH_AND_ADD, &sge, to, 0, 1, 0);
	post_and_expect(&a, &wr, IBV_WC_LOC_LEN_ERR);
	connect_fresh(NULL);
}

static void message_errors(void)
{
	struct ibv_sge sge = sge_of(&a, 0, 100);
	struct ibv_send_wr wr = {
	    .wr_id = 4, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};

	step("a message longer than the receive");
	post_receive(&b, 40, 0, 99);
	post_receive(&b, 41, 0, 99);
	post_and_expect(&a, &wr, IBV_WC_REM_INV_REQ_ERR);
	struct ibv_wc wc = poll_one(b.cq);

	CHECK_EQ(wc.wr_id, 40);
	CHECK_EQ(wc.status, IBV_WC_LOC_LEN_ERR);
	wc = poll_one(b.cq);
	CHECK_EQ(wc.wr_id, 41);
	CHECK_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
	expect_state(b.qp, IBV_QPS_ERR);
	connect_fresh(NULL);

	step("a receive with a bad lkey");
	struct ibv_sge bad_sge = sge_of(&b, 0, 100);
	struct ibv_recv_wr receive = {.wr_id = 42, .sg_list = &bad_sge, .num_sge = 1}, *bad;

	bad_sge.lkey ^= 0x01000000;
	CHECK_EQ(ibv_post_recv(b.qp, &receive, &bad), 0);
	post_and_expect(&a, &wr, IBV_WC_REM_OP_ERR);
	wc = poll_one(b.cq);
	CHECK_EQ(wc.wr_id, 42);
	CHECK_EQ(wc.status, IBV_WC_LOC_PROT_ERR);
	connect_fresh(NULL);

	step("no receive, and two retries");
	CHECK_EQ(ibv_destroy_qp(a.qp), 0);
	a.qp = qp_create(&a, NULL);
	CHECK_EQ(ibv_destroy_qp(b.qp), 0);
	b.qp = qp_create(&b, NULL);
	qp_connect(b.qp, a.qp->qp_num);
	qp_to_init(a.qp, 0);
	qp_to_rtr(a.qp, b.qp->qp_num);
	qp_to_rts(a.qp, 14, 7, 2);
	post_and_expect(&a, &wr, IBV_WC_RNR_RETRY_EXC_ERR);
	connect_fresh(NULL);
}

static void state_errors(void)
{
	struct ibv_sge sge = sge_of(&a, 0, 8);
	struct ibv_send_wr wr = one_sided(IBV_WR_RDMA_WRITE, &sge, address_of(&b), 0), *bad_send;
	struct ibv_recv_wr receive = {.wr_id = 1}, *bad_receive;
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR};
	struct ibv_qp *qp = qp_create(&a, NULL);

	step("transitions and posts that the state forbids");
	CHECK_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE), EINVAL);
	CHECK_EQ(ibv_post_recv(qp, &receive, &bad_receive), EINVAL);
	CHECK(bad_receive == &receive);
	qp_to_init(qp, 0);
	CHECK_EQ(ibv_post_recv(qp, &receive, &bad_receive), 0);
	CHECK_EQ(ibv_post_send(qp, &wr, &bad_send), EINVAL);
	CHECK_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_DEST_QPN), EINVAL); /* the rest is missing */
	attr.qp_state = IBV_QPS_INIT;
	CHECK_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT), EINVAL); /* not an attribute of it */
	attr.port_num = 2;
	CHECK_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PORT), EINVAL);
	attr.qp_state = IBV_QPS_ERR;
	CHECK_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
	struct ibv_wc wc = poll_one(a.cq);

	CHECK_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
	CHECK_EQ(wc.qp_num, qp->qp_num);
	attr.qp_state = IBV_QPS_RESET;
	CHECK_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
	CHECK_EQ(qp_state(qp), IBV_QPS_RESET);
	CHECK_EQ(ibv_destroy_qp(qp), 0);

	step("a peer's QP that was reset, and then destroyed");
	attr.qp_state = IBV_QPS_RESET;
	post_and_expect(&a, &wr, IBV_WC_SUCCESS);
	CHECK_EQ(ibv_modify_qp(b.qp, &attr, IBV_QP_STATE), 0);
	post_and_expect(&a, &wr, IBV_WC_RETRY_EXC_ERR);
	connect_fresh(NULL);
	CHECK_EQ(ibv_destroy_qp(b.qp), 0);
	b.qp = NULL;
	post_and_expect(&a, &wr, IBV_WC_RETRY_EXC_ERR);
	expect_flush(&a, &wr);
	connect_fresh(NULL);

	step("a peer that never gets ready");
	CHECK_EQ(ibv_destroy_qp(a.qp), 0);
	a.qp = qp_create(&a, NULL);
	CHECK_EQ(ibv_destroy_qp(b.qp), 0);
	b.qp = qp_create(&b, NULL);
	qp_to_init(a.qp, 0);
	qp_to_rtr(a.qp, b.qp->qp_num);
	qp_to_rts(a.qp, 10, 2, 7);
	post_and_expect(&a, &wr, IBV_WC_RETRY_EXC_ERR);
	connect_fresh(NULL);
}

static void renew_cq(void);

static void overruns(void)
{
	struct options small = {.send_wr = 8, .recv_wr = 3};
	struct ibv_sge sge = sge_of(&a, 0, 8);
	struct ibv_send_wr wr[3], *bad;

	step("a full send queue: what fitted was posted");
	connect_fresh(&small);
	for (int i = 0; i < 3; i++) {
		wr[i] = one_sided(IBV_WR_RDMA_WRITE, &sge, address_of(&b), 0);
		wr[i].wr_id = (unsigned)i;
		wr[i].next = i < 2 ? &wr[i + 1] : NULL;
	}
	post(a.qp, wr);
	post(a.qp, wr);
	CHECK_EQ(ibv_post_send(a.qp, wr, &bad), ENOMEM);
	CHECK(bad == &wr[2]);
	for (int i = 0; i < 8; i++)
		CHECK_EQ(poll_one(a.cq).wr_id, i % 3);
	poll_none(a.cq, 1);

	step("a full receive queue");
	struct ibv_recv_wr receive = {.wr_id = 1}, *bad_receive;

	for (int i = 0; i < 3; i++)
		CHECK_EQ(ibv_post_recv(b.qp, &receive, &bad_receive), 0);
	CHECK_EQ(ibv_post_recv(b.qp, &receive, &bad_receive), ENOMEM);

	step("a completion queue that overflows");
	struct options large = {.send_wr = 1024};

	connect_fresh(&large);
	wr[2].next = NULL;
	for (int i = 0; i < 257; i++)
		post(a.qp, &wr[2]);
	/* the event of the CQ, then of the QP whose completion is lost */
	expect_event(a.context, IBV_EVENT_CQ_ERR);
	expect_event(a.context, IBV_EVENT_QP_FATAL);
	CHECK_EQ(qp_state(a.qp), IBV_QPS_ERR);
	for (int i = 0; i < 256; i++)
		CHECK_EQ(poll_one(a.cq).status, IBV_WC_SUCCESS);
	post(a.qp, &wr[2]);
	poll_none(a.cq, 5); /* it takes no completions any more, not even of flushes */
	renew_cq();
}

/* Replaces the CQ of `a`, and its QP. */
static void renew_cq(void)
{
	CHECK_EQ(ibv_destroy_qp(a.qp), 0);
	CHECK_EQ(ibv_destroy_cq(a.cq), 0);
	a.cq = ibv_create_cq(a.context, 256, &a, a.channel, 0);
	CHECK(a.cq);
	a.qp = qp_create(&a, NULL);
	connect_fresh(NULL);
}

static struct ibv_qp *with_cqs(struct ibv_cq *send, struct ibv_cq *receive)
{
	struct ibv_qp_init_attr init = {.send_cq = send,
	    .recv_cq = receive,
	    .cap = {.max_send_wr = 1024, .max_recv_wr = 16, .max_send_sge = 1, .max_recv_sge = 1},
	    .qp_type = IBV_QPT_RC};
	struct ibv_qp *qp = ibv_create_qp(a.pd, &init);

	CHECK(qp);
	qp_connect(qp, qp->qp_num);
	return qp;
}

static void overrun_of_a_shared_queue(void)
{
	struct ibv_cq *other = ibv_create_cq(a.context, 16, NULL, NULL, 0);
	struct ibv_sge sge = sge_of(&a, 0, 8);
	struct ibv_send_wr wr = one_sided(IBV_WR_RDMA_WRITE, &sge, address_of(&a), 64);

	step("a completion queue that overflows: each queue pair that completes into it fails, and no other");
	CHECK(other);
	CHECK_EQ(ibv_destroy_qp(a.qp), 0);
	a.qp = with_cqs(a.cq, a.cq);
	struct ibv_qp *sends = with_cqs(a.cq, other), *receives = with_cqs(other, a.cq), *neither = with_cqs(other, other);

	/* not read again: an overrun changes it, on a thread of the device's too */
	int entries = a.cq->cqe;

	for (int i = 0; i <= entries; i++)
		post(a.qp, &wr);
	expect_event(a.context, IBV_EVENT_CQ_ERR);
	for (int i = 0; i < 3; i++)
		expect_event(a.context, IBV_EVENT_QP_FATAL);
	CHECK_EQ(qp_state(a.qp), IBV_QPS_ERR);
	CHECK_EQ(qp_state(sends), IBV_QPS_ERR);
	CHECK_EQ(qp_state(receives), IBV_QPS_ERR);
	CHECK_EQ(qp_state(neither), IBV_QPS_RTS);
	post(neither, &wr);
	CHECK_EQ(poll_one(other).status, IBV_WC_SUCCESS);
	CHECK_EQ(ibv_destroy_qp(sends), 0);
	CHECK_EQ(ibv_destroy_qp(receives), 0);
	CHECK_EQ(ibv_destroy_qp(neither), 0);
	CHECK_EQ(ibv_destroy_cq(other), 0);
	renew_cq();
}

/* Connected as `ours` asks and `theirs` answers. */
static void connect_with_depths(uint8_t ours, uint8_t theirs)
{
	connect_fresh(NULL); /* and from there, once more */
	struct ibv_qp *const qps[2] = {a.qp, b.qp};

	for (int i = 0; i < 2; i++) {
		struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};

		CHECK_EQ(ibv_modify_qp(qps[i], &attr, IBV_QP_STATE), 0);
		qp_to_init(qps[i], ALL_ACCESS & ~IBV_ACCESS_LOCAL_WRITE);
		attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR,
		    .path_mtu = IBV_MTU_4096,
		    .dest_qp_num = qps[1 - i]->qp_num,
		    .max_dest_rd_atomic = theirs,
		    .min_rnr_timer = 1,
		    .ah_attr = {.dlid = 1, .port_num = 1}};
		CHECK_EQ(ibv_modify_qp(qps[i], &attr,
		             IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		                 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
		    0);
		attr = (struct ibv_qp_attr){
		    .qp_state = IBV_QPS_RTS, .timeout = 18, .retry_cnt = 7, .rnr_retry = 7, .max_rd_atomic = ours};
		CHECK_EQ(ibv_modify_qp(qps[i], &attr,
		             IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
		                 IBV_QP_MAX_QP_RD_ATOMIC),
		    0);
	}
}

static void depths(void)
{
	struct ibv_sge sge = sge_of(&a, 0, 8);
	struct ibv_send_wr write = one_sided(IBV_WR_RDMA_WRITE, &sge, address_of(&b), 0);
	struct ibv_send_wr read = one_sided(IBV_WR_RDMA_READ, &sge, address_of(&b), 0);
	struct ibv_send_wr add = atomic_wr(IBV_WR_ATOMIC_FETCH_AND_ADD, &sge, address_of(&b), 0, 1, 0);
	struct ibv_send_wr *const answered[] = {&read, &add};

	step("READs and atomics of a QP that may have none under way, and of one whose peer answers none");
	for (int i = 0; i < 2; i++) {
		connect_with_depths(0, 1);
		post_and_expect(&a, &write, IBV_WC_SUCCESS);
		post_and_expect(&a, &write, IBV_WC_SUCCESS);
		post_and_expect(&a, answered[i], IBV_WC_LOC_QP_OP_ERR);
		connect_with_depths(1, 0);
		post_and_expect(&a, &write, IBV_WC_SUCCESS);
		post_and_expect(&a, &write, IBV_WC_SUCCESS);
		post_and_expect(&a, answered[i], IBV_WC_REM_INV_REQ_ERR);
		expect_event(b.context, IBV_EVENT_QP_REQ_ERR);
		connect_with_depths(1, 1);
		post_and_expect(&a, answered[i], IBV_WC_SUCCESS);
	}
	step("more of them at once than the peer answers, where operations wait for each other");
	CHECK_EQ(softverbs_control("straggler=1:1000"), 0);
	for (uint8_t ours = 2; ours <= 3; ours++) {
		struct ibv_send_wr list[4];

		connect_with_depths(ours, 2);
		for (int i = 0; i < 4; i++) {
			list[i] = read;
			list[i].next = i < 3 ? &list[i + 1] : NULL;
		}
		post(a.qp, list);
		for (unsigned i = 0; i < 4; i++) {
			enum ibv_wc_status status = poll_one(a.cq).status;

			CHECK_EQ(status, ours == 2 ? IBV_WC_SUCCESS : i ? IBV_WC_WR_FLUSH_ERR : IBV_WC_REM_INV_REQ_ERR);
		}
	}
	CHECK_EQ(softverbs_control("straggler=0:0"), 0);
	expect_event(b.context, IBV_EVENT_QP_REQ_ERR);
	connect_fresh(NULL);
}

static void registrations(void)
{
	char *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	step("registrations that are refused");
	CHECK(!ibv_reg_mr(a.pd, page, 4096, IBV_ACCESS_LOCAL_WRITE));
	CHECK_EQ(errno, EFAULT);
	CHECK_EQ(munmap(page, 4096), 0);
	CHECK(!ibv_reg_mr(a.pd, page, 4096, 0));
	CHECK_EQ(errno, EFAULT);
	CHECK(!ibv_reg_mr(a.pd, a.buffer, 64, IBV_ACCESS_REMOTE_WRITE)); /* needs local write */
	CHECK_EQ(errno, EINVAL);
	CHECK(!ibv_reg_mr(a.pd, a.buffer, 64, 1 << 10));
	CHECK_EQ(errno, EINVAL);
	CHECK(!ibv_reg_mr(a.pd, a.buffer, 64, IBV_ACCESS_ON_DEMAND));
	CHECK_EQ(errno, EOPNOTSUPP);
}

int main(void)
{
	struct footprint before = footprint_now();

	endpoint_open(&a, MEMORY_MALLOC, 65536, NULL);
	endpoint_open(&b, MEMORY_MALLOC, 65536, NULL);
	connect_fresh(NULL);
	remote_access();
	local_errors();
	message_errors();
	state_errors();
	overruns();
	overrun_of_a_shared_queue();
	depths();
	registrations();
	endpoint_close(&a);
	endpoint_close(&b);
	struct footprint after = footprint_after(&before);

	CHECK_EQ(after.fds, before.fds);
	CHECK_EQ(after.threads, before.threads);
	return 0;
}
