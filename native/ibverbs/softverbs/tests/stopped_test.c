/*
 * A peer that is stopped (SIGSTOP) in the middle of a copy: memory to which it can still write stays allocated, and no
 * other operation waits. The test reads from the control segments, as the device does, whether the peer is in the
 * middle of a copy.
 */
#include "../src/object/layout.h"
#include "test.h"

#include <sys/resource.h>

#define SIZE (32u << 20)
#define COPY (16u << 20)

/* --- the control segments, as the device sees them --- */

static struct sv_qp_entry *entry_of(const struct ibv_qp *qp)
{
	return &own_segment()->qps[qp->qp_num & (SV_QPS - 1)];
}

static bool copies_now(const void *entry)
{
	return atomic_load(&entry_of_peer(entry)->busy) & 1;
}

static bool delivers_now(const void *entry)
{
	return atomic_load(&((const struct sv_qp_entry *)entry)->rq.lock) != 0;
}

static bool counts_now(const void *entry)
{
	(void)entry;
	return atomic_load(&own_segment()->header.atomic_lock) != 0;
}

/* --- the peer --- */

/* Writes for as long as it may; reports in the end the status with which its access ended. */
static int writer(void)
{
	struct endpoint e;
	struct address own, to;
	char go = 'g';
	struct ibv_wc wc;

	endpoint_open(&e, MEMORY_MEMFD, SIZE, NULL);
	memset(e.buffer, 0x5a, SIZE);
	own = address_of(&e);
	child_send(3, &own, sizeof(own));
	child_receive(3, &to, sizeof(to));
	qp_connect(e.qp, to.qpn);
	child_send(3, &go, 1);
	child_receive(3, &to, sizeof(to)); /* the key to write through: a window's, perhaps */
	do {
		struct ibv_sge sge = sge_of(&e, 0, COPY);
		struct ibv_send_wr write = one_sided(IBV_WR_RDMA_WRITE, &sge, to, 0);

		post(e.qp, &write);
		wc = poll_one(e.cq);
	} while (wc.status == IBV_WC_SUCCESS);
	uint32_t status = wc.status;

	child_send(3, &status, sizeof(status));
	endpoint_close(&e);
	return 0;
}

static void open_datagrams(struct endpoint *e)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 0x11};

	endpoint_open(e, MEMORY_MALLOC, 8192, &(struct options){.type = IBV_QPT_UD});
	CHECK_EQ(ibv_modify_qp(e->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY), 0);
	attr.qp_state = IBV_QPS_RTR;
	CHECK_EQ(ibv_modify_qp(e->qp, &attr, IBV_QP_STATE), 0);
	attr.qp_state = IBV_QPS_RTS;
	CHECK_EQ(ibv_modify_qp(e->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN), 0);
}

static void shoot(struct endpoint *e, uint32_t qpn, unsigned times)
{
	struct ibv_ah_attr to = {.dlid = 1, .port_num = 1};
	struct ibv_sge sge = sge_of(e, 0, 4096);
	struct ibv_send_wr wr = {.sg_list = &sge,
	    .num_sge = 1,
	    .opcode = IBV_WR_SEND,
	    .send_flags = IBV_SEND_SIGNALED,
	    .wr.ud = {.ah = ibv_create_ah(e->pd, &to), .remote_qpn = qpn, .remote_qkey = 0x11}};

	CHECK(wr.wr.ud.ah);
	while (times--)
		post_and_expect(e, &wr, IBV_WC_SUCCESS);
	CHECK_EQ(ibv_destroy_ah(wr.wr.ud.ah), 0);
}

static void shooter(void)
{
	struct endpoint e;
	uint32_t qpn;

	open_datagrams(&e);
	child_receive(3, &qpn, sizeof(qpn));
	for (;;) /* until we are killed */
		shoot(&e, qpn, 1000);
}

/* Counts in the parent's private memory, where atomics take a lock. */
static void counter(void)
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
	for (;;) { /* until we are killed */
		struct ibv_sge sge = sge_of(&e, 0, 8);
		struct ibv_send_wr add = atomic_wr(IBV_WR_ATOMIC_FETCH_AND_ADD, &sge, to, 64, 1, 0);

		post_and_expect(&e, &add, IBV_WC_SUCCESS);
	}
}

/* --- the work that a program of several domains continues --- */

struct bystander {
	struct endpoint e;
	struct ibv_pd *pd; /* of its own, with no peer */
};

