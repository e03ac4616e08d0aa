/*
 * What another process does between two instructions, or two system calls, of a post: a tracer stops the poster there.
 * So each place in which a post can be stopped is one case, in the order in which they come.
 */
#include "../src/object/layout.h"
#include "test.h"

#include <sys/ptrace.h>

#define PAGE 4096u

/* --- the poster --- */

static void to_reset(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};

	CHECK_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
}

/* For each message: connects, writes, stops itself, writes. */
static int poster(void)
{
	struct endpoint e;
	struct address own, to;

	endpoint_open(&e, MEMORY_MALLOC, PAGE, NULL);
	own = address_of(&e);
	child_send(3, &own, sizeof(own));
	for (;;) {
		struct ibv_send_wr *bad;

		child_receive(3, &to, sizeof(to));
		if (!to.qpn)
			break;
		to_reset(e.qp);
		qp_connect(e.qp, to.qpn);
		struct ibv_sge sge = sge_of(&e, 0, 8);
		struct ibv_send_wr write = one_sided(IBV_WR_RDMA_WRITE, &sge, to, 0);

		post_and_expect(&e, &write, IBV_WC_SUCCESS);
		raise(SIGSTOP);
		CHECK_EQ(ibv_post_send(e.qp, &write, &bad), 0);
		child_send(3, "d", 1);
	}
	endpoint_close(&e);
	return 0;
}

/* --- the tracer --- */

static bool trace(const struct child *c)
{
	if (ptrace(PTRACE_SEIZE, c->pid, NULL, NULL) == 0)
		return true;
	CHECK_EQ(errno, EPERM);
	step("SKIPPED: this process may not trace its children");
	return false;
}

static void await_stop(const struct child *c, int signal)
{
	int status;

	CHECK_EQ(waitpid(c->pid, &status, 0), c->pid);
	CHECK(WIFSTOPPED(status));
	CHECK_EQ(WSTOPSIG(status), signal);
}

static void go_on(const struct child *c)
{
	char done;

	CHECK_EQ(ptrace(PTRACE_CONT, c->pid, NULL, NULL), 0);
	child_receive(c->socket, &done, 1);
}

/* --- a poster that is stopped before it says that it is at work, and goes on when its peer's QP has another peer ---
 */

#define MOST_STEPS 5000

static void peer_of_before(void)
{
	struct endpoint e;
	struct address to;
	int steps = 0;

	step("a peer of before goes on: it writes nothing of what our peer of now says");
	endpoint_open(&e, MEMORY_MEMFD, PAGE, NULL);
	struct child c = child_start("poster");

	child_receive(c.socket, &to, sizeof(to));
	struct address own = address_of(&e), none = {0};
	struct sv_qp_entry *entry = &own_segment()->qps[e.qp->qp_num & (SV_QPS - 1)];

	if (!trace(&c)) {
		child_send(c.socket, &none, sizeof(none));
		child_finish(&c);
		endpoint_close(&e);
		return;
	}
	for (;; steps++) {
		static struct sv_qp_entry before;
		struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};

		CHECK(steps < MOST_STEPS);
		qp_connect(e.qp, to.qpn);
		child_send(c.socket, &own, sizeof(own));
		await_stop(&c, SIGSTOP);
		for (int i = 0; i < steps; i++) {
			CHECK_EQ(ptrace(PTRACE_SINGLESTEP, c.pid, NULL, NULL), 0);
			await_stop(&c, SIGTRAP);
		}
		int error = ibv_modify_qp(e.qp, &attr, IBV_QP_STATE);

		/* it is at work, and says so */
		if (error == EBUSY)
			break;
		CHECK_EQ(error, 0);
		qp_connect(e.qp, e.qp->qp_num);
		memcpy(&before, entry, sizeof(before));
		go_on(&c);
		CHECK(memcmp(&before, entry, sizeof(before)) == 0);
		to_reset(e.qp);
	}
	step("it was stopped after each of %d instructions", steps);
	go_on(&c);
	CHECK_EQ(ptrace(PTRACE_INTERRUPT, c.pid, NULL, NULL), 0);
	int status;

	CHECK_EQ(waitpid(c.pid, &status, 0), c.pid);
	CHECK_EQ(ptrace(PTRACE_DETACH, c.pid, NULL, NULL), 0);
	child_send(c.socket, &none, sizeof(none));
	child_finish(&c);
	endpoint_close(&e);
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		return poster();
	struct footprint before = footprint_now();

	peer_of_before();
	CHECK_EQ(footprint_now().fds, before.fds);
	CHECK_EQ(footprint_now().maps, before.maps);
	return 0;
}
