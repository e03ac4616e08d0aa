/* Features that only some programs use: SRQs, datagrams, memory windows, the ibv_wr_* builders, extended CQs. */
#include "test.h"

int softverbs_control(const char *settings);

static struct endpoint a, b;

static void open_both(const struct options *oa, const struct options *ob)
{
	endpoint_open(&a, MEMORY_MEMFD, 65536, oa);
	endpoint_open(&b, MEMORY_MEMFD, 65536, ob);
}

static void close_both(void)
{
	endpoint_close(&a);
	endpoint_close(&b);
}

static void connect_both(void)
{
	qp_connect(a.qp, b.qp->qp_num);
	qp_connect(b.qp, a.qp->qp_num);
}

static struct ibv_send_wr message(struct ibv_sge *sge)
{
	return (struct ibv_send_wr){
	    .wr_id = 1, .sg_list = sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
}

static void shared_receive_queue(void)
{
	step("an SRQ under two QPs: each receive is used once, and the limit is told once");
	open_both(NULL, NULL);
	struct ibv_srq_init_attr init = {.attr = {.max_wr = 16, .max_sge = 1}};
	struct ibv_srq *srq = ibv_create_srq(b.pd, &init);

	CHECK(srq);
	CHECK_EQ(ibv_destroy_qp(b.qp), 0);
	struct ibv_qp *qps[2], *senders[2] = {a.qp, qp_create(&a, NULL)};

	for (int i = 0; i < 2; i++) {
		qps[i] = qp_create(&b, &(struct options){.srq = srq});
		qp_connect(qps[i], senders[i]->qp_num);
		qp_connect(senders[i], qps[i]->qp_num);
	}
	b.qp = qps[0];
	struct ibv_recv_wr receive = {.wr_id = 1}, *bad;

	CHECK_EQ(ibv_post_recv(qps[0], &receive, &bad), EINVAL); /* it has no queue of its own */
	for (unsigned i = 0; i < 16; i++) {
		struct ibv_sge sge = sge_of(&b, i * 64, 64);

		receive = (struct ibv_recv_wr){.wr_id = i, .sg_list = &sge, .num_sge = 1};
		CHECK_EQ(ibv_post_srq_recv(srq, &receive, &bad), 0);
	}
	CHECK_EQ(ibv_post_srq_recv(srq, &receive, &bad), ENOMEM);
	struct ibv_srq_attr attr = {.srq_limit = 4};

	CHECK_EQ(ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT), 0);
	unsigned seen = 0;

	for (unsigned i = 0; i < 16; i++) {
		struct ibv_sge sge = sge_of(&a, 0, 8);
		struct ibv_send_wr wr = message(&sge);

		*(uint64_t *)a.buffer = i;
		post(senders[i % 2], &wr);
		CHECK_EQ(poll_one(a.cq).status, IBV_WC_SUCCESS);
		struct ibv_wc wc = poll_one(b.cq);

		CHECK_EQ(wc.qp_num, qps[i % 2]->qp_num);
		CHECK_EQ(*(uint64_t *)(b.buffer + wc.wr_id * 64), i);
		seen |= 1u << wc.wr_id;
	}
	CHECK_EQ(seen, 0xffff);
	expect_event(b.context, IBV_EVENT_SRQ_LIMIT_REACHED);
	CHECK_EQ(ibv_query_srq(srq, &attr), 0);
	CHECK_EQ(attr.srq_limit, 0);

	struct ibv_qp_attr to_error = {.qp_state = IBV_QPS_ERR};

	CHECK_EQ(ibv_modify_qp(qps[1], &to_error, IBV_QP_STATE), 0);
	expect_event(b.context, IBV_EVENT_QP_LAST_WQE_REACHED);
	CHECK_EQ(ibv_destroy_srq(srq), EBUSY);
	CHECK_EQ(ibv_destroy_qp(qps[1]), 0);
	CHECK_EQ(ibv_destroy_qp(senders[1]), 0);
	CHECK_EQ(ibv_destroy_qp(b.qp), 0);
	b.qp = NULL;
	CHECK_EQ(ibv_destroy_srq(srq), 0);
	close_both();
}

/* A queue pair that is destroyed takes its completions with it, but not the places of those receives in the SRQ. */
static void shared_receives_given_back(void)
{
	struct ibv_srq_init_attr init = {.attr = {.max_wr = 16, .max_sge = 1}};
	struct ibv_qp_attr to_reset = {.qp_state = IBV_QPS_RESET};

	step("an SRQ whose queue pair is reset, then destroyed, with receives that nobody polled for: all can be posted "
	     "anew");
	open_both(NULL, NULL);
	struct ibv_srq *srq = ibv_create_srq(b.pd, &init);

	CHECK(srq);
	CHECK_EQ(ibv_destroy_qp(b.qp), 0);
	b.qp = qp_create(&b, &(struct options){.srq = srq});
	for (int round = 0; round < 3; round++) {
		struct ibv_sge sge = sge_of(&b, 0, 64);
		struct ibv_recv_wr receive = {.wr_id = 1, .sg_list = &sge, .num_sge = 1}, *bad;

		for (unsigned i = 0; i < 16; i++)
			CHECK_EQ(ibv_post_srq_recv(srq, &receive, &bad), 0);
		CHECK_EQ(ibv_post_srq_recv(srq, &receive, &bad), ENOMEM);
		if (round == 2)
			break;
		connect_both();
		for (unsigned i = 0; i < 16; i++) {
			struct ibv_sge from = sge_of(&a, 0, 8);
			struct ibv_send_wr wr = message(&from);

			post_and_expect(&a, &wr, IBV_WC_SUCCESS);
		}
		CHECK_EQ(ibv_modify_qp(a.qp, &to_reset, IBV_QP_STATE), 0);
		if (round == 0) {
			CHECK_EQ(ibv_modify_qp(b.qp, &to_reset, IBV_QP_STATE), 0);
		} else {
			CHECK_EQ(ibv_destroy_qp(b.qp), 0);
			b.qp = NULL;
		}
	}
	poll_none(b.cq, 1);
	CHECK_EQ(ibv_destroy_srq(srq), 0);
	close_both();
}

