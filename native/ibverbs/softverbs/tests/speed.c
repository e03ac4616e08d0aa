/*
 * The cost of an operation, beside the cost of its parts: a plain checked store, memcpy. All of one comparison runs in
 * one process, interleaved, between populated mappings; medians of many rounds. Not a test: `speed [ROUNDS]`.
 */
#include "test.h"
#include "../../shim/verbs_shim.h"

#include <math.h>

#define REGION (1ul << 30)
#define MAX_ROUNDS 101

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *values, int n)
{
	qsort(values, (size_t)n, sizeof(*values), by_value);
	return values[n / 2];
}

/* The plain checked store: bounds and a generation, then 8 bytes. */
struct checked {
	uint8_t *base;
	uint64_t length;
	_Atomic uint32_t generation;
};

static __attribute__((noinline)) int checked_store(struct checked *c, uint64_t at, uint64_t value, uint32_t generation)
{
	if (at > c->length - 8 || __atomic_load_n((uint32_t *)&c->generation, __ATOMIC_ACQUIRE) != generation)
		return -1;
	*(volatile uint64_t *)(c->base + at) = value;
	return 0;
}

static struct endpoint e;
static struct address to;
static uint8_t *mapped; /* the peer's region, for the plain store and memcpy */

static double time_store(int n)
{
	struct checked c = {mapped, REGION, 1};
	uint64_t start = now_ns();

	for (int i = 0; i < n; i++)
		checked_store(&c, (uint64_t)(i & 511) * 8, (uint64_t)i, 1);
	return (double)(now_ns() - start) / n;
}

static double time_single(int n, enum ibv_wr_opcode opcode, uint32_t bytes, unsigned flags)
{
	struct ibv_sge sge = sge_of(&e, 0, bytes);
	struct ibv_send_wr wr = one_sided(opcode, &sge, to, 0), *bad;
	struct ibv_wc wc;

	wr.send_flags = IBV_SEND_SIGNALED | flags;
	uint64_t start = now_ns();

	for (int i = 0; i < n; i++) {
		wr.wr.rdma.remote_addr = to.addr + (uint64_t)(i & 511) * 8;
		if (ibv_post_send(e.qp, &wr, &bad) || ibv_poll_cq(e.cq, 1, &wc) != 1 || wc.status)
			fail(__FILE__, __LINE__, "an operation completes at once");
	}
	return (double)(now_ns() - start) / n;
}

/* As Java calls it: filled in from arguments, behind a pointer. */
static double time_one_call(int n, enum ibv_wr_opcode opcode, uint32_t bytes)
{
	static struct ibv_wc wc __attribute__((aligned(64)));
	void *one = farheap_one_operation_create(e.qp, e.cq, (uintptr_t)&wc, 7, 64, 100);
	int (*volatile run)(void *, uint64_t, uint64_t, uint64_t, uint64_t) =
	    (void *)(uintptr_t)farheap_one_operation_address();
	struct ibv_sge sge = sge_of(&e, 0, bytes);
	uint64_t start = now_ns();

	for (int i = 0; i < n; i++)
		if (run(one, sge.addr, to.addr + (uint64_t)(i & 511) * 8, (uint64_t)sge.lkey << 32 | bytes,
		        to.rkey | (uint64_t)(opcode == IBV_WR_RDMA_WRITE) << 32))
			fail(__FILE__, __LINE__, "an operation completes at once");
	double each = (double)(now_ns() - start) / n;

	farheap_one_operation_free(one);
	return each;
}

static double time_list(int n, enum ibv_wr_opcode opcode, uint32_t bytes, unsigned flags)
{
	struct ibv_sge sge = sge_of(&e, 0, bytes);
	struct ibv_send_wr wr[16], *bad;
	struct ibv_wc wc;

	for (int i = 0; i < 16; i++) {
		wr[i] = one_sided(opcode, &sge, to, 8 * (unsigned)i);
		wr[i].send_flags = flags | (i == 15 ? IBV_SEND_SIGNALED : 0);
		wr[i].next = i < 15 ? &wr[i + 1] : NULL;
	}
	uint64_t start = now_ns();

	int lists = n / 16;

	for (int i = 0; i < lists; i++) {
		wr[i & 15].wr.rdma.remote_addr = to.addr + (uint64_t)(i & 511) * 8;
		if (ibv_post_send(e.qp, wr, &bad) || ibv_poll_cq(e.cq, 1, &wc) != 1 || wc.status)
			fail(__FILE__, __LINE__, "an operation completes at once");
	}
	return (double)(now_ns() - start) / (16.0 * lists);
}

static double gib_per_s(uint64_t bytes, uint64_t ns)
{
	return (double)bytes / (1 << 30) / ((double)ns / 1e9);
}

/* Copies over the whole region in pieces; 0: memcpy in one piece. */
static double time_copy(size_t total, size_t piece, int verbs, enum ibv_wr_opcode opcode)
{
	struct ibv_wc wc;
	struct ibv_send_wr *bad;
	uint64_t start = now_ns();

	if (!verbs) {
		for (size_t at = 0; at < total; at += piece) {
			if (opcode == IBV_WR_RDMA_WRITE)
				memcpy(mapped + at, e.buffer + at, piece);
			else
				memcpy(e.buffer + at, mapped + at, piece);
			__asm__ volatile("" ::: "memory");
		}
	} else {
		for (size_t at = 0; at < total; at += piece) {
			struct ibv_sge sge = sge_of(&e, at, (uint32_t)piece);
			struct ibv_send_wr wr = one_sided(opcode, &sge, to, at);

			if (ibv_post_send(e.qp, &wr, &bad) || ibv_poll_cq(e.cq, 1, &wc) != 1 || wc.status)
				fail(__FILE__, __LINE__, "an operation completes at once");
		}
	}
	return gib_per_s(total, now_ns() - start);
}

