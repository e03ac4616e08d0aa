#include "test.h"
#include "../src/object/layout.h"

#include <dirent.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/un.h>

void fail(const char *file, int line, const char *what)
{
	fprintf(stderr, "%s:%d: [%d] not so: %s (errno: %s)\n", file, line, (int)getpid(), what, strerror(errno));
	_exit(1);
}

void fail_eq(const char *file, int line, const char *what, long long actual, long long expected)
{
	fprintf(stderr, "%s:%d: [%d] %s is %lld, not %lld (errno: %s)\n", file, line, (int)getpid(), what, actual, expected,
	    strerror(errno));
	_exit(1);
}

void step(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	printf("  ");
	vprintf(format, args);
	printf("\n");
	fflush(stdout);
	va_end(args);
}

/* Shows the stacks of this process and of its children, for which it waits; in a new process, and without malloc. */
static void show_stacks(void)
{
	static const char script[] = "command -v gdb >/dev/null || { echo 'no gdb here'; exit; }\n"
	                             "for p in $1 $(cat /proc/$1/task/*/children); do\n"
	                             "  [ $p = $$ ] || timeout 60 gdb -p $p -batch -ex 'thread apply all bt' 2>/dev/null\n"
	                             "done >&2";
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	pid_t shell = vfork();

	if (shell == 0) {
		execl("/bin/sh", "sh", "-c", script, "sh", pid, (char *)NULL);
		_exit(127);
	}
	waitpid(shell, NULL, 0);
}

static void hang(int signal)
{
	static const char text[] = "a hang; the stacks of this process and of its children:\n";

	(void)signal;
	if (write(2, text, sizeof(text) - 1) < 0) {
	}
	show_stacks();
	abort();
}

void overdue(const char *file, int line, const char *what)
{
	show_stacks();
	fail(file, line, what);
}

void watchdog(unsigned seconds)
{
	signal(SIGALRM, hang);
	alarm(seconds);
}

/*
 * Runs in every test and in every child of one. The time is less than the limit of ctest, whose message does not show
 * where the test hangs.
 */
__attribute__((constructor)) static void watch_this_program(void)
{
	watchdog(3 * PATIENCE_S);
}

uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

int soft_device;

struct ibv_context *open_soft(void)
{
	int count;
	struct ibv_device **list = ibv_get_device_list(&count);
	char name[16];

	CHECK(list && count > soft_device);
	snprintf(name, sizeof(name), "soft%d", soft_device);
	CHECK(strcmp(ibv_get_device_name(list[soft_device]), name) == 0);
	struct ibv_context *context = ibv_open_device(list[soft_device]);

	CHECK(context);
	ibv_free_device_list(list);
	return context;
}