static void ud_up(struct ibv_qp *qp, uint32_t qkey)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = qkey};

	CHECK_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY), 0);
	attr.qp_state = IBV_QPS_RTR;
	CHECK_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
	attr.qp_state = IBV_QPS_RTS;
	CHECK_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN), 0);
}

static void uc_up(struct ibv_qp *qp, uint32_t dest)
{
	struct ibv_qp_attr attr = {
	    .qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_4096, .dest_qp_num = dest, .ah_attr = {.dlid = 1, .port_num = 1}};

	qp_to_init(qp, IBV_ACCESS_REMOTE_WRITE);
	CHECK_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN), 0);
	attr.qp_state = IBV_QPS_RTS;
	CHECK_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN), 0);
}

static void to_rts_again(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS, .cur_qp_state = IBV_QPS_SQE};

	CHECK_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_CUR_STATE), 0);
}

static void datagrams(void)
{
	struct options ud = {.type = IBV_QPT_UD};

	step("datagrams: 40 bytes of header, Q_Keys, and losses that nobody hears of");
	open_both(&ud, &ud);
	ud_up(a.qp, 0x11);
	ud_up(b.qp, 0x22);
	struct ibv_ah_attr attr = {.dlid = 1, .port_num = 1};
	struct ibv_ah *ah = ibv_create_ah(a.pd, &attr);

	attr.is_global = 1;
	CHECK_EQ(ibv_query_gid(a.context, 1, 0, &attr.grh.dgid), 0);
	struct ibv_ah *global = ibv_create_ah(a.pd, &attr);

	CHECK(ah && global);
	struct ibv_sge sge = sge_of(&a, 0, 100);
	struct ibv_send_wr wr = message(&sge);

	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = b.qp->qp_num;
	wr.wr.ud.remote_qkey = 0x22;
	memset(a.buffer, 0x77, 100);
	post_and_expect(&a, &wr, IBV_WC_SUCCESS); /* no receive: lost */
	post_receive(&b, 3, 1000, 140);
	wr.wr.ud.remote_qkey = 0x33;
	post_and_expect(&a, &wr, IBV_WC_SUCCESS); /* another Q_Key: lost */
	wr.wr.ud.remote_qpn = 0xabcdef;
	post_and_expect(&a, &wr, IBV_WC_SUCCESS); /* no such QP: lost */
	poll_none(b.cq, 5);
	wr.wr.ud.remote_qpn = b.qp->qp_num;
	wr.wr.ud.remote_qkey = 0x22;
	post_and_expect(&a, &wr, IBV_WC_SUCCESS);
	struct ibv_wc wc = poll_one(b.cq);

	CHECK_EQ(wc.wr_id, 3);
	CHECK_EQ(wc.byte_len, 140);
	CHECK_EQ(wc.src_qp, a.qp->qp_num);
	CHECK_EQ(wc.wc_flags & IBV_WC_GRH, 0);
	CHECK(memcmp(a.buffer, b.buffer + 1040, 100) == 0);

	post_receive(&b, 4, 2000, 200);
	wr.wr.ud.ah = global;
	post_and_expect(&a, &wr, IBV_WC_SUCCESS);
	wc = poll_one(b.cq);
	CHECK(wc.wc_flags & IBV_WC_GRH);
	CHECK(memcmp(((struct ibv_grh *)(b.buffer + 2000))->dgid.raw, attr.grh.dgid.raw, 16) == 0);
	struct ibv_ah *back = ibv_create_ah_from_wc(b.pd, &wc, (struct ibv_grh *)(b.buffer + 2000), 1);

	CHECK(back);
	CHECK_EQ(ibv_destroy_ah(back), 0);

	struct ibv_send_wr *bad;

	step("a datagram that cannot be sent stops the send queue alone");
	sge.length = 5000;
	post_and_expect(&a, &wr, IBV_WC_LOC_LEN_ERR);
	CHECK_EQ(qp_state(a.qp), IBV_QPS_SQE);
	sge.length = 8;
	post_and_expect(&a, &wr, IBV_WC_WR_FLUSH_ERR);
	struct ibv_sge back_sge = sge_of(&b, 0, 8);
	struct ibv_send_wr reply = message(&back_sge);

	reply.wr.ud.ah = ibv_create_ah(b.pd, &(struct ibv_ah_attr){.dlid = 1, .port_num = 1});
	reply.wr.ud.remote_qpn = a.qp->qp_num;
	reply.wr.ud.remote_qkey = 0x11;
	CHECK(reply.wr.ud.ah);
	post_receive(&a, 5, 1000, 100);
	post_and_expect(&b, &reply, IBV_WC_SUCCESS);
	CHECK_EQ(poll_one(a.cq).wr_id, 5);
	CHECK_EQ(ibv_destroy_ah(reply.wr.ud.ah), 0);
	to_rts_again(a.qp);
	post_receive(&b, 6, 2000, 200);
	post_and_expect(&a, &wr, IBV_WC_SUCCESS);
	CHECK_EQ(poll_one(b.cq).wr_id, 6);
	wr.opcode = IBV_WR_RDMA_WRITE;
	CHECK_EQ(ibv_post_send(a.qp, &wr, &bad), EINVAL);
	CHECK_EQ(ibv_destroy_ah(ah), 0);
	CHECK_EQ(ibv_destroy_ah(global), 0);
	close_both();
}

