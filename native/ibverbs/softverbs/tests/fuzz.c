/*
 * Random sequences of verbs calls, valid and not, in two processes that talk to each other, one of which is killed at a
 * random moment: fuzz [SECONDS [SEED]]. Invariants: no crash, no hang, completions only for posted work requests, each
 * at most once and in order within a queue, and nothing left after each round. A failure prints its seed.
 */
#include "test.h"

#define MAX_QPS 6
#define MAX_CQS 3
#define MAX_MRS 6
#define ARENA (1u << 18)

static uint64_t state;

static uint64_t rnd(uint64_t bound)
{
	state += 0x9e3779b97f4a7c15ull;
	uint64_t x = state;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	x ^= x >> 31;
	return bound ? x % bound : x;
}

static bool one_in(uint64_t n)
{
	return rnd(n) == 0;
}

struct slot {
	struct ibv_qp *qp;
	struct ibv_cq *send_cq, *recv_cq;
	uint64_t sent, received;          /* posted */
	uint64_t send_next, receive_next; /* the least wr_id that may complete next */
	bool shared_receives;
};

static struct ibv_context *context;
static struct ibv_pd *pds[2];
static struct ibv_comp_channel *channel;
static struct ibv_cq *cqs[MAX_CQS];
static struct ibv_srq *srq;
static struct ibv_mr *mrs[MAX_MRS];
static struct ibv_mw *mw;
static struct ibv_ah *ah;
static struct slot slots[MAX_QPS];
static uint8_t *arenas[3]; /* private, sealed, unsealed */
static int arena_fds[3];
static int peer_socket;

/* The addresses that we know of the other side; we send it our own. */
static struct address known[16];
static unsigned known_count;