void *memory_alloc(enum memory kind, size_t size, int *fd)
{
	void *at;

	*fd = -1;
	if (kind == MEMORY_MALLOC) {
		at = aligned_alloc(64, size);
		CHECK(at);
		memset(at, 0, size);
		return at;
	}
	*fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	CHECK(*fd >= 0);
	CHECK_EQ(ftruncate(*fd, (off_t)size), 0);
	if (kind == MEMORY_MEMFD)
		CHECK_EQ(fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	CHECK(at != MAP_FAILED);
	return at;
}

void memory_free(enum memory kind, void *at, size_t size, int fd)
{
	if (kind == MEMORY_MALLOC)
		free(at);
	else {
		munmap(at, size);
		close(fd);
	}
}

struct ibv_qp *qp_create(struct endpoint *e, const struct options *o)
{
	struct ibv_qp_init_attr init = {.send_cq = e->cq,
	    .recv_cq = e->cq,
	    .srq = o ? o->srq : NULL,
	    .cap = {.max_send_wr = o && o->send_wr ? o->send_wr : 64,
	        .max_recv_wr = o && o->recv_wr ? o->recv_wr : 64,
	        .max_send_sge = o && o->sge ? o->sge : 4,
	        .max_recv_sge = o && o->sge ? o->sge : 4,
	        .max_inline_data = o && o->inline_data ? o->inline_data : 64},
	    .qp_type = o && o->type ? o->type : IBV_QPT_RC,
	    .sq_sig_all = o && o->sig_all};
	struct ibv_qp *qp = ibv_create_qp(e->pd, &init);

	CHECK(qp);
	return qp;
}

void endpoint_open(struct endpoint *e, enum memory kind, size_t size, const struct options *o)
{
	memset(e, 0, sizeof(*e));
	e->context = open_soft();
	e->pd = ibv_alloc_pd(e->context);
	CHECK(e->pd);
	e->channel = ibv_create_comp_channel(e->context);
	CHECK(e->channel);
	e->cq = ibv_create_cq(e->context, o && o->cqe ? (int)o->cqe : 256, e, e->channel, 0);
	CHECK(e->cq);
	e->memory = kind;
	e->size = size;
	e->buffer = memory_alloc(kind, size, &e->memfd);
	e->mr = ibv_reg_mr(e->pd, e->buffer, size, ALL_ACCESS);
	CHECK(e->mr);
	e->qp = qp_create(e, o);
}

void endpoint_close(struct endpoint *e)
{
	if (e->qp)
		CHECK_EQ(ibv_destroy_qp(e->qp), 0);
	if (e->mr)
		CHECK_EQ(ibv_dereg_mr(e->mr), 0);
	memory_free(e->memory, e->buffer, e->size, e->memfd);
	CHECK_EQ(ibv_destroy_cq(e->cq), 0);
	CHECK_EQ(ibv_destroy_comp_channel(e->channel), 0);
	CHECK_EQ(ibv_dealloc_pd(e->pd), 0);
	CHECK_EQ(ibv_close_device(e->context), 0);
}

struct address address_of(const struct endpoint *e)
{
	return (struct address){e->qp->qp_num, e->mr->rkey, (uintptr_t)e->buffer};
}

void qp_to_init(struct ibv_qp *qp, unsigned access)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = access};

	CHECK_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS), 0);
}

int qp_try_rtr(struct ibv_qp *qp, uint32_t dest)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR,
	    .path_mtu = IBV_MTU_4096,
	    .dest_qp_num = dest,
	    .max_dest_rd_atomic = 16,
	    .min_rnr_timer = 1,
	    .ah_attr = {.dlid = 1, .port_num = 1}};

	return ibv_modify_qp(qp, &attr,
	    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
	        IBV_QP_MIN_RNR_TIMER);
}

void qp_to_rtr(struct ibv_qp *qp, uint32_t dest)
{
	CHECK_EQ(qp_try_rtr(qp, dest), 0);
}

void qp_to_rts(struct ibv_qp *qp, uint8_t timeout, uint8_t retries, uint8_t rnr_retries)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS,
	    .timeout = timeout,
	    .retry_cnt = retries,
	    .rnr_retry = rnr_retries,
	    .max_rd_atomic = 16};

	CHECK_EQ(ibv_modify_qp(qp, &attr,
	             IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
	                 IBV_QP_MAX_QP_RD_ATOMIC),
	    0);
}

void qp_connect(struct ibv_qp *qp, uint32_t dest)
{
	qp_to_init(qp, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
	qp_to_rtr(qp, dest);
	qp_to_rts(qp, 18, 7, 7); /* some seconds, if the peer is slow to get ready */
}

enum ibv_qp_state qp_state(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init;

	CHECK_EQ(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init), 0);
	return attr.qp_state;
}

struct ibv_wc poll_one(struct ibv_cq *cq)
{
	struct ibv_wc wc;
	uint64_t until = now_ns() + PATIENCE_NS;

	for (;;) {
		int n = ibv_poll_cq(cq, 1, &wc);

		CHECK(n >= 0);
		if (n == 1)
			return wc;
		if (now_ns() > until)
			overdue(__FILE__, __LINE__, "a completion comes in time");
		sched_yield();
	}
}

void poll_none(struct ibv_cq *cq, unsigned ms)
{
	struct ibv_wc wc;
	uint64_t until = now_ns() + ms * 1000000ull;

	do {
		CHECK_EQ(ibv_poll_cq(cq, 1, &wc), 0);
		usleep(100);
	} while (now_ns() < until);
}

struct ibv_sge sge_of(const struct endpoint *e, size_t offset, uint32_t length)
{
	return (struct ibv_sge){(uintptr_t)e->buffer + offset, length, e->mr->lkey};
}

struct ibv_send_wr one_sided(enum ibv_wr_opcode opcode, struct ibv_sge *sge, struct address to, uint64_t offset)
{
	return (struct ibv_send_wr){.wr_id = 1,
	    .sg_list = sge,
	    .num_sge = 1,
	    .opcode = opcode,
	    .send_flags = IBV_SEND_SIGNALED,
	    .wr.rdma = {.remote_addr = to.addr + offset, .rkey = to.rkey}};
}