static void unreliable_connection(void)
{
	struct options uc = {.type = IBV_QPT_UC};

	step("an unreliable connection: the same for a bad lkey; what the peer does not take is lost");
	open_both(&uc, &uc);
	uc_up(a.qp, b.qp->qp_num);
	uc_up(b.qp, a.qp->qp_num);
	struct ibv_sge sge = sge_of(&a, 0, 8), back_sge = sge_of(&b, 0, 8);
	struct ibv_send_wr wr = one_sided(IBV_WR_RDMA_WRITE, &sge, address_of(&b), 64);
	struct ibv_send_wr back = one_sided(IBV_WR_RDMA_WRITE, &back_sge, address_of(&a), 64);

	sge.lkey ^= 0x01000000;
	post_and_expect(&a, &wr, IBV_WC_LOC_PROT_ERR);
	CHECK_EQ(qp_state(a.qp), IBV_QPS_SQE);
	*(uint64_t *)b.buffer = 77;
	post_and_expect(&b, &back, IBV_WC_SUCCESS);
	CHECK_EQ(*(uint64_t *)(a.buffer + 64), 77);
	to_rts_again(a.qp);
	sge = sge_of(&a, 0, 8);
	*(uint64_t *)a.buffer = 78;
	post_and_expect(&a, &wr, IBV_WC_SUCCESS);
	CHECK_EQ(*(uint64_t *)(b.buffer + 64), 78);
	wr.wr.rdma.rkey ^= 0x01000000;
	post_and_expect(&a, &wr, IBV_WC_SUCCESS);
	CHECK_EQ(qp_state(a.qp), IBV_QPS_RTS);
	close_both();
}

static void memory_windows(void)
{
	step("a type 2 window: bound, used, invalidated by either side");
	open_both(NULL, NULL);
	connect_both();
	CHECK_EQ(ibv_dereg_mr(b.mr), 0);
	b.mr = ibv_reg_mr(b.pd, b.buffer, b.size, ALL_ACCESS | IBV_ACCESS_MW_BIND);
	struct ibv_mw *mw = ibv_alloc_mw(b.pd, IBV_MW_TYPE_2);

	CHECK(b.mr && mw);
	uint32_t rkey = ibv_inc_rkey(mw->rkey);
	struct ibv_send_wr bind = {.wr_id = 8, .opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED};

	bind.bind_mw.mw = mw;
	bind.bind_mw.rkey = rkey;
	bind.bind_mw.bind_info = (struct ibv_mw_bind_info){
	    b.mr, (uintptr_t)b.buffer + 4096, 4096, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ};
	post_and_expect(&b, &bind, IBV_WC_SUCCESS);
	CHECK_EQ(ibv_dereg_mr(b.mr), EBUSY);

	struct address window = {b.qp->qp_num, rkey, (uintptr_t)b.buffer + 4096};
	struct ibv_sge sge = sge_of(&a, 0, 4096);
	struct ibv_send_wr wr = one_sided(IBV_WR_RDMA_WRITE, &sge, window, 0);

	memset(a.buffer, 0x3c, 4096);
	post_and_expect(&a, &wr, IBV_WC_SUCCESS);
	CHECK(memcmp(a.buffer, b.buffer + 4096, 4096) == 0);

	struct ibv_send_wr invalidate = {
	    .wr_id = 9, .opcode = IBV_WR_LOCAL_INV, .send_flags = IBV_SEND_SIGNALED, .invalidate_rkey = rkey};

	post_and_expect(&b, &invalidate, IBV_WC_SUCCESS);
	bind.bind_mw.rkey = rkey = ibv_inc_rkey(rkey);
	post_and_expect(&b, &bind, IBV_WC_SUCCESS);
	window.rkey = rkey;
	wr = one_sided(IBV_WR_RDMA_WRITE, &sge, window, 0);
	post_and_expect(&a, &wr, IBV_WC_SUCCESS);

	struct ibv_sge small = sge_of(&a, 0, 8);
	struct ibv_send_wr with_inv = message(&small);

	with_inv.opcode = IBV_WR_SEND_WITH_INV;
	with_inv.invalidate_rkey = rkey;
	post_receive(&b, 5, 0, 64);
	post_and_expect(&a, &with_inv, IBV_WC_SUCCESS);
	struct ibv_wc wc = poll_one(b.cq);

	CHECK_EQ(wc.wc_flags, IBV_WC_WITH_INV);
	CHECK_EQ(wc.invalidated_rkey, rkey);
	post_and_expect(&a, &wr, IBV_WC_REM_ACCESS_ERR);
	CHECK_EQ(ibv_dealloc_mw(mw), 0);
	close_both();
}

