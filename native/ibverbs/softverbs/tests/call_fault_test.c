/*
 * Two processes use each other's memory, again and again. Each time, in one of them, one call of softverbs that takes a
 * descriptor, memory or a thread fails once, each time another call. The verbs call that meets this succeeds, or fails
 * with an errno after which the same call succeeds. No operation, event or memory is lost in either process, and the
 * other process does not notice.
 */
#include "test.h"

int softverbs_control(const char *settings);
const char *softverbs_describe(void);

#define PAGE 4096u
#define ADDS 12u
/* More calls of one kind than there are in any life. */
#define MOST 2000

static const char *const calls[] = {"open", "openat", "mmap", "dup", "pipe", "socket", "accept", "memfd", "epoll",
    "membarrier", "pread", "pwrite", "write", "malloc", "thread"};

/* The layout of the memory of each side, in words; each kind of memory has all of it. */
enum { SUM, RESULT, OUT, BACK, INBOX, LISTED, WORDS };

#define QKEY 0x11

struct side {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq, *own_cq, *event_cq;
	/* to the other side; to itself; to the other side, with events; one that makes a mistake; with lists; of datagrams
	 */
	struct ibv_qp *qp, *own, *eventful, *wrong, *listed, *datagrams;
	struct ibv_srq *srq;
	struct ibv_ah *ah;
	struct ibv_mw *mw;
	uint64_t *shared, *private;
	int memfd;
	/* the shared memory has two */
	struct ibv_mr *shared_mr, *second_mr, *private_mr;
};

struct names {
	pid_t pid;
	uint32_t qp, eventful, wrong, listed, datagrams;
	struct address shared, private;
};

/* --- verbs calls, of which one may fail --- */

static unsigned failed;

static bool fails_once(bool ok, int error)
{
	if (ok)
		return false;
	CHECK(error == EMFILE || error == ENOMEM || error == EAGAIN);
	CHECK_EQ(failed, 0);
	failed++;
	return true;
}

/* Make the call again if it failed for the shortage. */
#define MADE(to, call) \
	do { \
		errno = 0; \
		(to) = (call); \
	} while (fails_once((to) != NULL, errno))
#define DONE(call) \
	for (int error_ = (call); fails_once(error_ == 0, error_); error_ = (call)) \
		;

static struct ibv_qp *new_qp_of(struct side *s, struct ibv_cq *cq, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr init = {.send_cq = cq,
	    .recv_cq = cq,
	    .cap = {.max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 1, .max_recv_sge = 1},
	    .qp_type = type};
	struct ibv_qp *qp;

	MADE(qp, ibv_create_qp(s->pd, &init));
	return qp;
}

static struct ibv_qp *new_qp(struct side *s, struct ibv_cq *cq)
{
	return new_qp_of(s, cq, IBV_QPT_RC);
}

static struct ibv_qp *new_listed(struct side *s)
{
	struct ibv_qp_init_attr_ex init = {.send_cq = s->cq,
	    .recv_cq = s->cq,
	    .cap = {.max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 1, .max_recv_sge = 1},
	    .qp_type = IBV_QPT_RC,
	    .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
	    .pd = s->pd,
	    .send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD};
	struct ibv_qp *qp;

	MADE(qp, ibv_create_qp_ex(s->context, &init));
	return qp;
}

static struct ibv_device **device_list(void)
{
	struct ibv_device **list;
	int count;

	MADE(list, ibv_get_device_list(&count));
	CHECK_EQ(count, 1);
	return list;
}

static void open_side(struct side *s)
{
	struct ibv_ah_attr to_port = {.dlid = 1, .port_num = 1};
	struct ibv_srq_init_attr srq = {.attr = {.max_wr = 16, .max_sge = 1}};
	struct ibv_device **list = device_list();
	int none;

	MADE(s->context, ibv_open_device(list[0]));
	ibv_free_device_list(list);
	MADE(s->pd, ibv_alloc_pd(s->context));
	MADE(s->channel, ibv_create_comp_channel(s->context));
	MADE(s->cq, ibv_create_cq(s->context, 64, NULL, NULL, 0));
	MADE(s->own_cq, ibv_create_cq(s->context, 64, NULL, NULL, 0));
	MADE(s->event_cq, ibv_create_cq(s->context, 64, NULL, s->channel, 0));
	s->shared = memory_alloc(MEMORY_MEMFD, PAGE, &s->memfd);
	s->private = memory_alloc(MEMORY_MALLOC, PAGE, &none);
	MADE(s->shared_mr, ibv_reg_mr(s->pd, s->shared, PAGE, ALL_ACCESS));
	MADE(s->second_mr, ibv_reg_mr(s->pd, s->shared, PAGE, ALL_ACCESS));
	MADE(s->private_mr, ibv_reg_mr(s->pd, s->private, PAGE, ALL_ACCESS));
	s->qp = new_qp(s, s->cq);
	s->own = new_qp(s, s->own_cq);
	s->eventful = new_qp(s, s->event_cq);
	s->wrong = new_qp(s, s->cq);
	s->listed = new_listed(s);
	s->datagrams = new_qp_of(s, s->own_cq, IBV_QPT_UD);
	MADE(s->srq, ibv_create_srq(s->pd, &srq));
	MADE(s->ah, ibv_create_ah(s->pd, &to_port));
	MADE(s->mw, ibv_alloc_mw(s->pd, IBV_MW_TYPE_2));
	DONE(ibv_resize_cq(s->own_cq, 128));
}