static void bystander_open(struct bystander *b)
{
	endpoint_open(&b->e, MEMORY_MALLOC, 4096, NULL);
	qp_connect(b->e.qp, b->e.qp->qp_num);
	b->pd = ibv_alloc_pd(b->e.context);
	CHECK(b->pd);
}

static void bystander_close(struct bystander *b)
{
	CHECK_EQ(ibv_dealloc_pd(b->pd), 0);
	endpoint_close(&b->e);
}

/* Calls and operations on regions and queue pairs of other domains do not wait for the stopped peer. */
static void goes_on(struct bystander *b)
{
	uint64_t word = 7;
	struct ibv_sge sge = {(uintptr_t)&word, 8, 0};
	struct ibv_send_wr wr = one_sided(IBV_WR_RDMA_WRITE, &sge, address_of(&b->e), 64);
	static uint8_t memory[4096];
	struct ibv_mr *mr = ibv_reg_mr(b->pd, memory, sizeof(memory), ALL_ACCESS);
	struct ibv_qp *qp = qp_create(&b->e, NULL);

	CHECK(mr);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	CHECK_EQ(ibv_destroy_qp(qp), 0);
	wr.send_flags |= IBV_SEND_INLINE;
	post_and_expect(&b->e, &wr, IBV_WC_SUCCESS);
}

/* --- the cases --- */

enum ending { GOES_ON, DIES };
static const char *const endings[] = {"goes on", "dies"};

static void open_target(struct endpoint *e, struct child *c)
{
	struct address own, to;
	char go;

	*c = child_start("writer");
	endpoint_open(e, MEMORY_MEMFD, SIZE, NULL);
	own = address_of(e);
	child_receive(c->socket, &to, sizeof(to));
	child_send(c->socket, &own, sizeof(own));
	qp_connect(e->qp, to.qpn);
	child_receive(c->socket, &go, 1);
}

static void release(struct child *c, enum ending ending)
{
	CHECK_EQ(kill(c->pid, ending == DIES ? SIGKILL : SIGCONT), 0);
}

static int dereg(void *mr)
{
	return ibv_dereg_mr(mr);
}

static int destroy(void *qp)
{
	return ibv_destroy_qp(qp);
}

static int dealloc(void *mw)
{
	return ibv_dealloc_mw(mw);
}

static int to_reset(void *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE);
}

/* While the peer is stopped; the watchdog checks that each call returns. */
static void busy(int (*retire)(void *), void *object)
{
	for (int i = 0; i < 2; i++)
		CHECK_EQ(retire(object), EBUSY);
}

/* The same when we have too few descriptors left to look at the peer: a peer that cannot be looked at is not dead. */
static void busy_without_descriptors(int (*retire)(void *), void *object)
{
	struct rlimit before, few;
	int taken[256], count = 0;

	CHECK_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = before;
	few.rlim_cur = 256;
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
	while ((taken[count] = dup(0)) >= 0)
		count++;
	CHECK_EQ(errno, EMFILE);
	/* enough to find its segment, and one too few to open that */
	for (int spare = 0; spare < 2; spare++)
		close(taken[--count]);
	busy(retire, object);
	while (count)
		close(taken[--count]);
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
}

/* Repeat the call until it succeeds. */
static void retire_at_last(int (*retire)(void *), void *object)
{
	uint64_t until = now_ns() + PATIENCE_NS;
	int error;

	while ((error = retire(object)) == EBUSY)
		if (now_ns() > until)
			overdue(__FILE__, __LINE__, "a peer that went on or died is waited for no more");
	CHECK_EQ(error, 0);
}

static void nothing_is_written(struct endpoint *e)
{
	memset(e->buffer, 0, e->size);
	usleep(20000);
	CHECK(e->buffer[0] == 0 && memcmp(e->buffer, e->buffer + 1, e->size - 1) == 0);
}

static void finish(struct child *c, enum ending ending, uint32_t expected)
{
	if (ending == GOES_ON) {
		uint32_t status;

		child_receive(c->socket, &status, sizeof(status));
		CHECK_EQ(status, expected);
		child_finish(c);
	} else {
		CHECK_EQ(waitpid(c->pid, NULL, 0), c->pid);
		close(c->socket);
	}
}

