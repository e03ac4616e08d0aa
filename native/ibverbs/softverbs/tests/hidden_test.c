/*
 * A peer that is alive and that we may not look at, while it may look at us: one that is not dumpable, for example. It
 * must be taken neither for dead nor for idle. As root, the test gives up the capability that would let it look
 * nevertheless. And a peer whose memory cannot be written, because /proc is mounted read-only.
 */
#include "../src/object/layout.h"
#include "test.h"

#include <linux/capability.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define SIZE (32u << 20)
#define COPY (16u << 20)

/* For this process and all that it starts. */
static void give_up_ptrace(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];

	if (prctl(PR_CAPBSET_READ, CAP_SYS_PTRACE) == 1)
		prctl(PR_CAPBSET_DROP, CAP_SYS_PTRACE); /* a process that may not do this had no capability to give up */
	CHECK_EQ(syscall(SYS_capget, &header, data), 0);
	data[0].effective &= ~(1u << CAP_SYS_PTRACE);
	data[0].permitted &= ~(1u << CAP_SYS_PTRACE);
	data[0].inheritable &= ~(1u << CAP_SYS_PTRACE);
	CHECK_EQ(syscall(SYS_capset, &header, data), 0);
}

static void hide(bool hidden)
{
	CHECK_EQ(prctl(PR_SET_DUMPABLE, hidden ? 0 : 1), 0);
}

static void tell(int socket)
{
	child_send(socket, "g", 1);
}

static void await(int socket)
{
	char go;

	child_receive(socket, &go, 1);
}

/* --- the peers --- */

/* A peer that is hidden until it gets the command to show itself. */
static int guest(void)
{
	struct endpoint e;
	struct address own, to;

	hide(true);
	endpoint_open(&e, MEMORY_MEMFD, 4096, NULL);
	own = address_of(&e);
	child_send(3, &own, sizeof(own));
	child_receive(3, &to, sizeof(to));
	qp_connect(e.qp, to.qpn);
	tell(3);
	await(3);
	hide(false);
	tell(3);
	await(3);
	endpoint_close(&e);
	return 0;
}

