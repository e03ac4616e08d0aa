/*
 * Actions of another process between two instructions, or two system calls, of a post: a tracer stops the posting
 * process there. Each place at which a post can be stopped is one case, in the order in which they come.
 */
#include "../src/object/layout.h"
#include "test.h"

#include <dirent.h>
#include <linux/sched.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

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

static bool may_trace(void)
{
	pid_t pid = fork();

	if (pid == 0)
		pause();
	CHECK(pid > 0);
	bool may = ptrace(PTRACE_SEIZE, pid, NULL, NULL) == 0;

	if (!may) {
		CHECK_EQ(errno, EPERM);
		step("SKIPPED: this process may not trace its children");
	}
	CHECK_EQ(kill(pid, SIGKILL), 0);
	CHECK_EQ(waitpid(pid, NULL, 0), pid);
	return may;
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

/* --- a poster that is stopped before it marks itself as busy, and resumes when its peer's QP has another peer --- */

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

	CHECK_EQ(ptrace(PTRACE_SEIZE, c.pid, NULL, NULL), 0);
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

		/* the poster has marked itself as busy */
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

/* --- a process that dies before a system call of a post, and whose number another process has by then --- */

#define WORD 0x5a5a5a5a5a5a5a5aull

/* Offers a page of private memory. The process that gets its number later has a page at the same address, too. */
static int victim(void)
{
	struct endpoint e;
	struct address own, other;

	endpoint_open(&e, MEMORY_MALLOC, PAGE, NULL);
	void *at = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ibv_mr *mr = ibv_reg_mr(e.pd, at, PAGE, ALL_ACCESS);

	CHECK(mr);
	own = (struct address){e.qp->qp_num, mr->rkey, (uintptr_t)at};
	child_send(3, &own, sizeof(own));
	child_receive(3, &other, sizeof(other));
	qp_connect(e.qp, other.qpn);
	child_send(3, "r", 1);
	pause();
	return 1;
}

/* Writes into the victim's memory, perhaps after a first time, and stops itself before. */
static int raider(bool again)
{
	struct endpoint e;
	struct address own, to;
	struct ibv_send_wr *bad;

	endpoint_open(&e, MEMORY_MALLOC, PAGE, NULL);
	own = address_of(&e);
	memset(e.buffer, 0x5a, 8);
	child_send(3, &own, sizeof(own));
	child_receive(3, &to, sizeof(to));
	qp_connect(e.qp, to.qpn);
	struct ibv_sge sge = sge_of(&e, 0, 8);
	struct ibv_send_wr write = one_sided(IBV_WR_RDMA_WRITE, &sge, to, 0);

	if (again)
		post_and_expect(&e, &write, IBV_WC_SUCCESS);
	raise(SIGSTOP);
	CHECK_EQ(ibv_post_send(e.qp, &write, &bad), 0);
	child_send(3, "d", 1);
	poll_one(e.cq);
	endpoint_close(&e);
	return 0;
}

/* A process with this number and a page at this address; -1: we may not choose. It ends with 1 if the page changes. */
static pid_t follow(pid_t number, void *at)
{
	struct clone_args args = {.exit_signal = SIGCHLD, .set_tid = (uint64_t)(uintptr_t)&number, .set_tid_size = 1};

	CHECK(mmap(at, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == at);
	pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));

	if (pid == 0) {
		sigset_t set;
		int signal;

		sigemptyset(&set);
		sigaddset(&set, SIGUSR1);
		sigwait(&set, &signal);
		_exit(*(volatile uint64_t *)at == WORD);
	}
	munmap(at, PAGE);
	return pid;
}

/* Returns false if the post makes fewer system calls, or if we may not choose a process's number. */
static bool raid(bool again, int calls)
{
	struct child poster_child = child_start(again ? "raider again" : "raider"), target = child_start("victim");
	struct address from, to;
	char ready;
	int status;

	child_receive(poster_child.socket, &from, sizeof(from));
	child_receive(target.socket, &to, sizeof(to));
	child_send(target.socket, &from, sizeof(from));
	child_receive(target.socket, &ready, 1);
	CHECK_EQ(ptrace(PTRACE_SEIZE, poster_child.pid, NULL, PTRACE_O_TRACESYSGOOD), 0);
	child_send(poster_child.socket, &to, sizeof(to));
	await_stop(&poster_child, SIGSTOP);
	/* each call begins and ends */
	for (int i = 0; i < 2 * calls - 1; i++) {
		CHECK_EQ(ptrace(PTRACE_SYSCALL, poster_child.pid, NULL, NULL), 0);
		await_stop(&poster_child, SIGTRAP | 0x80);
	}
	struct __ptrace_syscall_info info;

	CHECK(ptrace(PTRACE_GET_SYSCALL_INFO, poster_child.pid, sizeof(info), &info) > 0);
	CHECK_EQ(info.op, PTRACE_SYSCALL_INFO_ENTRY);
	bool ended = info.entry.nr == SYS_sendto;

	child_kill(&target);
	pid_t follower = follow(target.pid, (void *)(uintptr_t)to.addr);

	CHECK_EQ(ptrace(PTRACE_CONT, poster_child.pid, NULL, NULL), 0);
	child_receive(poster_child.socket, &ready, 1);
	CHECK_EQ(waitpid(poster_child.pid, &status, 0), poster_child.pid);
	CHECK(WIFEXITED(status));
	close(poster_child.socket);
	if (follower < 0) {
		CHECK_EQ(errno, EPERM);
		step("SKIPPED: this process may not choose the numbers of processes");
		return false;
	}
	CHECK_EQ(kill(follower, SIGUSR1), 0);
	CHECK_EQ(waitpid(follower, &status, 0), follower);
	CHECK(WIFEXITED(status));
	CHECK_EQ(WEXITSTATUS(status), 0);
	return !ended;
}