/* Peers that have used a key look up its present meaning if it was bound to another page. */
static void window_bound_anew(void)
{
	step("a window is bound to another page under the key that it had");
	open_both(NULL, NULL);
	connect_both();
	CHECK_EQ(ibv_dereg_mr(b.mr), 0);
	b.mr = ibv_reg_mr(b.pd, b.buffer, b.size, ALL_ACCESS | IBV_ACCESS_MW_BIND);
	struct ibv_mw *mw = ibv_alloc_mw(b.pd, IBV_MW_TYPE_2);

	CHECK(b.mr && mw);
	uint32_t rkey = ibv_inc_rkey(mw->rkey);
	struct ibv_send_wr bind = {.wr_id = 8, .opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED};
	struct ibv_send_wr invalidate = {
	    .wr_id = 9, .opcode = IBV_WR_LOCAL_INV, .send_flags = IBV_SEND_SIGNALED, .invalidate_rkey = rkey};
	struct address window = {b.qp->qp_num, rkey, 0};
	struct ibv_sge sge = sge_of(&a, 0, 4096);
	struct ibv_send_wr wr = one_sided(IBV_WR_RDMA_WRITE, &sge, window, 0);

	memset(b.buffer, 0, 3 * 4096);
	bind.bind_mw.mw = mw;
	bind.bind_mw.rkey = rkey;
	for (int page = 1; page <= 2; page++) {
		bind.bind_mw.bind_info = (struct ibv_mw_bind_info){
		    b.mr, (uintptr_t)b.buffer + (uintptr_t)page * 4096, 4096, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_ZERO_BASED};
		post_and_expect(&b, &bind, IBV_WC_SUCCESS);
		memset(a.buffer, page, 4096);
		post_and_expect(&a, &wr, IBV_WC_SUCCESS);
		for (int other = 0; other <= 2; other++)
			CHECK_EQ(b.buffer[other * 4096], other <= page ? other : 0);
		post_and_expect(&b, &invalidate, IBV_WC_SUCCESS);
	}
	CHECK_EQ(ibv_dealloc_mw(mw), 0);
	close_both();
}

static void window_of_another(void)
{
	step("a window is invalidated by the peer of its queue pair, and by no other's");
	open_both(NULL, NULL);
	connect_both();
	struct ibv_qp *mine = a.qp, *others[2] = {qp_create(&a, NULL), qp_create(&b, NULL)};

	qp_connect(others[0], others[1]->qp_num);
	qp_connect(others[1], others[0]->qp_num);
	CHECK_EQ(ibv_dereg_mr(b.mr), 0);
	b.mr = ibv_reg_mr(b.pd, b.buffer, b.size, ALL_ACCESS | IBV_ACCESS_MW_BIND);
	struct ibv_mw *mw = ibv_alloc_mw(b.pd, IBV_MW_TYPE_2);

	CHECK(b.mr && mw);
	struct ibv_send_wr bind = {.wr_id = 8, .opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED};

	bind.bind_mw.mw = mw;
	bind.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
	bind.bind_mw.bind_info = (struct ibv_mw_bind_info){b.mr, (uintptr_t)b.buffer + 4096, 4096, IBV_ACCESS_REMOTE_WRITE};
	post_and_expect(&b, &bind, IBV_WC_SUCCESS);
	struct ibv_sge sge = sge_of(&a, 0, 8), into = sge_of(&b, 0, 64);
	struct ibv_send_wr with_inv = message(&sge);
	struct ibv_recv_wr receive = {.wr_id = 5, .sg_list = &into, .num_sge = 1}, *bad;
	struct address window = {b.qp->qp_num, bind.bind_mw.rkey, (uintptr_t)b.buffer + 4096};
	struct ibv_send_wr wr = one_sided(IBV_WR_RDMA_WRITE, &sge, window, 0);

	with_inv.opcode = IBV_WR_SEND_WITH_INV;
	with_inv.invalidate_rkey = bind.bind_mw.rkey;
	CHECK_EQ(ibv_post_recv(others[1], &receive, &bad), 0);
	a.qp = others[0];
	post_and_expect(&a, &with_inv, IBV_WC_REM_ACCESS_ERR);
	a.qp = mine;
	post_and_expect(&a, &wr, IBV_WC_SUCCESS);
	CHECK_EQ(ibv_dealloc_mw(mw), 0);
	for (int i = 0; i < 2; i++)
		CHECK_EQ(ibv_destroy_qp(others[i]), 0);
	close_both();
}