/* Writes until it is killed, another first and last byte each time. */
static void writer(void)
{
	struct endpoint e;
	struct address own, to;

	endpoint_open(&e, MEMORY_MEMFD, SIZE, NULL);
	memset(e.buffer, 0x5a, SIZE);
	own = address_of(&e);
	child_send(3, &own, sizeof(own));
	child_receive(3, &to, sizeof(to));
	hide(true);
	qp_connect(e.qp, to.qpn);
	tell(3);
	for (;;) {
		struct ibv_sge sge = sge_of(&e, 0, COPY);
		struct ibv_send_wr write = one_sided(IBV_WR_RDMA_WRITE, &sge, to, 0);

		e.buffer[0] ^= 1;
		e.buffer[COPY - 1] = e.buffer[0];
		post_and_expect(&e, &write, IBV_WC_SUCCESS);
	}
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

/* Sends datagrams until it is killed. */
static void shooter(void)
{
	struct endpoint e;
	uint32_t qpn;

	hide(true);
	open_datagrams(&e);
	child_receive(3, &qpn, sizeof(qpn));
	struct ibv_ah_attr to = {.dlid = 1, .port_num = 1};
	struct ibv_sge sge = sge_of(&e, 0, 4096);
	struct ibv_send_wr wr = {.sg_list = &sge,
	    .num_sge = 1,
	    .opcode = IBV_WR_SEND,
	    .send_flags = IBV_SEND_SIGNALED,
	    .wr.ud = {.ah = ibv_create_ah(e.pd, &to), .remote_qpn = qpn, .remote_qkey = 0x11}};

	CHECK(wr.wr.ud.ah);
	for (;;)
		post_and_expect(&e, &wr, IBV_WC_SUCCESS);
}

/* Runs with /proc mounted read-only, if the process may mount. */
static int reader(void)
{
	struct endpoint e;
	struct address own, to;
	char able = unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	            mount("none", "/proc", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL) == 0;

	child_send(3, &able, 1);
	if (!able)
		return 0;
	endpoint_open(&e, MEMORY_MALLOC, 4096, NULL);
	own = address_of(&e);
	child_send(3, &own, sizeof(own));
	child_receive(3, &to, sizeof(to));
	qp_connect(e.qp, to.qpn);
	struct ibv_sge sge = sge_of(&e, 0, 8);
	struct ibv_send_wr wr = one_sided(IBV_WR_RDMA_READ, &sge, to, 0);

	post_and_expect(&e, &wr, IBV_WC_SUCCESS);
	CHECK_EQ(*(uint64_t *)e.buffer, 77);
	wr.opcode = IBV_WR_RDMA_WRITE;
	post_and_expect(&e, &wr, IBV_WC_LOC_QP_OP_ERR);
	tell(3);
	await(3);
	endpoint_close(&e);
	return 0;
}

/* --- the cases --- */

static struct sv_qp_entry *entry_of(const struct endpoint *e)
{
	return &own_segment()->qps[e->qp->qp_num & (SV_QPS - 1)];
}

static bool copies_now(const void *endpoint)
{
	const struct endpoint *e = endpoint;

	return *(volatile uint8_t *)&e->buffer[0] != *(volatile uint8_t *)&e->buffer[COPY - 1];
}

static bool delivers_now(const void *e)
{
	return atomic_load(&entry_of(e)->rq.lock) != 0;
}

/* Deregisters the region once the peer was killed. */
static void deregister_at_last(struct endpoint *e)
{
	uint64_t until = now_ns() + PATIENCE_NS;
	int error;

	while ((error = ibv_dereg_mr(e->mr)) == EBUSY)
		if (now_ns() > until)
			overdue(__FILE__, __LINE__, "a peer that died is waited for no more");
	CHECK_EQ(error, 0);
	e->mr = NULL;
}

static void refused(void)
{
	struct endpoint e;
	struct child c = child_start("guest");
	struct address own, its;

	endpoint_open(&e, MEMORY_MEMFD, 4096, NULL);
	own = address_of(&e);
	child_receive(c.socket, &its, sizeof(its));
	child_send(c.socket, &own, sizeof(own));
	await(c.socket);
	qp_to_init(e.qp, ALL_ACCESS);
	for (int i = 0; i < 2; i++) {
		CHECK_EQ(qp_try_rtr(e.qp, its.qpn), EACCES);
		CHECK_EQ(qp_state(e.qp), IBV_QPS_INIT);
		CHECK_EQ(atomic_load(&entry_of(&e)->dest_qpn), 0);
	}
	CHECK_EQ(ibv_dereg_mr(e.mr), 0); /* no peer can use it */
	e.mr = ibv_reg_mr(e.pd, e.buffer, e.size, ALL_ACCESS);
	CHECK(e.mr);
	tell(c.socket);
	await(c.socket);
	qp_to_rtr(e.qp, its.qpn);
	qp_to_rts(e.qp, 18, 7, 7);
	struct ibv_sge sge = sge_of(&e, 0, 8);
	struct ibv_send_wr write = one_sided(IBV_WR_RDMA_WRITE, &sge, its, 0);

	post_and_expect(&e, &write, IBV_WC_SUCCESS);
	tell(c.socket);
	child_finish(&c);
	endpoint_close(&e);
}

static void in_the_middle_of_a_copy(void)
{
	struct endpoint e;
	struct child c = child_start("writer");
	struct address own, its;

	step("it has hidden since, and is in the middle of a copy: what it writes to stays, until it has died");
	endpoint_open(&e, MEMORY_MEMFD, SIZE, NULL);
	memset(e.buffer, 0, SIZE);
	own = address_of(&e);
	child_receive(c.socket, &its, sizeof(its));
	callers_queue(its.qpn);
	qp_connect(e.qp, its.qpn); /* it is not there yet */
	child_send(c.socket, &own, sizeof(own));
	await(c.socket);
	callers_taken(its.qpn);
	child_stop_inside(&c, copies_now, &e);
	for (int i = 0; i < 2; i++)
		CHECK_EQ(ibv_dereg_mr(e.mr), EBUSY);
	CHECK_EQ(ibv_destroy_qp(e.qp), EBUSY);
	child_kill(&c);
	deregister_at_last(&e);
	endpoint_close(&e);
}

static void in_the_middle_of_a_delivery(void)
{
	struct endpoint e;
	struct child c = child_start("shooter");

	step("a sender of datagrams, in the middle of a delivery: it holds a lock, and is not dead");
	open_datagrams(&e);
	child_send(c.socket, &e.qp->qp_num, sizeof(e.qp->qp_num));
	child_stop_inside(&c, delivers_now, &e);
	CHECK_EQ(ibv_dereg_mr(e.mr), EBUSY);
	child_kill(&c);
	deregister_at_last(&e);
	endpoint_close(&e);
}

static void read_only_proc(void)
{
	struct endpoint e;
	struct child c = child_start("reader");
	struct address own, its;
	char able;

	step("private memory, when /proc is mounted read-only: it can be read, and not to write it is the writer's error");
	child_receive(c.socket, &able, 1);
	if (!able) {
		step("not tested: a process of this user may not mount");
		child_finish(&c);
		return;
	}
	endpoint_open(&e, MEMORY_MALLOC, 4096, NULL);
	*(uint64_t *)e.buffer = 77;
	own = address_of(&e);
	child_receive(c.socket, &its, sizeof(its));
	child_send(c.socket, &own, sizeof(own));
	qp_connect(e.qp, its.qpn);
	await(c.socket);
	tell(c.socket);
	child_finish(&c);
	endpoint_close(&e);
}

/*
 * A /proc that hides processes that may not be looked at, or shows none. These cases come last, since the mount stays.
 */
static void hiding_proc(void)
{
	static const char *const options[] = {"hidepid=1,gid=54321", "hidepid=2,gid=54321"};

	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL)) {
		step("/proc with hidepid: not tested, a process of this user may not mount");
		return;
	}
	for (int i = 0; i < 2; i++) {
		step("the same, with %s of /proc", options[i]);
		CHECK_EQ(mount("proc", "/proc", "proc", 0, options[i]), 0);
		refused();
	}
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "reader") == 0)
		return reader();
	if (argc > 1 && strcmp(argv[1], "guest") == 0)
		return guest();
	if (argc > 1 && strcmp(argv[1], "writer") == 0)
		writer();
	if (argc > 1 && strcmp(argv[1], "shooter") == 0)
		shooter();
	give_up_ptrace();
	struct footprint before = footprint_now();

	step("a queue pair of its own: not ready to receive from it, until it may be looked at");
	refused();
	in_the_middle_of_a_copy();
	in_the_middle_of_a_delivery();
	read_only_proc();
	hiding_proc();
	struct footprint after = footprint_after(&before);

	step("nothing is left");
	CHECK_EQ(after.fds, before.fds);
	CHECK_EQ(after.maps, before.maps);
	CHECK_EQ(after.threads, before.threads);
	return 0;
}