static void close_side(struct side *s)
{
	DONE(ibv_destroy_qp(s->qp));
	DONE(ibv_destroy_qp(s->own));
	DONE(ibv_destroy_qp(s->eventful));
	DONE(ibv_destroy_qp(s->wrong));
	DONE(ibv_destroy_qp(s->listed));
	DONE(ibv_destroy_qp(s->datagrams));
	DONE(ibv_destroy_srq(s->srq));
	DONE(ibv_destroy_ah(s->ah));
	DONE(ibv_dealloc_mw(s->mw));
	DONE(ibv_dereg_mr(s->private_mr));
	DONE(ibv_dereg_mr(s->second_mr));
	if (s->shared_mr)
		DONE(ibv_dereg_mr(s->shared_mr));
	DONE(ibv_destroy_cq(s->event_cq));
	DONE(ibv_destroy_cq(s->own_cq));
	DONE(ibv_destroy_cq(s->cq));
	DONE(ibv_destroy_comp_channel(s->channel));
	DONE(ibv_dealloc_pd(s->pd));
	DONE(ibv_close_device(s->context));
	memory_free(MEMORY_MEMFD, s->shared, PAGE, s->memfd);
	memory_free(MEMORY_MALLOC, s->private, PAGE, -1);
}

static struct names names_of(const struct side *s)
{
	return (struct names){getpid(), s->qp->qp_num, s->eventful->qp_num, s->wrong->qp_num, s->listed->qp_num,
	    s->datagrams->qp_num, {0, s->shared_mr->rkey, (uintptr_t)s->shared},
	    {0, s->private_mr->rkey, (uintptr_t)s->private}};
}

static void connect_qp(struct ibv_qp *qp, uint32_t dest)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR,
	    .path_mtu = IBV_MTU_4096,
	    .dest_qp_num = dest,
	    .max_dest_rd_atomic = 16,
	    .min_rnr_timer = 1,
	    .ah_attr = {.dlid = 1, .port_num = 1}};

	qp_to_init(qp, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
	DONE(ibv_modify_qp(qp, &attr,
	    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
	        IBV_QP_MIN_RNR_TIMER));
	qp_to_rts(qp, 21, 7, 7); /* a minute, for a slow machine */
}

static void start_datagrams(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY};

	DONE(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY));
	attr.qp_state = IBV_QPS_RTR;
	DONE(ibv_modify_qp(qp, &attr, IBV_QP_STATE));
	attr.qp_state = IBV_QPS_RTS;
	DONE(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN));
}

/* --- the life --- */

/* Wait until both sides have come this far. */
static void meet(int socket)
{
	char c = 0;

	child_send(socket, "m", 1);
	child_receive(socket, &c, 1);
	CHECK_EQ(c, 'm');
}

static void run(struct ibv_qp *qp, struct ibv_cq *cq, struct ibv_send_wr *wr, enum ibv_wc_status status)
{
	struct ibv_send_wr *bad = NULL;

	DONE(ibv_post_send(qp, wr, &bad));
	CHECK_EQ(poll_one(cq).status, status);
}

static struct ibv_sge word_of(const struct side *s, bool shared, int word)
{
	return (struct ibv_sge){
	    (uintptr_t)((shared ? s->shared : s->private) + word), 8, shared ? s->shared_mr->lkey : s->private_mr->lkey};
}