/* An object is destroyed before the operation that names it executes. */
static void named_and_gone(void)
{
	step("a region, a window, an address handle that go away while an operation that names them waits");
	CHECK_EQ(softverbs_control("order=weak"), 0);
	open_both(NULL, NULL);
	connect_both();
	bool too_late = false;

	for (int i = 0; i < 100 || !too_late; i++) {
		struct ibv_mr *mr = ibv_reg_mr(b.pd, b.buffer, 4096, ALL_ACCESS | IBV_ACCESS_MW_BIND);
		struct ibv_mw *mw = ibv_alloc_mw(b.pd, IBV_MW_TYPE_2);
		struct ibv_send_wr bind = {.wr_id = 8, .opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED};

		CHECK(mr && mw);
		bind.bind_mw.mw = mw;
		bind.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
		bind.bind_mw.bind_info = (struct ibv_mw_bind_info){mr, (uintptr_t)b.buffer, 4096, IBV_ACCESS_REMOTE_READ};
		post(b.qp, &bind);
		/* the helper may have been first: then the window holds the region */
		int error = i % 2 ? ibv_dereg_mr(mr) : ibv_dealloc_mw(mw);
		enum ibv_wc_status status = poll_one(b.cq).status;

		if (i % 2 ? error == 0 : status == IBV_WC_MW_BIND_ERR)
			too_late = true;
		if (i % 2)
			CHECK_EQ(status, error ? IBV_WC_SUCCESS : IBV_WC_MW_BIND_ERR);
		CHECK_EQ(i % 2 ? ibv_dealloc_mw(mw) : ibv_dereg_mr(mr), 0);
		if (error)
			CHECK_EQ(ibv_dereg_mr(mr), 0);
		if (status != IBV_WC_SUCCESS) {
			CHECK_EQ(ibv_destroy_qp(a.qp), 0);
			CHECK_EQ(ibv_destroy_qp(b.qp), 0);
			a.qp = qp_create(&a, NULL);
			b.qp = qp_create(&b, NULL);
			connect_both();
		}
	}
	struct options ud = {.type = IBV_QPT_UD};
	struct ibv_ah_attr attr = {.dlid = 1, .port_num = 1};
	struct ibv_qp *from = qp_create(&a, &ud), *to = qp_create(&b, &ud);

	ud_up(from, 0x11);
	ud_up(to, 0x11);
	for (int i = 0; i < 100; i++) {
		struct ibv_sge sge = sge_of(&a, 0, 8);
		struct ibv_send_wr wr = message(&sge);

		wr.wr.ud.ah = ibv_create_ah(a.pd, &attr);
		wr.wr.ud.remote_qpn = to->qp_num;
		wr.wr.ud.remote_qkey = 0x11;
		post(from, &wr);
		CHECK_EQ(ibv_destroy_ah(wr.wr.ud.ah), 0);
		CHECK_EQ(poll_one(a.cq).status, IBV_WC_SUCCESS);
	}
	CHECK_EQ(ibv_destroy_qp(from), 0);
	CHECK_EQ(ibv_destroy_qp(to), 0);
	close_both();
	CHECK_EQ(softverbs_control("order=strict"), 0);
}

/* Opens both sides; ours builds its work requests by calls. */
static struct ibv_qp_ex *open_builder(void)
{
	open_both(NULL, NULL);
	CHECK_EQ(ibv_destroy_qp(a.qp), 0);
	struct ibv_qp_init_attr_ex init = {.send_cq = a.cq,
	    .recv_cq = a.cq,
	    .cap = {.max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 2, .max_recv_sge = 1, .max_inline_data = 64},
	    .qp_type = IBV_QPT_RC,
	    .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
	    .pd = a.pd,
	    .send_ops_flags =
	        IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | IBV_QP_EX_WITH_SEND_WITH_IMM};

	a.qp = ibv_create_qp_ex(a.context, &init);
	CHECK(a.qp);
	connect_both();
	struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(a.qp);

	CHECK(ex);
	CHECK(!ibv_qp_to_qp_ex(b.qp));
	return ex;
}

static void builders(void)
{
	step("ibv_wr_*: a list of several kinds, inline, aborted, refused as a whole");
	struct ibv_qp_ex *ex = open_builder();
	struct address to = address_of(&b);
	uint64_t value = 0x123456789abcdefull;

	post_receive(&b, 6, 512, 64);
	*(uint64_t *)(b.buffer + 8) = 5;
	ibv_wr_start(ex);
	ex->wr_id = 1;
	ex->wr_flags = 0;
	ibv_wr_rdma_write(ex, to.rkey, to.addr);
	ibv_wr_set_inline_data(ex, &value, sizeof(value));
	ex->wr_id = 2;
	ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_atomic_fetch_add(ex, to.rkey, to.addr + 8, 4);
	ibv_wr_set_sge(ex, a.mr->lkey, (uintptr_t)a.buffer, 8);
	ex->wr_id = 3;
	ibv_wr_send_imm(ex, 0x55);
	ibv_wr_set_inline_data(ex, &value, sizeof(value));
	value = 0; /* inline data may be reused at once */
	CHECK_EQ(ibv_wr_complete(ex), 0);
	CHECK_EQ(poll_one(a.cq).wr_id, 2);
	CHECK_EQ(poll_one(a.cq).wr_id, 3);
	CHECK_EQ(*(uint64_t *)b.buffer, 0x123456789abcdefull);
	CHECK_EQ(*(uint64_t *)(b.buffer + 8), 9);
	struct ibv_wc wc = poll_one(b.cq);

	CHECK_EQ(wc.imm_data, 0x55);
	CHECK_EQ(*(uint64_t *)(b.buffer + 512), 0x123456789abcdefull);

	ibv_wr_start(ex);
	ibv_wr_rdma_write(ex, to.rkey, to.addr);
	ibv_wr_set_inline_data(ex, &value, sizeof(value));
	ibv_wr_abort(ex);
	CHECK_EQ(*(uint64_t *)b.buffer, 0x123456789abcdefull);
	ibv_wr_start(ex);
	for (int i = 0; i < 9; i++) { /* one too many */
		ibv_wr_rdma_write(ex, to.rkey, to.addr);
		ibv_wr_set_inline_data(ex, &value, sizeof(value));
	}
	CHECK_EQ(ibv_wr_complete(ex), ENOMEM);
	CHECK_EQ(*(uint64_t *)b.buffer, 0x123456789abcdefull);
	close_both();
}