static void region(enum ending ending)
{
	struct endpoint e;
	struct bystander other;
	struct child c;

	step("its region: EBUSY, and done once it %s", endings[ending]);
	open_target(&e, &c);
	bystander_open(&other);
	struct address to = address_of(&e);

	child_send(c.socket, &to, sizeof(to));
	child_stop_inside(&c, copies_now, entry_of(e.qp));
	struct ibv_mr *mr = e.mr;
	uint32_t lkey = mr->lkey;

	busy(dereg, mr);
	goes_on(&other);
	CHECK_EQ(ibv_dealloc_pd(e.pd), EBUSY); /* the region is still there */
	struct ibv_sge sge = {(uintptr_t)e.buffer, 8, lkey};
	struct ibv_send_wr wr = one_sided(IBV_WR_RDMA_WRITE, &sge, to, 0);

	/* and no new operation may use it */
	struct ibv_qp *qp = e.qp;

	e.qp = qp_create(&e, NULL);
	qp_connect(e.qp, e.qp->qp_num);
	post_and_expect(&e, &wr, IBV_WC_LOC_PROT_ERR);
	CHECK_EQ(ibv_destroy_qp(e.qp), 0);
	e.qp = qp;
	release(&c, ending);
	retire_at_last(dereg, mr);
	e.mr = NULL;
	nothing_is_written(&e);
	finish(&c, ending, IBV_WC_REM_ACCESS_ERR);
	bystander_close(&other);
	endpoint_close(&e);
}

static void *dereg_thread(void *mr)
{
	retire_at_last(dereg, mr);
	return NULL;
}

static void another_domains_region(void)
{
	struct endpoint e;
	struct child c;
	pthread_t thread;
	static uint8_t memory[4096];

	step("a region of another domain of the same context: at once, while a thread waits for the first");
	open_target(&e, &c);
	struct address to = address_of(&e);
	struct ibv_pd *pd = ibv_alloc_pd(e.context);

	CHECK(pd);
	child_send(c.socket, &to, sizeof(to));
	child_stop_inside(&c, copies_now, entry_of(e.qp));
	CHECK_EQ(pthread_create(&thread, NULL, dereg_thread, e.mr), 0);
	for (int i = 0; i < 1000; i++) {
		struct ibv_mr *mr = ibv_reg_mr(pd, memory, sizeof(memory), ALL_ACCESS);

		CHECK(mr);
		CHECK_EQ(ibv_dereg_mr(mr), 0);
	}
	CHECK_EQ(ibv_dealloc_pd(pd), 0);
	release(&c, DIES);
	CHECK_EQ(pthread_join(thread, NULL), 0);
	e.mr = NULL;
	finish(&c, DIES, 0);
	endpoint_close(&e);
}

static void queue_pair(enum ending ending)
{
	struct endpoint e;
	struct bystander other;
	struct child c;
	struct ibv_send_wr *bad;

	step("its queue pair: EBUSY, of no use meanwhile, and gone once it %s", endings[ending]);
	open_target(&e, &c);
	bystander_open(&other);
	struct address to = address_of(&e);

	child_send(c.socket, &to, sizeof(to));
	child_stop_inside(&c, copies_now, entry_of(e.qp));
	busy(destroy, e.qp);
	goes_on(&other);
	struct ibv_sge sge = sge_of(&e, 0, 8);
	struct ibv_send_wr wr = one_sided(IBV_WR_RDMA_WRITE, &sge, to, 0);
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};

	CHECK_EQ(ibv_post_send(e.qp, &wr, &bad), EINVAL);
	CHECK_EQ(ibv_modify_qp(e.qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS), EINVAL);
	CHECK_EQ(ibv_destroy_cq(e.cq), EBUSY);
	release(&c, ending);
	retire_at_last(destroy, e.qp);
	e.qp = NULL;
	nothing_is_written(&e);
	finish(&c, ending, IBV_WC_RETRY_EXC_ERR);
	bystander_close(&other);
	endpoint_close(&e);
}

static void reset(enum ending ending)
{
	struct endpoint e;
	struct bystander other;
	struct child c;

	step("to the reset state: EBUSY, in the error state meanwhile, and reset once it %s", endings[ending]);
	open_target(&e, &c);
	bystander_open(&other);
	struct address to = address_of(&e);

	post_receive(&e, 50, 0, 8);
	child_send(c.socket, &to, sizeof(to));
	child_stop_inside(&c, copies_now, entry_of(e.qp));
	busy(to_reset, e.qp);
	CHECK_EQ(qp_state(e.qp), IBV_QPS_ERR);
	poll_none(e.cq, 20); /* the receive is not given back while the peer could still fill it */
	goes_on(&other);
	release(&c, ending);
	CHECK_EQ(poll_one(e.cq).wr_id, 50);
	retire_at_last(to_reset, e.qp);
	CHECK_EQ(qp_state(e.qp), IBV_QPS_RESET);
	nothing_is_written(&e);
	qp_connect(e.qp, e.qp->qp_num); /* usable like a new one */
	struct ibv_sge sge = sge_of(&e, 0, 8);
	struct ibv_send_wr wr = one_sided(IBV_WR_RDMA_WRITE, &sge, to, 64);

	post_and_expect(&e, &wr, IBV_WC_SUCCESS);
	finish(&c, ending, IBV_WC_RETRY_EXC_ERR);
	bystander_close(&other);
	endpoint_close(&e);
}