/* Write words of ours to the other side and read them back. */
static void copy(struct side *s, struct address to, bool shared)
{
	struct ibv_sge out = word_of(s, shared, OUT), back = word_of(s, shared, BACK);
	struct ibv_send_wr write = one_sided(IBV_WR_RDMA_WRITE, &out, to, 8 * INBOX);
	struct ibv_send_wr read = one_sided(IBV_WR_RDMA_READ, &back, to, 8 * INBOX);
	uint64_t *memory = shared ? s->shared : s->private;

	memory[OUT] = to.rkey;
	memory[BACK] = 0;
	run(s->qp, s->cq, &write, IBV_WC_SUCCESS);
	run(s->qp, s->cq, &read, IBV_WC_SUCCESS);
	CHECK_EQ(memory[BACK], to.rkey);
}

/* Add to both sums of the other side, and to our own through keys that the other side does not use. */
static void add(struct side *s, const struct names *other)
{
	const struct address second = {0, s->second_mr->rkey, (uintptr_t)s->shared};
	const struct address own = {0, s->private_mr->rkey, (uintptr_t)s->private};

	for (unsigned i = 0; i < ADDS; i++) {
		struct ibv_sge result = word_of(s, i % 2, RESULT);
		struct ibv_send_wr theirs_shared =
		    atomic_wr(IBV_WR_ATOMIC_FETCH_AND_ADD, &result, other->shared, 8 * SUM, 1, 0);
		struct ibv_send_wr theirs_private =
		    atomic_wr(IBV_WR_ATOMIC_FETCH_AND_ADD, &result, other->private, 8 * SUM, 1, 0);
		struct ibv_send_wr ours_shared = atomic_wr(IBV_WR_ATOMIC_FETCH_AND_ADD, &result, second, 8 * SUM, 1, 0);
		struct ibv_send_wr ours_private = atomic_wr(IBV_WR_ATOMIC_FETCH_AND_ADD, &result, own, 8 * SUM, 1, 0);

		run(s->qp, s->cq, &theirs_shared, IBV_WC_SUCCESS);
		run(s->qp, s->cq, &theirs_private, IBV_WC_SUCCESS);
		run(s->own, s->own_cq, &ours_shared, IBV_WC_SUCCESS);
		run(s->own, s->own_cq, &ours_private, IBV_WC_SUCCESS);
	}
}

/* A list is posted as a whole, or nothing of it. */
static void post_list(struct side *s, const struct names *other)
{
	struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(s->listed);
	struct ibv_sge result = word_of(s, true, RESULT);
	uint64_t word = other->shared.rkey;

	CHECK(ex);
	ex->wr_flags = IBV_SEND_SIGNALED;
	do {
		ibv_wr_start(ex);
		ibv_wr_atomic_fetch_add(ex, other->shared.rkey, other->shared.addr + 8 * LISTED, 1);
		ibv_wr_set_sge(ex, result.lkey, result.addr, 8);
		ibv_wr_rdma_write(ex, other->shared.rkey, other->shared.addr + 8 * INBOX);
		ibv_wr_set_inline_data(ex, &word, 8);
		errno = ibv_wr_complete(ex);
	} while (fails_once(errno == 0, errno));
	CHECK_EQ(poll_one(s->cq).status, IBV_WC_SUCCESS);
	CHECK_EQ(poll_one(s->cq).status, IBV_WC_SUCCESS);
}

/* The other side has no receive for it, and a datagram may be lost anyway. */
static void send_datagram(struct side *s, const struct names *other)
{
	struct ibv_sge sge = word_of(s, true, OUT);
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};

	wr.wr.ud.ah = s->ah;
	wr.wr.ud.remote_qpn = other->datagrams;
	wr.wr.ud.remote_qkey = QKEY;
	run(s->datagrams, s->own_cq, &wr, IBV_WC_SUCCESS);
}

static void receive(struct side *s, bool shared)
{
	struct ibv_sge sge = word_of(s, shared, INBOX);
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;

	CHECK_EQ(ibv_post_recv(s->eventful, &wr, &bad), 0);
}

static void send_word(struct side *s, bool shared)
{
	struct ibv_sge sge = word_of(s, shared, OUT);
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND}, *bad;

	DONE(ibv_post_send(s->eventful, &wr, &bad));
}

/* Sleep until the message is here, as a program that relies on events does. */
static void await_message(struct side *s)
{
	struct pollfd p = {.fd = s->channel->fd, .events = POLLIN};
	struct ibv_cq *cq;
	struct ibv_wc wc;
	void *context;

	for (;;) {
		CHECK_EQ(ibv_req_notify_cq(s->event_cq, 0), 0);
		if (ibv_poll_cq(s->event_cq, 1, &wc) == 1)
			break;
		if (poll(&p, 1, PATIENCE_S * 1000) != 1)
			overdue(__FILE__, __LINE__, "the event of a message comes");
		CHECK_EQ(ibv_get_cq_event(s->channel, &cq, &context), 0);
		ibv_ack_cq_events(cq, 1);
	}
	CHECK_EQ(wc.status, IBV_WC_SUCCESS);
	CHECK_EQ(wc.opcode, IBV_WC_RECV);
}