static void number_of_before(bool again)
{
	sigset_t set;
	int calls = 1;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	CHECK_EQ(sigprocmask(SIG_BLOCK, &set, NULL), 0);
	step("a process has a dead peer's number: nothing is written into it, %s",
	    again ? "nor the second time" : "at first");
	while (raid(again, calls))
		calls++;
	step("the peer died before each of %d system calls", calls - 1);
	CHECK_EQ(sigprocmask(SIG_UNBLOCK, &set, NULL), 0);
}

/* --- a poll, while the helper thread is stopped: it does little of what waits --- */

#define LARGE (256u * 1024)

static int mover(void)
{
	struct endpoint e;
	struct address own, to;
	uint32_t length, completions = 0;
	struct ibv_wc wc;
	char go;

	endpoint_open(&e, MEMORY_MEMFD, LARGE, NULL);
	own = address_of(&e);
	child_send(3, &own, sizeof(own));
	child_receive(3, &to, sizeof(to));
	child_receive(3, &length, sizeof(length));
	qp_connect(e.qp, to.qpn);
	struct ibv_sge sge = sge_of(&e, 0, length);
	struct ibv_send_wr write = one_sided(IBV_WR_RDMA_WRITE, &sge, to, 0);

	post(e.qp, &write); /* its peer is not ready: it waits */
	child_send(3, "r", 1);
	child_receive(3, &go, 1);
	for (int i = 0; i < 1000; i++)
		completions += (uint32_t)ibv_poll_cq(e.cq, 1, &wc);
	child_send(3, &completions, sizeof(completions));
	child_receive(3, &go, 1);
	if (!completions)
		wc = poll_one(e.cq);
	CHECK_EQ(wc.status, IBV_WC_SUCCESS);
	endpoint_close(&e);
	return 0;
}

static pid_t helper_of(pid_t pid)
{
	char path[64], name[400] = "", comm[32] = "";

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	DIR *dir = opendir(path);

	CHECK(dir);
	while (strcmp(comm, "softverbs\n") != 0) {
		struct dirent *entry = readdir(dir);

		CHECK(entry);
		snprintf(name, sizeof(name), "%s/%s/comm", path, entry->d_name);
		FILE *file = fopen(name, "r");

		if (file && !fgets(comm, sizeof(comm), file))
			comm[0] = 0;
		if (file)
			fclose(file);
	}
	closedir(dir);
	return (pid_t)strtol(name + strlen(path) + 1, NULL, 10);
}

static void poll_alone(uint32_t length)
{
	struct endpoint e;
	struct address own, to;
	struct child c = child_start("mover");
	uint32_t completions;
	int status;
	char go = 'g';

	endpoint_open(&e, MEMORY_MEMFD, LARGE, NULL);
	own = address_of(&e);
	child_receive(c.socket, &to, sizeof(to));
	child_send(c.socket, &own, sizeof(own));
	child_send(c.socket, &length, sizeof(length));
	child_receive(c.socket, &go, 1);
	pid_t helper = helper_of(c.pid);

	CHECK_EQ(ptrace(PTRACE_SEIZE, helper, NULL, NULL), 0);
	CHECK_EQ(ptrace(PTRACE_INTERRUPT, helper, NULL, NULL), 0);
	CHECK_EQ(waitpid(helper, &status, __WALL), helper);
	qp_connect(e.qp, to.qpn);
	child_send(c.socket, &go, 1);
	child_receive(c.socket, &completions, sizeof(completions));
	CHECK_EQ(completions, 0);
	CHECK_EQ(ptrace(PTRACE_DETACH, helper, NULL, NULL), 0);
	child_send(c.socket, &go, 1);
	child_finish(&c);
	endpoint_close(&e);
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "mover") == 0)
		return mover();
	if (argc > 1 && strcmp(argv[1], "victim") == 0)
		return victim();
	if (argc > 1 && strncmp(argv[1], "raider", 6) == 0)
		return raider(strcmp(argv[1], "raider") != 0);
	if (argc > 1)
		return poster();
	struct footprint before = footprint_now();

	if (may_trace()) {
		peer_of_before();
		step("a large send that waited: a poll leaves it to the helper thread");
		poll_alone(LARGE);
		step("a send to a region that is not mapped: the same");
		poll_alone(8);
		number_of_before(false);
		number_of_before(true);
	}
	CHECK_EQ(footprint_now().fds, before.fds);
	CHECK_EQ(footprint_now().maps, before.maps);
	return 0;
}