struct ibv_send_wr atomic_wr(enum ibv_wr_opcode opcode, struct ibv_sge *sge, struct address to, uint64_t offset,
    uint64_t compare_add, uint64_t swap)
{
	return (struct ibv_send_wr){.wr_id = 1,
	    .sg_list = sge,
	    .num_sge = 1,
	    .opcode = opcode,
	    .send_flags = IBV_SEND_SIGNALED,
	    .wr.atomic = {.remote_addr = to.addr + offset, .rkey = to.rkey, .compare_add = compare_add, .swap = swap}};
}

void post(struct ibv_qp *qp, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad = NULL;

	CHECK_EQ(ibv_post_send(qp, wr, &bad), 0);
}

void post_and_expect(struct endpoint *e, struct ibv_send_wr *wr, enum ibv_wc_status status)
{
	post(e->qp, wr);
	struct ibv_wc wc = poll_one(e->cq);

	CHECK_EQ(wc.status, status);
	CHECK_EQ(wc.wr_id, wr->wr_id);
	CHECK_EQ(wc.qp_num, e->qp->qp_num);
}

void post_receive(struct endpoint *e, uint64_t wr_id, size_t offset, uint32_t length)
{
	struct ibv_sge sge = sge_of(e, offset, length);
	struct ibv_recv_wr wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1}, *bad;

	CHECK_EQ(ibv_post_recv(e->qp, &wr, &bad), 0);
}

void expect_event(struct ibv_context *context, enum ibv_event_type type)
{
	struct ibv_async_event event;
	struct pollfd p = {.fd = context->async_fd, .events = POLLIN};

	CHECK_EQ(poll(&p, 1, PATIENCE_S * 1000), 1);
	CHECK_EQ(ibv_get_async_event(context, &event), 0);
	CHECK_EQ(event.event_type, type);
	ibv_ack_async_event(&event);
}

struct child child_start(const char *argument)
{
	int sockets[2];

	/* a test that fails must neither hang nor leave its child behind */
	const struct timeval patience = {.tv_sec = PATIENCE_S};

	CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
	for (int i = 0; i < 2; i++)
		CHECK_EQ(setsockopt(sockets[i], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)), 0);
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (dup2(sockets[1], 3) == 3) {
			fcntl(3, F_SETFD, 0);
			execl("/proc/self/exe", "child", argument, (char *)NULL);
		}
		_exit(127);
	}
	close(sockets[1]);
	return (struct child){pid, sockets[0]};
}

void child_send(int socket, const void *data, size_t bytes)
{
	CHECK_EQ(send(socket, data, bytes, MSG_NOSIGNAL), bytes);
}

void child_receive(int socket, void *data, size_t bytes)
{
	ssize_t n;

	/* with a timeout a receive does not resume by itself after the process was stopped */
	do
		n = recv(socket, data, bytes, MSG_WAITALL);
	while (n < 0 && errno == EINTR);
	CHECK_EQ(n, bytes);
}

void child_finish(struct child *c)
{
	int status;

	close(c->socket);
	CHECK_EQ(waitpid(c->pid, &status, 0), c->pid);
	CHECK(WIFEXITED(status));
	CHECK_EQ(WEXITSTATUS(status), 0);
}

void child_kill(struct child *c)
{
	kill(c->pid, SIGKILL);
	CHECK_EQ(waitpid(c->pid, NULL, 0), c->pid);
	close(c->socket);
}

void child_stop_inside(const struct child *c, bool (*in_it)(const void *of), const void *of)
{
	uint64_t until = now_ns() + PATIENCE_NS;
	int status;

	for (unsigned round = 0;; round++) {
		CHECK_EQ(kill(c->pid, SIGSTOP), 0);
		CHECK_EQ(waitpid(c->pid, &status, WUNTRACED), c->pid);
		CHECK(WIFSTOPPED(status));
		if (in_it(of))
			return;
		CHECK_EQ(kill(c->pid, SIGCONT), 0);
		if (now_ns() > until)
			overdue(__FILE__, __LINE__, "the peer is caught in the middle of a copy");
		usleep(100 + round * 37 % 1000);
	}
}