/*
 * A program that sleeps until an event: both sides get a message in each kind of memory, the second before its receive
 * is posted.
 */
static void talk(struct side *s, int socket, bool first)
{
	for (int shared = 0; shared < 2; shared++) {
		receive(s, shared);
		CHECK_EQ(ibv_req_notify_cq(s->event_cq, 0), 0);
		meet(socket);
		if (first)
			send_word(s, shared);
		else
			await_message(s);
		meet(socket);
		if (first)
			await_message(s);
		else
			send_word(s, shared);
		meet(socket);
		if (first)
			send_word(s, shared);
		meet(socket);
		if (!first) {
			receive(s, shared);
			await_message(s);
		}
		meet(socket);
	}
}

/* Regions of the other side that are gone do not stay mapped. */
static void await_unmapped(int maps)
{
	uint64_t until = now_ns() + PATIENCE_NS;

	while (footprint_now().maps > maps) {
		if (now_ns() > until)
			overdue(__FILE__, __LINE__, "memory of a region that is gone is let go of");
		usleep(1000);
	}
}

/* A request that is not allowed: the other side gets an event, though it does nothing. */
static void err(struct side *s, const struct names *other, bool first)
{
	struct ibv_sge sge = word_of(s, true, OUT);
	const struct address nowhere = {0, 0, other->shared.addr};
	struct ibv_send_wr wr = one_sided(IBV_WR_RDMA_WRITE, &sge, nowhere, 0);

	if (first)
		run(s->wrong, s->cq, &wr, IBV_WC_REM_ACCESS_ERR);
	else
		expect_event(s->context, IBV_EVENT_QP_ACCESS_ERR);
}

/* The faults that we set for its devices are in its segment. */
static void set_its_faults(const struct names *other)
{
	char setting[32];

	snprintf(setting, sizeof(setting), "at=%d link=up", (int)other->pid);
	DONE(softverbs_control(setting));
}

/* One side is the first in each step that both take in turn, and alone makes the mistake. */
static void live(int socket, bool first)
{
	struct footprint before = footprint_now();
	struct side s = {0};
	struct names own, other;

	open_side(&s);
	own = names_of(&s);
	child_send(socket, &own, sizeof(own));
	child_receive(socket, &other, sizeof(other));
	connect_qp(s.qp, other.qp);
	connect_qp(s.own, s.own->qp_num);
	connect_qp(s.eventful, other.eventful);
	connect_qp(s.wrong, other.wrong);
	connect_qp(s.listed, other.listed);
	start_datagrams(s.datagrams);
	meet(socket);
	add(&s, &other);
	post_list(&s, &other);
	send_datagram(&s, &other);
	copy(&s, other.shared, true);
	copy(&s, other.private, false);
	meet(socket);
	CHECK_EQ(s.shared[SUM], 2 * ADDS);
	CHECK_EQ(s.private[SUM], 2 * ADDS);
	CHECK_EQ(s.shared[LISTED], 1);
	set_its_faults(&other);
	err(&s, &other, first);
	talk(&s, socket, first);
	int maps = footprint_now().maps;

	meet(socket);
	if (first) {
		DONE(ibv_dereg_mr(s.shared_mr));
		s.shared_mr = NULL;
	} else {
		await_unmapped(maps - 1);
	}
	meet(socket);
	close_side(&s);
	struct footprint after = footprint_after(&before);

	CHECK_EQ(after.fds, before.fds);
	CHECK_EQ(after.maps, before.maps);
	CHECK_EQ(after.threads, before.threads);
}

/* --- all of them --- */

struct order {
	int call; /* index into `calls`; -1: end */
	int first;
	uint32_t n;
};

struct account {
	bool met;      /* there was such a call, and it failed */
	bool reported; /* by an error of a verbs call */
};

static bool is_to_come(const char *call)
{
	char setting[32];

	snprintf(setting, sizeof(setting), "fault_at=%s:", call);
	return strstr(softverbs_describe(), setting) != NULL;
}