/* Completes the request that was built, which succeeds. */
static void built(struct ibv_qp_ex *ex)
{
	CHECK_EQ(ibv_wr_complete(ex), 0);
	CHECK_EQ(poll_one(a.cq).status, IBV_WC_SUCCESS);
}

static void built_inline(void)
{
	step("ibv_wr_*: what sets a request's data says whether it is inline, and no flag; of two, the last counts");
	struct ibv_qp_ex *ex = open_builder();
	struct address to = address_of(&b);
	uint64_t value = 7;

	for (uint32_t i = 0; i < 256; i++)
		a.buffer[i] = (uint8_t)(i + 1);
	ex->wr_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE;
	/* the first length comes before any inline data was used; the second is more than inline data may have */
	for (uint32_t length = 8; length <= 256; length += 248) {
		memset(b.buffer, 0, 256);
		ibv_wr_start(ex);
		ibv_wr_rdma_write(ex, to.rkey, to.addr);
		ibv_wr_set_sge(ex, a.mr->lkey, (uintptr_t)a.buffer, length);
		built(ex);
		CHECK(memcmp(a.buffer, b.buffer, length) == 0);
	}
	*(uint64_t *)b.buffer = 5;
	ibv_wr_start(ex);
	ibv_wr_atomic_fetch_add(ex, to.rkey, to.addr, 4);
	ibv_wr_set_sge(ex, a.mr->lkey, (uintptr_t)a.buffer + 256, 8);
	built(ex);
	CHECK_EQ(*(uint64_t *)b.buffer, 9);
	ibv_wr_start(ex);
	ibv_wr_rdma_write(ex, to.rkey, to.addr); /* of nothing */
	built(ex);
	CHECK_EQ(*(uint64_t *)b.buffer, 9);

	ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_start(ex);
	ibv_wr_rdma_write(ex, to.rkey, to.addr);
	ibv_wr_set_inline_data(ex, &value, sizeof(value));
	ibv_wr_set_sge(ex, a.mr->lkey, (uintptr_t)a.buffer, 64);
	built(ex);
	CHECK(memcmp(a.buffer, b.buffer, 64) == 0);
	ibv_wr_start(ex);
	ibv_wr_rdma_write(ex, to.rkey, to.addr);
	ibv_wr_set_sge(ex, a.mr->lkey, (uintptr_t)a.buffer, 64);
	ibv_wr_set_inline_data(ex, &value, sizeof(value));
	built(ex);
	CHECK_EQ(*(uint64_t *)b.buffer, 7);
	close_both();
}

static void extended_cq(void)
{
	step("an extended CQ, read field by field");
	open_both(NULL, NULL);
	struct ibv_cq_init_attr_ex init = {
	    .cqe = 16, .wc_flags = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP};
	struct ibv_cq_ex *cq = ibv_create_cq_ex(a.context, &init);
	struct ibv_cq *plain = a.cq;

	CHECK(cq);
	CHECK_EQ(ibv_destroy_qp(a.qp), 0);
	a.cq = ibv_cq_ex_to_cq(cq);
	a.qp = qp_create(&a, NULL);
	connect_both();
	struct ibv_poll_cq_attr attr = {0};

	CHECK_EQ(ibv_start_poll(cq, &attr), ENOENT);
	struct ibv_sge sge = sge_of(&a, 0, 24);
	struct ibv_send_wr wr = one_sided(IBV_WR_RDMA_READ, &sge, address_of(&b), 0);

	for (unsigned i = 0; i < 3; i++) {
		wr.wr_id = 10 + i;
		post(a.qp, &wr);
	}
	CHECK_EQ(ibv_start_poll(cq, &attr), 0);
	for (unsigned i = 0; i < 3; i++) {
		CHECK_EQ(cq->wr_id, 10 + i);
		CHECK_EQ(cq->status, IBV_WC_SUCCESS);
		CHECK_EQ(ibv_wc_read_opcode(cq), IBV_WC_RDMA_READ);
		CHECK_EQ(ibv_wc_read_byte_len(cq), 24);
		CHECK(ibv_wc_read_completion_ts(cq) != 0);
		CHECK_EQ(ibv_next_poll(cq), i < 2 ? 0 : ENOENT);
	}
	ibv_end_poll(cq);
	CHECK_EQ(ibv_destroy_qp(a.qp), 0);
	CHECK_EQ(ibv_destroy_cq(a.cq), 0);
	a.cq = plain;
	a.qp = NULL;
	init.wc_flags = IBV_WC_EX_WITH_TM_INFO;
	CHECK(!ibv_create_cq_ex(a.context, &init));
	CHECK_EQ(errno, EOPNOTSUPP);
	close_both();
}