static void tell(void)
{
	struct slot *s = &slots[rnd(MAX_QPS)];
	struct ibv_mr *mr = mrs[rnd(MAX_MRS)];
	struct address a = {s->qp ? s->qp->qp_num : (uint32_t)rnd(1 << 24), mr ? mr->rkey : (uint32_t)rnd(0),
	    mr ? (uintptr_t)mr->addr : rnd(0)};

	send(peer_socket, &a, sizeof(a), MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void listen_to_peer(void)
{
	struct address a;

	while (recv(peer_socket, &a, sizeof(a), MSG_DONTWAIT) == sizeof(a))
		known[known_count++ % 16] = a;
}

static struct address some_address(void)
{
	if (known_count && !one_in(8)) {
		struct address a = known[rnd(known_count < 16 ? known_count : 16)];

		if (one_in(10))
			a.rkey ^= (uint32_t)(1u << rnd(32));
		if (one_in(10))
			a.addr += rnd(ARENA);
		return a;
	}
	struct ibv_mr *mr = mrs[rnd(MAX_MRS)];
	struct slot *s = &slots[rnd(MAX_QPS)];

	return (struct address){
	    s->qp ? s->qp->qp_num : (uint32_t)rnd(1 << 24), mr ? mr->rkey : (uint32_t)rnd(0), mr ? (uintptr_t)mr->addr : 0};
}

static struct ibv_sge some_sge(void)
{
	struct ibv_mr *mr = mrs[rnd(MAX_MRS)];
	uint32_t length = one_in(3) ? 8 : one_in(20) ? (uint32_t)rnd(ARENA * 2) : (uint32_t)rnd(5000);
	uint8_t *base = mr ? mr->addr : arenas[0];
	struct ibv_sge sge = {(uintptr_t)base + rnd(64) * 8, length, mr ? mr->lkey : (uint32_t)rnd(0)};

	if (one_in(30))
		sge.lkey ^= (uint32_t)(1u << rnd(32));
	return sge;
}

static void create_mr(void)
{
	static const unsigned accesses[] = {ALL_ACCESS, ALL_ACCESS | IBV_ACCESS_MW_BIND, IBV_ACCESS_LOCAL_WRITE, 0,
	    IBV_ACCESS_REMOTE_READ, IBV_ACCESS_REMOTE_WRITE, ALL_ACCESS | IBV_ACCESS_RELAXED_ORDERING};
	unsigned i = (unsigned)rnd(MAX_MRS);
	unsigned arena = (unsigned)rnd(3);
	size_t offset = rnd(16) * 4096 + (one_in(4) ? rnd(4096) : 0);
	size_t length = one_in(10) ? 0 : rnd(ARENA - offset);

	if (mrs[i]) {
		int error = ibv_dereg_mr(mrs[i]);

		CHECK(error == 0 || error == EBUSY);
		if (error == 0)
			mrs[i] = NULL;
		return;
	}
	mrs[i] = ibv_reg_mr(pds[rnd(8) == 0], arenas[arena] + offset, length,
	    one_in(20) ? (int)rnd(0) & 0x7fffffff : (int)accesses[rnd(7)]);
}

static void destroy_slot(struct slot *s)
{
	CHECK_EQ(ibv_destroy_qp(s->qp), 0);
	memset(s, 0, sizeof(*s));
}

static void create_qp(void)
{
	static const enum ibv_qp_type types[] = {
	    IBV_QPT_RC, IBV_QPT_RC, IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD, IBV_QPT_RAW_PACKET};
	struct slot *s = &slots[rnd(MAX_QPS)];

	if (s->qp) {
		if (one_in(3))
			destroy_slot(s);
		return;
	}
	s->send_cq = cqs[rnd(MAX_CQS)];
	s->recv_cq = cqs[rnd(MAX_CQS)];
	if (!s->send_cq || !s->recv_cq)
		return;
	struct ibv_qp_init_attr init = {.send_cq = s->send_cq,
	    .recv_cq = s->recv_cq,
	    .srq = one_in(4) ? srq : NULL,
	    .cap = {.max_send_wr = (uint32_t)rnd(64),
	        .max_recv_wr = (uint32_t)rnd(64),
	        .max_send_sge = (uint32_t)rnd(5),
	        .max_recv_sge = (uint32_t)rnd(5),
	        .max_inline_data = (uint32_t)rnd(1200)},
	    .qp_type = types[rnd(6)],
	    .sq_sig_all = (int)rnd(2)};

	s->qp = ibv_create_qp(pds[rnd(8) == 0], &init);
	s->shared_receives = init.srq != NULL;
}

static void modify_qp(void)
{
	struct slot *s = &slots[rnd(MAX_QPS)];

	if (!s->qp)
		return;
	struct ibv_qp_attr attr = {.qp_state = (enum ibv_qp_state)rnd(8),
	    .port_num = 1,
	    .qp_access_flags = ALL_ACCESS,
	    .path_mtu = IBV_MTU_1024,
	    .dest_qp_num = some_address().qpn,
	    .max_dest_rd_atomic = 4,
	    .max_rd_atomic = 4,
	    .min_rnr_timer = (uint8_t)(1 + rnd(3)),
	    .timeout = (uint8_t)rnd(8),
	    .retry_cnt = (uint8_t)rnd(8),
	    .rnr_retry = (uint8_t)rnd(8),
	    .qkey = 0x11,
	    .ah_attr = {.dlid = 1, .port_num = 1}};
	int mask = (int)rnd(1 << 26);

	if (!one_in(6)) { /* the way up */
		bool ud = s->qp->qp_type == IBV_QPT_UD, rc = s->qp->qp_type == IBV_QPT_RC;

		switch (s->qp->state) {
		case IBV_QPS_RESET:
			attr.qp_state = IBV_QPS_INIT;
			mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | (ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS);
			break;
		case IBV_QPS_INIT:
			attr.qp_state = IBV_QPS_RTR;
			mask = IBV_QP_STATE | (ud ? 0 : IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN) |
			       (rc ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0);
			break;
		case IBV_QPS_RTR:
			attr.qp_state = IBV_QPS_RTS;
			mask = IBV_QP_STATE | IBV_QP_SQ_PSN |
			       (rc ? IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC : 0);
			break;
		default:
			attr.qp_state = one_in(2) ? IBV_QPS_RESET : IBV_QPS_ERR;
			mask = one_in(4) ? IBV_QP_STATE : 0;
			break;
		}
	}
	bool resets = (mask & IBV_QP_STATE) && attr.qp_state == IBV_QPS_RESET;

	if (ibv_modify_qp(s->qp, &attr, mask) == 0 && resets) {
		s->send_next = s->sent;
		s->receive_next = s->received;
	}
}

static void post_sends(void)
{
	struct slot *s = &slots[rnd(MAX_QPS)];
	struct ibv_sge sges[4][5];
	struct ibv_send_wr wrs[4], *bad = NULL;
	unsigned n = 1 + (unsigned)rnd(4);

	if (!s->qp)
		return;
	for (unsigned i = 0; i < n; i++) {
		struct address to = some_address();
		struct ibv_send_wr *wr = &wrs[i];

		memset(wr, 0, sizeof(*wr));
		wr->wr_id = (s->sent + i) << 8 | 1u | (uint64_t)(s - slots) << 4;
		wr->next = i + 1 < n ? &wrs[i + 1] : NULL;
		wr->sg_list = sges[i];
		wr->num_sge = one_in(3) ? (int)rnd(5) : 1;
		for (int j = 0; j < wr->num_sge; j++)
			sges[i][j] = some_sge();
		wr->opcode = one_in(30) ? (enum ibv_wr_opcode)rnd(20) : (enum ibv_wr_opcode)rnd(7);
		wr->send_flags = (unsigned)(rnd(16) & (one_in(2) ? 15 : 2));
		if (one_in(50))
			wr->send_flags = (unsigned)rnd(0);
		if (wr->send_flags & IBV_SEND_INLINE)
			for (int j = 0; j < wr->num_sge; j++)
				sges[i][j].length = (uint32_t)rnd(64);
		wr->imm_data = (uint32_t)rnd(0);
		if (s->qp->qp_type == IBV_QPT_UD) {
			wr->wr.ud.ah = one_in(20) ? NULL : ah;
			wr->wr.ud.remote_qpn = to.qpn;
			wr->wr.ud.remote_qkey = one_in(4) ? (uint32_t)rnd(0) : 0x11;
		} else if (wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP || wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
			wr->wr.atomic.remote_addr = one_in(10) ? to.addr : to.addr & ~7ull;
			wr->wr.atomic.rkey = to.rkey;
			wr->wr.atomic.compare_add = rnd(4);
			wr->wr.atomic.swap = rnd(4);
		} else {
			wr->wr.rdma.remote_addr = to.addr;
			wr->wr.rdma.rkey = to.rkey;
		}
		if (wr->opcode == IBV_WR_BIND_MW) {
			wr->bind_mw.mw = mw;
			wr->bind_mw.rkey = ibv_inc_rkey(mw->rkey);
			wr->bind_mw.bind_info =
			    (struct ibv_mw_bind_info){mrs[0], mrs[0] ? (uintptr_t)mrs[0]->addr : 0, rnd(4096), ALL_ACCESS};
		}
	}
	int error = ibv_post_send(s->qp, wrs, &bad);

	if (error) {
		CHECK(bad >= wrs && bad < wrs + n);
		s->sent += (uint64_t)(bad - wrs);
	} else {
		s->sent += n;
	}
}

static void post_receives(void)
{
	struct slot *s = &slots[rnd(MAX_QPS)];
	struct ibv_sge sge = some_sge();
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = (int)rnd(2)}, *bad;

	if (srq && one_in(4)) {
		wr.wr_id = 3;
		ibv_post_srq_recv(srq, &wr, &bad);
	}
	if (!s->qp)
		return;
	wr.wr_id = s->received << 8 | 2u | (uint64_t)(s - slots) << 4;
	if (ibv_post_recv(s->qp, &wr, &bad) == 0)
		s->received++;
}

/* Completions seen, by status: a fuzzer that only ever fails tests little. */
static uint64_t statuses[IBV_WC_GENERAL_ERR + 1];

static void look_at(const struct ibv_wc *wc)
{
	unsigned kind = wc->wr_id & 15, index = (wc->wr_id >> 4) & 15;
	uint64_t sequence = wc->wr_id >> 8;

	CHECK(wc->status <= IBV_WC_GENERAL_ERR);
	statuses[wc->status]++;
	if (kind == 3)
		return;
	CHECK(kind == 1 || kind == 2);
	CHECK(index < MAX_QPS);
	struct slot *s = &slots[index];

	CHECK(s->qp && s->qp->qp_num == wc->qp_num);
	if (kind == 1) {
		CHECK(sequence < s->sent);
		CHECK(sequence >= s->send_next);
		s->send_next = sequence + 1;
	} else {
		CHECK(sequence < s->received);
		CHECK(sequence >= s->receive_next);
		s->receive_next = sequence + 1;
	}
}

static void poll_all(void)
{
	struct ibv_wc wc[8];

	for (int i = 0; i < MAX_CQS; i++) {
		int n = cqs[i] ? ibv_poll_cq(cqs[i], 1 + (int)rnd(8), wc) : 0;

		CHECK(n >= 0 && n <= 8);
		for (int j = 0; j < n; j++)
			look_at(&wc[j]);
	}
}

static void events(void)
{
	struct ibv_async_event event;
	struct ibv_cq *cq;
	void *cq_context;

	if (cqs[0])
		ibv_req_notify_cq(cqs[rnd(2) ? 0 : MAX_CQS - 1], (int)rnd(2));
	while (ibv_get_cq_event(channel, &cq, &cq_context) == 0)
		ibv_ack_cq_events(cq, 1);
	while (ibv_get_async_event(context, &event) == 0)
		ibv_ack_async_event(&event);
}

static void make_window(void)
{
	CHECK(mw = ibv_alloc_mw(pds[0], one_in(3) ? IBV_MW_TYPE_1 : IBV_MW_TYPE_2));
}

static void make_ah(void)
{
	struct ibv_ah_attr attr = {.dlid = 1, .port_num = 1, .is_global = (uint8_t)rnd(2)};

	CHECK(ah = ibv_create_ah(pds[0], &attr));
}

/* Replaces objects by others of their kind, while operations that name the old ones may wait. */
static void replace(void)
{
	if (one_in(2)) {
		CHECK_EQ(ibv_dealloc_mw(mw), 0);
		make_window();
	} else {
		CHECK_EQ(ibv_destroy_ah(ah), 0);
		make_ah();
	}
}

static void query(void)
{
	struct slot *s = &slots[rnd(MAX_QPS)];
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init;

	if (s->qp)
		CHECK_EQ(ibv_query_qp(s->qp, &attr, IBV_QP_STATE, &init), 0);
}

static void open_all(void)
{
	static const enum memory kinds[] = {MEMORY_MALLOC, MEMORY_MEMFD, MEMORY_UNSEALED};

	context = open_soft();
	fcntl(context->async_fd, F_SETFL, O_NONBLOCK);
	for (int i = 0; i < 2; i++)
		CHECK(pds[i] = ibv_alloc_pd(context));
	CHECK(channel = ibv_create_comp_channel(context));
	fcntl(channel->fd, F_SETFL, O_NONBLOCK);
	for (int i = 0; i < MAX_CQS; i++)
		CHECK(cqs[i] = ibv_create_cq(context, 512, NULL, channel, 0));
	struct ibv_srq_init_attr srq_init = {.attr = {.max_wr = 64, .max_sge = 2}};

	CHECK(srq = ibv_create_srq(pds[0], &srq_init));
	make_ah();
	make_window();
	for (int i = 0; i < 3; i++)
		arenas[i] = memory_alloc(kinds[i], ARENA * 4, &arena_fds[i]);
	known_count = 0;
}

static void close_all(void)
{
	static const enum memory kinds[] = {MEMORY_MALLOC, MEMORY_MEMFD, MEMORY_UNSEALED};

	for (int i = 0; i < MAX_QPS; i++)
		if (slots[i].qp)
			destroy_slot(&slots[i]);
	CHECK_EQ(ibv_dealloc_mw(mw), 0);
	for (int i = 0; i < MAX_MRS; i++) {
		if (mrs[i])
			CHECK_EQ(ibv_dereg_mr(mrs[i]), 0);
		mrs[i] = NULL;
	}
	CHECK_EQ(ibv_destroy_srq(srq), 0);
	CHECK_EQ(ibv_destroy_ah(ah), 0);
	for (int i = 0; i < MAX_CQS; i++)
		CHECK_EQ(ibv_destroy_cq(cqs[i]), 0);
	CHECK_EQ(ibv_destroy_comp_channel(channel), 0);
	for (int i = 0; i < 2; i++)
		CHECK_EQ(ibv_dealloc_pd(pds[i]), 0);
	CHECK_EQ(ibv_close_device(context), 0);
	for (int i = 0; i < 3; i++)
		memory_free(kinds[i], arenas[i], ARENA * 4, arena_fds[i]);
}

static void act(void)
{
	static void (*const actions[])(void) = {
	    create_mr,
	    create_qp,
	    create_qp,
	    modify_qp,
	    modify_qp,
	    modify_qp,
	    post_sends,
	    post_sends,
	    post_sends,
	    post_sends,
	    post_receives,
	    post_receives,
	    post_receives,
	    poll_all,
	    poll_all,
	    poll_all,
	    events,
	    query,
	    replace,
	    tell,
	    listen_to_peer,
	};

	actions[rnd(sizeof(actions) / sizeof(actions[0]))]();
}

static int child(void)
{
	peer_socket = 3;
	child_receive(3, &state, sizeof(state));
	open_all();
	for (unsigned i = 0;; i++) {
		if (i % 64 == 0)
			watchdog(2 * PATIENCE_S); /* the parent's shows us too */
		act();
		struct pollfd p = {.fd = 3, .events = 0};

		if ((rnd(64) == 0 && getppid() == 1) ||
		    (rnd(256) == 0 && (ppoll(&p, 1, &(struct timespec){0}, NULL), p.revents & POLLHUP)))
			break;
	}
	close_all();
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "child") == 0)
		return child();
	uint64_t until = now_ns() + (uint64_t)(argc > 1 ? atof(argv[1]) * 1e9 : 5e9);
	unsigned rounds = 0, kills = 0;
	uint64_t calls = 0;

	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : now_ns() ^ (uint64_t)getpid() << 32;
	struct footprint before = footprint_now();

	do {
		printf("  round %u seed %lu\n", rounds, seed);
		fflush(stdout);
		state = seed;
		struct child c = child_start("child");
		uint64_t child_seed = rnd(0);

		peer_socket = c.socket;
		child_send(c.socket, &child_seed, sizeof(child_seed));
		open_all();
		unsigned steps = 200 + (unsigned)rnd(20000), kill_at = one_in(4) ? steps + 1 : (unsigned)rnd(steps);
		bool killed = false;

		for (unsigned i = 0; i < steps; i++, calls++) {
			if (i % 64 == 0)
				watchdog(PATIENCE_S);
			act();
			if (i == kill_at) {
				kill(c.pid, SIGKILL);
				killed = true;
				kills++;
			}
		}
		watchdog(PATIENCE_S);
		close_all();
		if (killed)
			child_kill(&c);
		else
			child_finish(&c);
		struct footprint after = footprint_after(&before);

		CHECK_EQ(after.fds, before.fds);
		CHECK_EQ(after.maps, before.maps);
		CHECK_EQ(after.threads, before.threads);
		seed = rnd(0);
		rounds++;
	} while (now_ns() < until);
	for (int i = 0; i <= IBV_WC_GENERAL_ERR; i++)
		if (statuses[i])
			printf("  %10lu %s\n", statuses[i], ibv_wc_status_str((enum ibv_wc_status)i));
	printf("  %u rounds, %lu calls on this side, %u kills: nothing found\n", rounds, calls, kills);
	return 0;
}