static int faulty(void)
{
	struct order order;

	for (child_receive(3, &order, sizeof(order)); order.call >= 0; child_receive(3, &order, sizeof(order))) {
		char setting[32];

		snprintf(setting, sizeof(setting), "fault_at=%s:%u", calls[order.call], order.n);
		CHECK_EQ(softverbs_control(setting), 0);
		failed = 0;
		live(3, order.first);
		struct account account = {!is_to_come(calls[order.call]), failed};

		snprintf(setting, sizeof(setting), "fault_at=%s:0", calls[order.call]);
		failed = 0;
		DONE(softverbs_control(setting));
		CHECK(!is_to_come(calls[order.call]));
		CHECK(account.met || !account.reported);
		child_send(3, &account, sizeof(account));
	}
	return 0;
}

static void each_call_fails(bool first)
{
	struct child c = child_start("faulty");

	step("in the process that is %s", first ? "the first" : "the second");
	for (int call = 0; call < (int)(sizeof(calls) / sizeof(calls[0])); call++) {
		struct account account = {.met = true};
		unsigned reported = 0;
		uint32_t n = 0;

		printf("  %s:", calls[call]);
		while (account.met) {
			CHECK(++n < MOST);
			printf(" %u", n);
			fflush(stdout);
			child_send(c.socket, &(struct order){call, first, n}, sizeof(struct order));
			live(c.socket, !first);
			CHECK_EQ(failed, 0);
			child_receive(c.socket, &account, sizeof(account));
			reported += account.reported;
		}
		printf(" (not met): %u were an error of a call\n", reported);
		CHECK(n > 1);
	}
	child_send(c.socket, &(struct order){-1, 0, 0}, sizeof(struct order));
	child_finish(&c);
}

/* A process of two devices, as its environment has it, or a file that this names. */
static int configured(const char *call, const char *setting)
{
	char fault[32];
	int count;

	CHECK_EQ(setenv("SOFTVERBS", setting, 1), 0);
	snprintf(fault, sizeof(fault), "fault_at=%s:1", call);
	CHECK_EQ(softverbs_control(fault), 0);
	errno = 0;
	CHECK(!ibv_get_device_list(&count));
	CHECK(errno == ENOMEM || errno == EMFILE);
	CHECK_EQ(count, 0);
	struct ibv_device **list = ibv_get_device_list(&count);

	CHECK(list);
	CHECK_EQ(count, 2);
	struct ibv_context *context = ibv_open_device(list[1]);

	CHECK(context);
	CHECK_EQ(ibv_close_device(context), 0);
	ibv_free_device_list(list);
	return 0;
}

static int configured_by_file(void)
{
	char setting[64] = "@/tmp/softverbs.XXXXXX";
	int fd = mkstemp(setting + 1);

	CHECK(fd >= 0);
	CHECK_EQ(write(fd, "devices=2", 9), 9);
	close(fd);
	int status = configured("open", setting);

	CHECK_EQ(unlink(setting + 1), 0);
	return status;
}

static void configurations(void)
{
	static const char *const children[] = {"configured", "configured by file"};

	step("settings that cannot be read for a moment are read when there is memory");
	for (int i = 0; i < 2; i++) {
		struct child c = child_start(children[i]);

		child_finish(&c);
	}
}

static void giving_back(void)
{
	struct side s;

	step("to give something back takes no memory");
	open_side(&s);
	CHECK_EQ(softverbs_control("fault_at=malloc:1"), 0);
	close_side(&s);
	CHECK(is_to_come("malloc"));
	CHECK_EQ(softverbs_control("fault_at=malloc:0"), ENOMEM);
	CHECK(!is_to_come("malloc"));
}

static void settings(void)
{
	static const char *const wrong[] = {"fault_at=", "fault_at=open", "fault_at=open:", "fault_at=open:x",
	    "fault_at=open:-1", "fault_at=ope:1", "fault_at=opens:1", "fault_at=open:1x"};

	step("what the setting takes, and what of it is to come");
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		CHECK(softverbs_control(wrong[i]) != 0);
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		CHECK(!is_to_come(calls[i]));
	CHECK_EQ(softverbs_control("fault_at=open:3 fault_at=openat:18446744073709551615"), 0);
	CHECK(strstr(softverbs_describe(), "fault_at=open:3"));
	CHECK(strstr(softverbs_describe(), "fault_at=openat:18446744073709551615"));
	CHECK_EQ(softverbs_control("fault_at=open:0 fault_at=openat:0"), 0);
	CHECK(!is_to_come("open"));
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "faulty") == 0)
		return faulty();
	if (argc > 1 && strcmp(argv[1], "configured") == 0)
		return configured("malloc", "devices=2");
	if (argc > 1)
		return configured_by_file();
	settings();
	configurations();
	giving_back();
	each_call_fails(true);
	each_call_fails(false);
	return 0;
}