static void address_spaces(void)
{
	step("regions whose addresses are not their own");
	open_both(NULL, NULL);
	connect_both();
	struct ibv_mr *shifted = ibv_reg_mr_iova(b.pd, b.buffer + 4096, 4096, 0x1000000, ALL_ACCESS);
	struct ibv_mr *zero = ibv_reg_mr(b.pd, b.buffer + 8192, 4096, ALL_ACCESS | IBV_ACCESS_ZERO_BASED);
	struct ibv_mr *local = ibv_reg_mr_iova(a.pd, a.buffer + 512, 512, 0x77000, ALL_ACCESS);

	CHECK(shifted && zero && local);
	strcpy((char *)a.buffer + 512, "shifted");
	struct ibv_sge sge = {0x77000, 8, local->lkey};
	struct ibv_send_wr wr = one_sided(IBV_WR_RDMA_WRITE, &sge, (struct address){0, shifted->rkey, 0x1000000}, 16);

	post_and_expect(&a, &wr, IBV_WC_SUCCESS);
	CHECK(strcmp((char *)b.buffer + 4096 + 16, "shifted") == 0);
	wr = one_sided(IBV_WR_RDMA_WRITE, &sge, (struct address){0, zero->rkey, 0}, 24);
	post_and_expect(&a, &wr, IBV_WC_SUCCESS);
	CHECK(strcmp((char *)b.buffer + 8192 + 24, "shifted") == 0);
	CHECK_EQ(ibv_dereg_mr(shifted), 0);
	CHECK_EQ(ibv_dereg_mr(zero), 0);
	CHECK_EQ(ibv_dereg_mr(local), 0);
	close_both();
}

static void huge_region(void)
{
	const size_t size = 5ull << 30;
	int fd;

	step("a region of 5 GiB, written at both ends");
	open_both(NULL, NULL);
	connect_both();
	uint8_t *huge = memory_alloc(MEMORY_MEMFD, size, &fd); /* sparse */
	struct ibv_mr *mr = ibv_reg_mr(b.pd, huge, size, ALL_ACCESS);

	CHECK(mr && mr->length == size);
	struct ibv_sge sge = sge_of(&a, 0, 4096);
	struct address to = {0, mr->rkey, (uintptr_t)huge};
	struct ibv_send_wr first = one_sided(IBV_WR_RDMA_WRITE, &sge, to, 0);
	struct ibv_send_wr last = one_sided(IBV_WR_RDMA_WRITE, &sge, to, size - 4096);
	struct ibv_send_wr over = one_sided(IBV_WR_RDMA_WRITE, &sge, to, size - 4095);

	memset(a.buffer, 0x2a, 4096);
	post_and_expect(&a, &first, IBV_WC_SUCCESS);
	post_and_expect(&a, &last, IBV_WC_SUCCESS);
	CHECK_EQ(huge[0], 0x2a);
	CHECK_EQ(huge[size - 1], 0x2a);
	post_and_expect(&a, &over, IBV_WC_REM_ACCESS_ERR);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	memory_free(MEMORY_MEMFD, huge, size, fd);
	close_both();
}

static void device_queries(void)
{
	struct ibv_context *context = open_soft();
	struct ibv_device_attr_ex attr;
	struct ibv_port_attr port;
	struct ibv_gid_entry entries[4];

	step("queries, and what is answered with an errno");
	CHECK_EQ(ibv_query_device_ex(context, NULL, &attr), 0);
	CHECK(attr.orig_attr.max_qp_wr >= 16384 && attr.orig_attr.max_sge >= 16 && attr.orig_attr.max_cqe >= 1 << 20);
	CHECK_EQ(attr.orig_attr.atomic_cap, IBV_ATOMIC_HCA);
	CHECK_EQ(ibv_query_port(context, 1, &port), 0);
	CHECK_EQ(port.state, IBV_PORT_ACTIVE);
	CHECK_EQ(ibv_query_port(context, 2, &port), EINVAL);
	CHECK_EQ(ibv_query_gid_table(context, entries, 4, 0), 2);
	CHECK_EQ(ibv_query_gid_ex(context, 1, 1, &entries[0], 0), 0);
	CHECK_EQ(entries[0].gid.raw[12], 127);
	CHECK(!ibv_open_xrcd(context, NULL));
	CHECK_EQ(errno, EOPNOTSUPP);
	CHECK(!ibv_alloc_td(context, NULL));
	CHECK_EQ(errno, EOPNOTSUPP);
	struct ibv_pd *pd = ibv_alloc_pd(context);

	CHECK(pd);
	CHECK(!ibv_alloc_null_mr(pd));
	CHECK_EQ(errno, EOPNOTSUPP);
	CHECK(!ibv_reg_dmabuf_mr(pd, 0, 4096, 0, -1, 0));
	CHECK_EQ(errno, EOPNOTSUPP);
	CHECK_EQ(ibv_dealloc_pd(pd), 0);
	CHECK_EQ(ibv_close_device(context), 0);
}