static struct ibv_mw *bound_window(struct endpoint *e, struct ibv_mr *mr, struct address *to)
{
	struct ibv_mw *mw = ibv_alloc_mw(e->pd, IBV_MW_TYPE_2);

	CHECK(mw);
	struct ibv_send_wr bind = {.wr_id = 3,
	    .opcode = IBV_WR_BIND_MW,
	    .send_flags = IBV_SEND_SIGNALED,
	    .bind_mw = {.mw = mw,
	        .rkey = ibv_inc_rkey(mw->rkey),
	        .bind_info = {mr, (uintptr_t)e->buffer, COPY, IBV_ACCESS_REMOTE_WRITE}}};

	post_and_expect(e, &bind, IBV_WC_SUCCESS);
	*to = (struct address){e->qp->qp_num, bind.bind_mw.rkey, (uintptr_t)e->buffer};
	return mw;
}

static void window(bool invalidate, enum ending ending)
{
	struct endpoint e;
	struct bystander other;
	struct child c;
	struct address to;

	step("its window: %s, and done once it %s",
	    invalidate ? "the invalidation has no completion" : "deallocation says EBUSY", endings[ending]);
	open_target(&e, &c);
	bystander_open(&other);
	CHECK_EQ(ibv_dereg_mr(e.mr), 0);
	e.mr = ibv_reg_mr(e.pd, e.buffer, e.size, ALL_ACCESS | IBV_ACCESS_MW_BIND);
	CHECK(e.mr);
	struct ibv_mw *mw = bound_window(&e, e.mr, &to);

	child_send(c.socket, &to, sizeof(to));
	child_stop_inside(&c, copies_now, entry_of(e.qp));
	if (invalidate) {
		struct ibv_send_wr wr = {
		    .wr_id = 4, .opcode = IBV_WR_LOCAL_INV, .send_flags = IBV_SEND_SIGNALED, .invalidate_rkey = to.rkey};

		post(e.qp, &wr);
		poll_none(e.cq, 20);
		goes_on(&other);
		CHECK_EQ(ibv_dereg_mr(e.mr), EBUSY); /* the window holds it */
		release(&c, ending);
		struct ibv_wc wc = poll_one(e.cq);

		CHECK_EQ(wc.wr_id, 4);
		/* a peer that resumes writes once more, which fails the queue pair: perhaps before the invalidation is tried
		 * again */
		if (ending == DIES || wc.status != IBV_WC_WR_FLUSH_ERR)
			CHECK_EQ(wc.status, IBV_WC_SUCCESS);
		nothing_is_written(&e);
		CHECK_EQ(ibv_dealloc_mw(mw), 0);
	} else {
		busy(dealloc, mw);
		goes_on(&other);
		CHECK_EQ(ibv_dereg_mr(e.mr), EBUSY);
		release(&c, ending);
		retire_at_last(dealloc, mw);
		nothing_is_written(&e);
	}
	finish(&c, ending, IBV_WC_REM_ACCESS_ERR);
	CHECK_EQ(ibv_dereg_mr(e.mr), 0);
	e.mr = NULL;
	bystander_close(&other);
	endpoint_close(&e);
}

static void window_of_type_1(void)
{
	struct endpoint e;
	struct child c;
	struct address to;

	step("its window of type 1: binding it elsewhere says EBUSY, and is done once it dies");
	open_target(&e, &c);
	CHECK_EQ(ibv_dereg_mr(e.mr), 0);
	e.mr = ibv_reg_mr(e.pd, e.buffer, e.size, ALL_ACCESS | IBV_ACCESS_MW_BIND);
	CHECK(e.mr);
	struct ibv_mw *mw = ibv_alloc_mw(e.pd, IBV_MW_TYPE_1);
	struct ibv_mw_bind bind = {.wr_id = 5,
	    .send_flags = IBV_SEND_SIGNALED,
	    .bind_info = {e.mr, (uintptr_t)e.buffer, COPY, IBV_ACCESS_REMOTE_WRITE}};

	CHECK(mw);
	CHECK_EQ(ibv_bind_mw(e.qp, mw, &bind), 0);
	CHECK_EQ(poll_one(e.cq).status, IBV_WC_SUCCESS);
	to = (struct address){e.qp->qp_num, mw->rkey, (uintptr_t)e.buffer};
	child_send(c.socket, &to, sizeof(to));
	child_stop_inside(&c, copies_now, entry_of(e.qp));
	bind.bind_info.addr += COPY;
	for (int i = 0; i < 2; i++)
		CHECK_EQ(ibv_bind_mw(e.qp, mw, &bind), EBUSY);
	release(&c, DIES);
	uint64_t until = now_ns() + PATIENCE_NS;
	int error;

	while ((error = ibv_bind_mw(e.qp, mw, &bind)) == EBUSY)
		CHECK(now_ns() < until);
	CHECK_EQ(error, 0);
	CHECK_EQ(poll_one(e.cq).status, IBV_WC_SUCCESS);
	nothing_is_written(&e);
	CHECK_EQ(ibv_dealloc_mw(mw), 0);
	finish(&c, DIES, 0);
	endpoint_close(&e);
}