static int passive(void)
{
	struct endpoint p;
	struct address own, other;

	endpoint_open(&p, MEMORY_MEMFD, REGION, NULL);
	memset(p.buffer, 1, REGION);
	own = address_of(&p);
	child_send(3, &own, sizeof(own));
	child_send(3, &p.memfd, sizeof(int));
	child_receive(3, &other, sizeof(other));
	qp_connect(p.qp, other.qpn);
	char go = 'g';

	child_send(3, &go, 1);
	child_receive(3, &go, 1);
	endpoint_close(&p);
	return 0;
}

enum way { SINGLE, LIST, ONE_CALL };

struct row {
	const char *name;
	enum way way;
	enum ibv_wr_opcode opcode;
	uint32_t bytes;
	unsigned flags;
};

static void small_operations(int rounds)
{
	static const struct row rows[] = {
	    {"WRITE inline, post + poll", SINGLE, IBV_WR_RDMA_WRITE, 8, IBV_SEND_INLINE},
	    {"WRITE, post + poll", SINGLE, IBV_WR_RDMA_WRITE, 8, 0},
	    {"READ, post + poll", SINGLE, IBV_WR_RDMA_READ, 8, 0},
	    {"WRITE inline, one call", ONE_CALL, IBV_WR_RDMA_WRITE, 8, 0},
	    {"READ, one call", ONE_CALL, IBV_WR_RDMA_READ, 8, 0},
	    {"WRITE inline, per WR in a list of 16", LIST, IBV_WR_RDMA_WRITE, 8, IBV_SEND_INLINE},
	    {"READ, per WR in a list of 16", LIST, IBV_WR_RDMA_READ, 8, 0},
	    {"WRITE 64 B, post + poll", SINGLE, IBV_WR_RDMA_WRITE, 64, 0},
	    {"READ 64 B, post + poll", SINGLE, IBV_WR_RDMA_READ, 64, 0},
	    {"WRITE 4 KiB, post + poll", SINGLE, IBV_WR_RDMA_WRITE, 4096, 0},
	    {"READ 4 KiB, post + poll", SINGLE, IBV_WR_RDMA_READ, 4096, 0},
	};
	enum { ROWS = sizeof(rows) / sizeof(rows[0]) };
	static double ns[ROWS + 1][MAX_ROUNDS], ratio[ROWS][MAX_ROUNDS];

	for (int r = 0; r < rounds; r++) {
		double store = ns[ROWS][r] = time_store(200000);

		for (int i = 0; i < ROWS; i++) {
			const struct row *row = &rows[i];

			ns[i][r] = row->way == LIST       ? time_list(50000, row->opcode, row->bytes, row->flags)
			           : row->way == ONE_CALL ? time_one_call(50000, row->opcode, row->bytes)
			                                  : time_single(50000, row->opcode, row->bytes, row->flags);
			ratio[i][r] = ns[i][r] / store;
		}
	}
	printf("%-40s %8.1f ns\n", "a plain checked 8-byte store", median(ns[ROWS], rounds));
	for (int i = 0; i < ROWS; i++)
		printf("%-40s %8.1f ns  %5.1fx\n", rows[i].name, median(ns[i], rounds), median(ratio[i], rounds));
}

static void large_copies(int rounds, size_t total, size_t piece, size_t memcpy_piece, const char *name)
{
	static double verbs[2][MAX_ROUNDS], plain[2][MAX_ROUNDS], ratio[2][MAX_ROUNDS];

	for (int r = 0; r < rounds; r++) {
		for (int o = 0; o < 2; o++) {
			enum ibv_wr_opcode opcode = o ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE;
			int repeat = total < REGION ? 64 : 1;

			plain[o][r] = verbs[o][r] = 0;
			for (int i = 0; i < repeat; i++) {
				plain[o][r] += time_copy(total, memcpy_piece, 0, opcode) / repeat;
				verbs[o][r] += time_copy(total, piece, 1, opcode) / repeat;
			}
			ratio[o][r] = verbs[o][r] / plain[o][r];
		}
	}
	for (int o = 0; o < 2; o++)
		printf("%-5s %-34s %8.1f GiB/s  memcpy %6.1f  ratio %.2f\n", o ? "READ" : "WRITE", name,
		    median(verbs[o], rounds), median(plain[o], rounds), median(ratio[o], rounds));
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "passive") == 0)
		return passive();
	int rounds = argc > 1 ? atoi(argv[1]) : 21;
	struct address own;
	struct child c = child_start("passive");
	char go, path[64];
	int memfd;

	if (rounds < 1 || rounds > MAX_ROUNDS)
		rounds = 21;
	endpoint_open(&e, MEMORY_MEMFD, REGION, NULL);
	memset(e.buffer, 2, REGION);
	own = address_of(&e);
	child_receive(c.socket, &to, sizeof(to));
	child_receive(c.socket, &memfd, sizeof(memfd));
	child_send(c.socket, &own, sizeof(own));
	qp_connect(e.qp, to.qpn);
	child_receive(c.socket, &go, 1);
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)c.pid, memfd);
	int fd = open(path, O_RDWR | O_CLOEXEC);

	mapped = mmap(NULL, REGION, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
	CHECK(mapped != MAP_FAILED);
	small_operations(rounds);
	large_copies(rounds, 1 << 20, 1 << 20, 1 << 20, "1 MiB, hot");
	large_copies(rounds < 5 ? rounds : 5, REGION, 1 << 20, REGION, "1 GiB in pieces of 1 MiB");
	child_send(c.socket, "x", 1);
	child_finish(&c);
	munmap(mapped, REGION);
	close(fd);
	endpoint_close(&e);
	return 0;
}
