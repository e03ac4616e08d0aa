/*
 * Another user takes socket names by which processes are found, and accepts connections or does not. Needs root, since
 * only root can act as another user; every name is taken in a network namespace that has no other device.
 */
#include "../src/object/layout.h"
#include "test.h"

#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/un.h>

#define NOBODY 65534

#define TAKES "with room for callers"
#define FULL "with no room for callers"

/* Takes the names of these slots of root. */
static pid_t take(uid_t user, int type, uint32_t first, uint32_t last)
{
	int ready[2];
	char go = 'g';

	CHECK_EQ(pipe2(ready, O_CLOEXEC), 0);
	pid_t taker = fork();

	CHECK(taker >= 0);
	if (taker == 0) {
		/* a test that fails leaves no process */
		if (setresuid(user, user, user) || prctl(PR_SET_PDEATHSIG, SIGKILL))
			_exit(1);
		for (uint32_t slot = first; slot <= last; slot++) {
			struct sockaddr_un name = {.sun_family = AF_UNIX};
			int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
			int n = snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1, "softverbs/0/%u", slot);

			if (bind(fd, (struct sockaddr *)&name,
			        (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n)) ||
			    listen(fd, 1))
				_exit(1);
		}
		if (write(ready[1], &go, 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	close(ready[1]);
	CHECK_EQ(read(ready[0], &go, 1), 1);
	close(ready[0]);
	return taker;
}

static pid_t squat(uint32_t first, uint32_t last)
{
	return take(NOBODY, SOCK_STREAM, first, last);
}

static void end(pid_t squatter)
{
	CHECK_EQ(kill(squatter, SIGKILL), 0);
	CHECK_EQ(waitpid(squatter, NULL, 0), squatter);
}

/* Reports the name by which it would hold a lock. */
static int holder(void)
{
	struct endpoint e;

	endpoint_open(&e, MEMORY_MALLOC, 4096, NULL);
	const struct sv_header *header = &own_segment()->header;
	uint64_t name = header->nonce << 12 | header->slot | 1ull << 63;

	child_send(3, &name, sizeof(name));
	pause();
	return 1;
}

/* Captures the output to the standard error stream between these two calls. */
struct heard {
	int standard, says;
};

static struct heard hear(void)
{
	int says[2], standard = dup(2);

	CHECK(standard >= 0);
	CHECK_EQ(pipe2(says, O_CLOEXEC), 0);
	CHECK_EQ(dup2(says[1], 2), 2);
	close(says[1]);
	return (struct heard){standard, says[0]};
}

static void heard(struct heard h, char *said, size_t bytes)
{
	CHECK_EQ(dup2(h.standard, 2), 2);
	close(h.standard);
	ssize_t n = read(h.says, said, bytes - 1);

	close(h.says);
	said[n < 0 ? 0 : n] = 0;
}

/* A write to a QP of this slot ends with an error, however long its retries last. */
static void send_to(struct endpoint *e, uint32_t slot)
{
	struct ibv_qp *qp = qp_create(e, NULL);
	struct ibv_sge sge = sge_of(e, 0, 8);
	struct ibv_send_wr write = one_sided(IBV_WR_RDMA_WRITE, &sge, address_of(e), 0);

	qp_to_init(qp, ALL_ACCESS);
	qp_to_rtr(qp, slot << 12 | 1);
	qp_to_rts(qp, 0, 7, 7);
	post(qp, &write);
	CHECK_EQ(poll_one(e->cq).status, IBV_WC_RETRY_EXC_ERR);
	CHECK_EQ(ibv_destroy_qp(qp), 0);
}

static int orphan(bool full)
{
	struct endpoint e;
	struct child c = child_start("holder");
	uint64_t name;
	char said[1024], taken[64];

	child_receive(c.socket, &name, sizeof(name));
	child_kill(&c);
	uint32_t slot = name & (SV_SLOTS - 1);
	pid_t squatter = squat(slot, slot);

	if (full)
		callers_queue(slot << 12);
	snprintf(taken, sizeof(taken), "softverbs/0/%u is taken by user %u", slot, NOBODY);
	endpoint_open(&e, MEMORY_MALLOC, 4096, NULL);
	qp_connect(e.qp, e.qp->qp_num);
	struct ibv_sge sge = sge_of(&e, 0, 8);
	struct ibv_send_wr add = atomic_wr(IBV_WR_ATOMIC_FETCH_AND_ADD, &sge, address_of(&e), 64, 3, 0);

	struct heard h = hear();

	atomic_store(&own_segment()->header.atomic_lock, name);
	post_and_expect(&e, &add, IBV_WC_SUCCESS);
	send_to(&e, slot);
	heard(h, said, sizeof(said));
	CHECK_EQ(*(uint64_t *)(e.buffer + 64), 3);
	CHECK(strstr(said, taken));
	endpoint_close(&e);
	end(squatter);
	return 0;
}

static void slot_of_the_dead(const char *kind)
{
	step("another user has the slot of a process that was killed and held a lock, %s: the lock is taken from it, "
	     "sends to it end, and a line says so",
	    kind);
	struct child c = child_start(kind);

	child_finish(&c);
}

/*
 * The kernel lists sockets in an order of its own: among so many names, that of the living process is hardly last each
 * time.
 */
#define LIVING 24u
#define HELD_US 50000

struct held {
	_Atomic uint64_t *lock;
	uint64_t by;
	bool kept;
};

static void *let_go(void *of)
{
	struct held *held = of;

	usleep(HELD_US);
	held->kept = atomic_load(held->lock) == held->by;
	atomic_store(held->lock, 0);
	return NULL;
}

static int beside(void)
{
	struct endpoint e;
	char said[1024];
	uint32_t kept = 0;

	CHECK_EQ(unshare(CLONE_NEWNET), 0);
	pid_t living = take(0, SOCK_STREAM, 1, LIVING), squatter = take(NOBODY, SOCK_SEQPACKET, 1, LIVING);

	endpoint_open(&e, MEMORY_MALLOC, 4096, NULL);
	qp_connect(e.qp, e.qp->qp_num);
	struct heard h = hear();

	for (uint32_t slot = 1; slot <= LIVING; slot++) {
		struct ibv_sge sge = sge_of(&e, 0, 8);
		struct ibv_send_wr add = atomic_wr(IBV_WR_ATOMIC_FETCH_AND_ADD, &sge, address_of(&e), 64, 1, 0);
		struct held held = {&own_segment()->header.atomic_lock, (uint64_t)slot | 1ull << 63, false};
		pthread_t thread;

		callers_queue(slot << 12);
		atomic_store(held.lock, held.by);
		CHECK_EQ(pthread_create(&thread, NULL, let_go, &held), 0);
		post_and_expect(&e, &add, IBV_WC_SUCCESS);
		CHECK_EQ(pthread_join(thread, NULL), 0);
		kept += held.kept;
	}
	fprintf(stderr, "heard\n"); /* there is something to read */
	heard(h, said, sizeof(said));
	CHECK_EQ(kept, LIVING);
	CHECK_EQ(*(uint64_t *)(e.buffer + 64), LIVING);
	CHECK_EQ(strcmp(said, "heard\n"), 0);
	endpoint_close(&e);
	end(squatter);
	end(living);
	return 0;
}

static void names_of_another_type(void)
{
	step("another user has the name of a living process that takes no callers, for sockets of another type: the lock "
	     "that it holds stays its own");
	struct child c = child_start("beside");

	child_finish(&c);
}

/* The message of an open while every name is taken. */
static void refused(char *said, size_t bytes)
{
	int count;
	struct ibv_device **devices = ibv_get_device_list(&count);

	CHECK(devices && count > 0);
	struct heard h = hear();
	struct ibv_context *context = ibv_open_device(devices[0]);
	int error = errno;

	heard(h, said, bytes);
	CHECK(!context);
	CHECK_EQ(error, EADDRINUSE);
	ibv_free_device_list(devices);
}

static int denied(void)
{
	struct rlimit limit = {2 * SV_SLOTS, 2 * SV_SLOTS};
	struct endpoint e;
	char said[1024];

	CHECK_EQ(unshare(CLONE_NEWNET), 0);
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
	pid_t most = squat(2, SV_SLOTS - 1);

	endpoint_open(&e, MEMORY_MALLOC, 4096, NULL);
	CHECK_EQ(own_segment()->header.slot, 1);
	endpoint_close(&e);
	pid_t rest = squat(1, 1);

	refused(said, sizeof(said));
	CHECK(
	    strstr(said, "all 4095 names of sockets, softverbs/0/1 and so on, are taken, 4095 of them not by this user's"));
	end(rest);
	endpoint_open(&e, MEMORY_MALLOC, 4096, NULL);
	endpoint_close(&e);
	end(most);
	return 0;
}

static void names_that_are_all_taken(void)
{
	step("another user has every name but one, which serves, and then every name, which is said");
	struct child c = child_start("denied");

	child_finish(&c);
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "holder") == 0)
		return holder();
	if (argc > 1 && strcmp(argv[1], "beside") == 0)
		return beside();
	if (argc > 1)
		return strcmp(argv[1], "denied") == 0 ? denied() : orphan(strcmp(argv[1], FULL) == 0);
	if (geteuid() != 0) {
		step("left out: only root can be another user");
		return 0;
	}
	slot_of_the_dead(TAKES);
	slot_of_the_dead(FULL);
	names_of_another_type();
	names_that_are_all_taken();
	return 0;
}