static int count_entries(const char *path)
{
	DIR *dir = opendir(path);
	int n = 0;

	CHECK(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* The number of our threads: a sanitizer has some of its own. */
static int count_threads(void)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *entry;
	char path[300], name[32] = "";
	int n = 0;

	CHECK(dir);
	while ((entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", entry->d_name);
		FILE *comm = fopen(path, "r");

		if (comm && fgets(name, sizeof(name), comm) && strcmp(name, "softverbs\n") == 0)
			n++;
		if (comm)
			fclose(comm);
	}
	closedir(dir);
	return n;
}

struct footprint footprint_now(void)
{
	struct footprint f = {count_entries("/proc/self/fd"), 0, count_threads()};
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];

	CHECK(maps);
	/* the allocator keeps mappings of its own: count those of files, which are what we make */
	while (fgets(line, sizeof(line), maps))
		if (strstr(line, "memfd:"))
			f.maps++;
	fclose(maps);
	return f;
}

struct footprint footprint_after(const struct footprint *before)
{
	uint64_t until = now_ns() + PATIENCE_NS;

	/* for threads alone: all else must be gone when the calls return */
	while (count_threads() > before->threads && now_ns() < until)
		usleep(1000);
	return footprint_now();
}

struct sv_segment *own_segment(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];
	unsigned long start = 0, end = 0;

	CHECK(maps);
	while (fgets(line, sizeof(line), maps))
		if (strstr(line, "/memfd:softverbs-") && sscanf(line, "%lx-%lx", &start, &end) == 2) {
			struct sv_segment *segment = (struct sv_segment *)start;

			/* a peer's is mapped too; ours names a pipe of ours */
			char path[64], name[64] = "", expected[64];

			snprintf(path, sizeof(path), "/proc/self/fd/%u", segment->header.wake_fd);
			snprintf(expected, sizeof(expected), "pipe:[%lu]", (unsigned long)segment->header.wake_ino);
			if (readlink(path, name, sizeof(name) - 1) > 0 && strcmp(name, expected) == 0) {
				fclose(maps);
				return segment;
			}
		}
	fail(__FILE__, __LINE__, "our control segment is mapped");
}

struct sv_qp_entry *entry_of_peer(const struct sv_qp_entry *own)
{
	uint32_t qpn = atomic_load(&own->dest_qpn);
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512], name[64];
	unsigned long start = 0, end = 0;

	CHECK(maps);
	snprintf(name, sizeof(name), "/memfd:softverbs-%u ", qpn >> 12);
	while (fgets(line, sizeof(line), maps))
		if (strstr(line, name) && sscanf(line, "%lx-%lx", &start, &end) == 2) {
			fclose(maps);
			return &((struct sv_segment *)start)->qps[qpn & (SV_QPS - 1)];
		}
	fail(__FILE__, __LINE__, "the peer's control segment is mapped");
}

/* A socket that is connected to that slot's, or -1 with errno. */
static int call_slot(uint32_t slot)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	int n = snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1, "softverbs/%u/%u", geteuid(), slot);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	CHECK(fd >= 0);
	if (connect(fd, (struct sockaddr *)&name, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n))) {
		int error = errno;

		close(fd);
		errno = error;
		return -1;
	}
	return fd;
}

/* 0 or errno. */
static int call(uint32_t qpn)
{
	int fd = call_slot(qpn / SV_QPS);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

void callers_queue(uint32_t qpn)
{
	int error;

	while ((error = call(qpn)) == 0)
		;
	CHECK_EQ(error, EAGAIN);
}

void callers_taken(uint32_t qpn)
{
	uint64_t until = now_ns() + PATIENCE_NS;
	int error;

	while ((error = call(qpn)) == EAGAIN)
		if (now_ns() > until)
			overdue(__FILE__, __LINE__, "a process takes its callers");
	CHECK_EQ(error, 0);
}

void callers_dismissed(void)
{
	struct pollfd hang_up;

	if (!footprint_now().threads)
		return;
	hang_up.fd = call_slot(own_segment()->header.slot);
	hang_up.events = 0;
	CHECK(hang_up.fd >= 0);
	if (poll(&hang_up, 1, (int)(PATIENCE_NS / 1000000)) != 1)
		overdue(__FILE__, __LINE__, "the helper dismisses its callers");
	close(hang_up.fd);
}