static void datagram_receiver(void)
{
	struct endpoint e, sender;
	struct bystander other;
	struct child c = child_start("shooter");

	step("a sender of datagrams in the middle of a delivery: its receiver's region and queue pair, and other senders");
	open_datagrams(&e);
	open_datagrams(&sender);
	bystander_open(&other);
	child_send(c.socket, &e.qp->qp_num, sizeof(e.qp->qp_num));
	child_stop_inside(&c, delivers_now, entry_of(e.qp));
	post_receive(&e, 50, 0, 8192);
	shoot(&sender, e.qp->qp_num, 10); /* lost, as datagrams may be */
	poll_none(e.cq, 1);
	busy(dereg, e.mr);
	goes_on(&other);
	busy(destroy, e.qp);
	goes_on(&other);
	busy_without_descriptors(destroy, e.qp);
	release(&c, DIES);
	retire_at_last(destroy, e.qp);
	e.qp = NULL;
	retire_at_last(dereg, e.mr);
	e.mr = NULL;
	finish(&c, DIES, 0);
	bystander_close(&other);
	endpoint_close(&sender);
	endpoint_close(&e);
}

static void atomics(void)
{
	struct endpoint e, own;
	struct child c = child_start("counter");
	struct address to, at;
	char go;

	step(
	    "a peer in the middle of an atomic: those of others end as if the target did not answer, and run once it dies");
	endpoint_open(&e, MEMORY_MALLOC, 4096, NULL);
	endpoint_open(&own, MEMORY_MALLOC, 4096, NULL);
	at = address_of(&e);
	child_receive(c.socket, &to, sizeof(to));
	child_send(c.socket, &at, sizeof(at));
	qp_connect(e.qp, to.qpn);
	child_receive(c.socket, &go, 1);
	child_stop_inside(&c, counts_now, entry_of(e.qp));
	qp_to_init(own.qp, IBV_ACCESS_REMOTE_ATOMIC);
	qp_to_rtr(own.qp, own.qp->qp_num);
	qp_to_rts(own.qp, 14, 1, 7);
	struct ibv_sge sge = sge_of(&own, 0, 8);
	struct ibv_send_wr add = atomic_wr(IBV_WR_ATOMIC_FETCH_AND_ADD, &sge, address_of(&own), 64, 5, 0);

	post_and_expect(&own, &add, IBV_WC_RETRY_EXC_ERR);
	CHECK_EQ(*(uint64_t *)(own.buffer + 64), 0);
	CHECK_EQ(to_reset(own.qp), 0);
	release(&c, DIES);
	finish(&c, DIES, 0);
	qp_connect(own.qp, own.qp->qp_num);
	post_and_expect(&own, &add, IBV_WC_SUCCESS);
	CHECK_EQ(*(uint64_t *)(own.buffer + 64), 5);
	endpoint_close(&own);
	endpoint_close(&e);
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "writer") == 0)
		return writer();
	if (argc > 1 && strcmp(argv[1], "shooter") == 0)
		shooter();
	if (argc > 1)
		counter();
	struct footprint before = footprint_now();

	for (enum ending ending = GOES_ON; ending <= DIES; ending++) {
		region(ending);
		queue_pair(ending);
		reset(ending);
		window(false, ending);
		window(true, ending);
	}
	another_domains_region();
	window_of_type_1();
	datagram_receiver();
	atomics();
	struct footprint after = footprint_after(&before);

	step("nothing is left");
	CHECK_EQ(after.fds, before.fds);
	CHECK_EQ(after.maps, before.maps);
	CHECK_EQ(after.threads, before.threads);
	return 0;
}