static void on_ethernet(void)
{
	struct ibv_gid_entry gids[8];
	struct ibv_port_attr port;

	step("fabric=roce: no LID, more GIDs, and an address of the same type and family to reach");
	CHECK_EQ(softverbs_control("fabric=roce"), 0);
	struct ibv_context *context = open_soft();
	struct ibv_pd *pd = ibv_alloc_pd(context);

	CHECK(pd);
	CHECK_EQ(ibv_query_port(context, 1, &port), 0);
	CHECK_EQ(port.link_layer, IBV_LINK_LAYER_ETHERNET);
	CHECK_EQ(port.lid, 0);
	CHECK_EQ(port.gid_tbl_len, 6);
	CHECK_EQ(ibv_query_gid_table(context, gids, 5, 0), -EINVAL);
	CHECK_EQ(ibv_query_gid_table(context, gids, 8, 0), 6);
	CHECK_EQ(gids[1].gid_type, IBV_GID_TYPE_ROCE_V1);
	CHECK_EQ(gids[3].gid_type, IBV_GID_TYPE_ROCE_V2);
	CHECK_EQ(gids[3].gid.raw[12], 127);
	CHECK_EQ(gids[5].gid_type, IBV_GID_TYPE_ROCE_V2);
	CHECK_EQ(gids[5].gid.raw[0], 0xfd);
	struct ibv_ah_attr attr = {.dlid = 1, .port_num = 1};
	struct ibv_ah *ah = ibv_create_ah(pd, &attr);

	CHECK(!ah && errno == EINVAL);
	attr.is_global = 1;
	attr.grh.sgid_index = 6;
	CHECK(!ibv_create_ah(pd, &attr) && errno == EINVAL);
	attr.grh.sgid_index = 3;
	attr.grh.dgid = gids[5].gid; /* another family */
	CHECK(!ibv_create_ah(pd, &attr) && errno == ETIMEDOUT);
	attr.grh.dgid = gids[3].gid;
	attr.grh.dgid.raw[15] = 9; /* an address that no port has */
	CHECK(!ibv_create_ah(pd, &attr) && errno == ETIMEDOUT);
	attr.grh.dgid = gids[3].gid;
	ah = ibv_create_ah(pd, &attr);
	CHECK(ah);
	CHECK_EQ(ibv_destroy_ah(ah), 0);
	attr.grh.sgid_index = 2;
	attr.grh.dgid = gids[5].gid; /* one family, and both RoCEv2 */
	ah = ibv_create_ah(pd, &attr);
	CHECK(ah);
	CHECK_EQ(ibv_destroy_ah(ah), 0);
	CHECK_EQ(ibv_dealloc_pd(pd), 0);
	CHECK_EQ(ibv_close_device(context), 0);
	CHECK(softverbs_control("fabric=token-ring") != 0);
	CHECK_EQ(softverbs_control("fabric=infiniband"), 0);
}

/* The attributes that a program reads from the device. */
static void what_it_says(void)
{
	struct ibv_context *context = open_soft();
	struct ibv_pd *pd = ibv_alloc_pd(context);
	struct ibv_device_attr attr;
	struct ibv_gid_entry gids[8];

	step("what the device says of itself, and what it does not do");
	CHECK_EQ(ibv_query_device(context, &attr), 0);
	CHECK(attr.vendor_id != 0 && attr.vendor_id <= 0xffffff);
	CHECK(fcntl(context->cmd_fd, F_GETFD) & FD_CLOEXEC);
	CHECK_EQ(ibv_query_gid_table(context, gids, 8, 0), 2);
	CHECK_EQ(gids[1].gid_index, 1);
	CHECK_EQ(ibv_query_gid_table(context, gids, 2, 0), 2);
	CHECK_EQ(ibv_query_gid_table(context, gids, 1, 0), -EINVAL);
	CHECK_EQ(ibv_query_gid_table(context, gids, 0, 0), -EINVAL);
	errno = 0;
	CHECK(!ibv_import_device(context->cmd_fd) && errno == EOPNOTSUPP);
	errno = 0;
	CHECK(!ibv_import_pd(context, pd->handle) && errno == EOPNOTSUPP);
	errno = 0;
	CHECK(!ibv_import_mr(pd, 1) && errno == EOPNOTSUPP);
	errno = 0;
	CHECK(!ibv_import_dm(context, 1) && errno == EOPNOTSUPP);
	CHECK_EQ(ibv_dealloc_pd(pd), 0);
	CHECK_EQ(ibv_close_device(context), 0);
}

int main(void)
{
	struct footprint before = footprint_now();

	device_queries();
	shared_receive_queue();
	shared_receives_given_back();
	datagrams();
	unreliable_connection();
	what_it_says();
	on_ethernet();
	memory_windows();
	window_bound_anew();
	window_of_another();
	named_and_gone();
	builders();
	built_inline();
	extended_cq();
	address_spaces();
	huge_region();
	struct footprint after = footprint_after(&before);

	CHECK_EQ(after.fds, before.fds);
	CHECK_EQ(after.maps, before.maps);
	CHECK_EQ(after.threads, before.threads);
	return 0;
}
