/* Two processes: every operation on every kind of memory, from the far side of a process boundary. */
#include "test.h"

#define SIZE (8u << 20)

static void fill(uint8_t *at, size_t bytes, unsigned seed)
{
	for (size_t i = 0; i < bytes; i++)
		at[i] = (uint8_t)(seed + i * 7 + (i >> 8));
}

/* The passive side: offers memory, echoes messages. */
static int passive(enum memory kind)
{
	struct endpoint e;
	struct address other, own;

	endpoint_open(&e, kind, SIZE, NULL);
	own = address_of(&e);
	child_send(3, &own, sizeof(own));
	child_receive(3, &other, sizeof(other));
	qp_connect(e.qp, other.qpn);
	for (unsigned i = 0; i < 32; i++)
		post_receive(&e, i, SIZE / 2 + i * 4096, 4096);
	char go = 'g';

	child_send(3, &go, 1);
	for (unsigned i = 0; i < 32; i++) {
		struct ibv_wc wc = poll_one(e.cq);

		CHECK_EQ(wc.status, IBV_WC_SUCCESS);
		CHECK_EQ(wc.wr_id, i);
		if (wc.opcode == IBV_WC_RECV) {
			uint8_t expected[4096];

			fill(expected, wc.byte_len, i);
			CHECK(memcmp(expected, e.buffer + SIZE / 2 + i * 4096, wc.byte_len) == 0);
		}
		CHECK_EQ(wc.imm_data, (wc.wc_flags & IBV_WC_WITH_IMM) ? i : 0);
	}
	child_receive(3, &go, 1); /* until the other side is done with our memory */
	CHECK_EQ(ibv_dereg_mr(e.mr), 0);
	e.mr = NULL;
	child_send(3, &go, 1);
	child_receive(3, &go, 1);
	uint64_t counter = *(uint64_t *)(e.buffer + 64);

	CHECK_EQ(counter, 1000 * 3 + 1);
	endpoint_close(&e);
	return 0;
}

static void copies(struct endpoint *e, struct address to)
{
	static const size_t sizes[] = {
	    1, 2, 3, 4, 7, 8, 9, 15, 16, 31, 63, 64, 65, 100, 1000, 4095, 4096, 4097, 65536, 262144, 1048576, 3000001};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (size_t shift = 0; shift < 10; shift += 3) {
			size_t n = sizes[i];
			struct ibv_sge sge = sge_of(e, shift, (uint32_t)n);
			struct ibv_send_wr wr = one_sided(IBV_WR_RDMA_WRITE, &sge, to, 4096 + 2 * shift);

			fill(e->buffer + shift, n, (unsigned)(i + shift));
			post_and_expect(e, &wr, IBV_WC_SUCCESS);
			sge = sge_of(e, SIZE / 2 + shift, (uint32_t)n);
			wr = one_sided(IBV_WR_RDMA_READ, &sge, to, 4096 + 2 * shift);
			memset(e->buffer + SIZE / 2, 0, n + 32);
			post_and_expect(e, &wr, IBV_WC_SUCCESS);
			CHECK(memcmp(e->buffer + shift, e->buffer + SIZE / 2 + shift, n) == 0);
			CHECK_EQ(e->buffer[SIZE / 2 + shift + n], 0);
		}
	}
}

static void atomics(struct endpoint *e, struct address to)
{
	struct ibv_sge sge = sge_of(e, 0, 8);
	uint64_t *old = (uint64_t *)e->buffer;

	for (uint64_t i = 0; i < 1000; i++) {
		struct ibv_send_wr wr = atomic_wr(IBV_WR_ATOMIC_FETCH_AND_ADD, &sge, to, 64, 3, 0);

		post_and_expect(e, &wr, IBV_WC_SUCCESS);
		CHECK_EQ(*old, i * 3);
	}
	struct ibv_send_wr wr = atomic_wr(IBV_WR_ATOMIC_CMP_AND_SWP, &sge, to, 64, 3000, 3001);

	post_and_expect(e, &wr, IBV_WC_SUCCESS);
	CHECK_EQ(*old, 3000);
}

static void messages(struct endpoint *e, struct address to)
{
	for (unsigned i = 0; i < 32; i++) {
		uint32_t n = 1 + i * 130;
		struct ibv_sge sge[2] = {sge_of(e, 0, n / 2), sge_of(e, n / 2, n - n / 2)};
		struct ibv_send_wr wr = {.wr_id = i,
		    .sg_list = sge,
		    .num_sge = 2,
		    .opcode = i % 3 == 0 ? IBV_WR_SEND : IBV_WR_SEND_WITH_IMM,
		    .send_flags = IBV_SEND_SIGNALED,
		    .imm_data = i};

		if (i % 3 == 2) {
			wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
			wr.wr.rdma.remote_addr = to.addr + 8192;
			wr.wr.rdma.rkey = to.rkey;
		}
		fill(e->buffer, n, i);
		post_and_expect(e, &wr, IBV_WC_SUCCESS);
	}
}

static void run(enum memory kind, const char *name)
{
	struct endpoint e;
	struct address own, to;
	struct child c = child_start(name);
	char go;

	endpoint_open(&e, kind, SIZE, NULL);
	own = address_of(&e);
	child_receive(c.socket, &to, sizeof(to));
	child_send(c.socket, &own, sizeof(own));
	qp_connect(e.qp, to.qpn);
	child_receive(c.socket, &go, 1);
	step("%s: writes and reads of many sizes and alignments", name);
	copies(&e, to);
	step("%s: atomics", name);
	atomics(&e, to);
	step("%s: messages", name);
	messages(&e, to);
	struct footprint before = footprint_now();

	child_send(c.socket, &go, 1);
	child_receive(c.socket, &go, 1);
	if (kind == MEMORY_MEMFD) {
		step("%s: a region that its owner deregistered is mapped here no more", name);
		uint64_t until = now_ns() + PATIENCE_NS;

		while (footprint_now().maps != before.maps - 1 && now_ns() < until)
			usleep(1000);
		CHECK_EQ(footprint_now().maps, before.maps - 1);
	}
	child_send(c.socket, &go, 1);
	child_finish(&c);
	endpoint_close(&e);
}

/* --- regions that begin and end within huge pages --- */

#define HUGE_FILE (4u << 20)
#define REGION (1u << 20)

/* MAP_FAILED: this machine has no huge pages to spare. */
static uint8_t *huge_alloc(int *fd)
{
	*fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB);
	if (*fd < 0)
		return MAP_FAILED;
	uint8_t *at = MAP_FAILED;

	if (ftruncate(*fd, HUGE_FILE) == 0 && fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK) == 0)
		at = mmap(NULL, HUGE_FILE, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	if (at == MAP_FAILED)
		close(*fd);
	return at;
}

static int huge_owner(void)
{
	struct endpoint e;
	struct address own, other;
	int fd;
	char go;

	endpoint_open(&e, MEMORY_MALLOC, 4096, NULL);
	uint8_t *at = huge_alloc(&fd);

	CHECK(at != MAP_FAILED);
	struct ibv_mr *mr = ibv_reg_mr(e.pd, at + REGION, REGION, ALL_ACCESS);

	CHECK(mr);
	own = (struct address){e.qp->qp_num, mr->rkey, (uintptr_t)at + REGION};
	child_send(3, &own, sizeof(own));
	child_receive(3, &other, sizeof(other));
	qp_connect(e.qp, other.qpn);
	child_send(3, "g", 1);
	child_receive(3, &go, 1);
	CHECK_EQ(*(uint64_t *)(at + REGION), 77);
	CHECK_EQ(*(uint64_t *)(at + 2u * REGION - 8), 78);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	child_send(3, "g", 1);
	child_receive(3, &go, 1);
	munmap(at, HUGE_FILE);
	close(fd);
	endpoint_close(&e);
	return 0;
}

static void huge_pages(void)
{
	struct endpoint e;
	struct address own, to;
	int fd;
	char go;
	uint8_t *at = huge_alloc(&fd);

	if (at == MAP_FAILED) {
		step("a region within huge pages: SKIPPED, there are none (sysctl vm.nr_hugepages=4 makes some)");
		return;
	}
	munmap(at, HUGE_FILE);
	close(fd);
	step("a region that begins and ends within huge pages: reached, and unmapped with its end");
	struct child c = child_start("huge");

	endpoint_open(&e, MEMORY_MALLOC, 4096, NULL);
	own = address_of(&e);
	child_receive(c.socket, &to, sizeof(to));
	child_send(c.socket, &own, sizeof(own));
	qp_connect(e.qp, to.qpn);
	child_receive(c.socket, &go, 1);
	struct footprint before = footprint_now();
	struct ibv_sge sge = sge_of(&e, 0, 8);
	struct ibv_send_wr first = one_sided(IBV_WR_RDMA_WRITE, &sge, to, 0);
	struct ibv_send_wr last = one_sided(IBV_WR_RDMA_WRITE, &sge, to, REGION - 8);

	*(uint64_t *)e.buffer = 77;
	post_and_expect(&e, &first, IBV_WC_SUCCESS);
	*(uint64_t *)e.buffer = 78;
	post_and_expect(&e, &last, IBV_WC_SUCCESS);
	CHECK_EQ(footprint_now().maps, before.maps + 1);
	child_send(c.socket, &go, 1);
	child_receive(c.socket, &go, 1);
	uint64_t until = now_ns() + PATIENCE_NS;

	while (footprint_now().maps != before.maps && now_ns() < until)
		usleep(1000);
	CHECK_EQ(footprint_now().maps, before.maps);
	child_send(c.socket, &go, 1);
	child_finish(&c);
	endpoint_close(&e);
}

/* --- a window that is bound so often that its keys repeat --- */

#define BINDS 257u

static int binder(void)
{
	struct endpoint e;
	struct address other, own;

	endpoint_open(&e, MEMORY_MEMFD, (BINDS + 1) * 4096, NULL);
	CHECK_EQ(ibv_dereg_mr(e.mr), 0);
	e.mr = ibv_reg_mr(e.pd, e.buffer, e.size, ALL_ACCESS | IBV_ACCESS_MW_BIND);
	CHECK(e.mr);
	struct ibv_mw *mw = ibv_alloc_mw(e.pd, IBV_MW_TYPE_2);

	CHECK(mw);
	own = address_of(&e);
	child_send(3, &own, sizeof(own));
	child_receive(3, &other, sizeof(other));
	qp_connect(e.qp, other.qpn);
	uint32_t key = mw->rkey;
	char go;

	for (size_t n = 1; n <= BINDS; n++) {
		struct ibv_send_wr bind = {.wr_id = n, .opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED};

		bind.bind_mw.mw = mw;
		bind.bind_mw.rkey = key = ibv_inc_rkey(key);
		bind.bind_mw.bind_info =
		    (struct ibv_mw_bind_info){e.mr, (uintptr_t)e.buffer + n * 4096, 4096, IBV_ACCESS_REMOTE_WRITE};
		post_and_expect(&e, &bind, IBV_WC_SUCCESS);
		own = (struct address){e.qp->qp_num, key, (uintptr_t)e.buffer + n * 4096};
		child_send(3, &own, sizeof(own));
		child_receive(3, &go, 1);
		struct ibv_send_wr invalidate = {
		    .wr_id = n, .opcode = IBV_WR_LOCAL_INV, .send_flags = IBV_SEND_SIGNALED, .invalidate_rkey = key};

		post_and_expect(&e, &invalidate, IBV_WC_SUCCESS);
	}
	for (size_t n = 1; n <= BINDS; n++)
		CHECK_EQ(*(uint64_t *)(e.buffer + n * 4096), n);
	CHECK_EQ(ibv_dealloc_mw(mw), 0);
	endpoint_close(&e);
	return 0;
}

static void window_whose_keys_come_round(void)
{
	struct endpoint e;
	struct address own, to;
	struct child c = child_start("binder");

	step("a window that is bound %u times: each write lands where it was bound last", BINDS);
	endpoint_open(&e, MEMORY_MALLOC, 4096, NULL);
	own = address_of(&e);
	child_receive(c.socket, &to, sizeof(to));
	child_send(c.socket, &own, sizeof(own));
	qp_connect(e.qp, to.qpn);
	for (size_t n = 1; n <= BINDS; n++) {
		struct ibv_sge sge = sge_of(&e, 0, 8);

		child_receive(c.socket, &to, sizeof(to));
		struct ibv_send_wr write = one_sided(IBV_WR_RDMA_WRITE, &sge, to, 0);

		*(uint64_t *)e.buffer = n;
		post_and_expect(&e, &write, IBV_WC_SUCCESS);
		child_send(c.socket, "g", 1);
	}
	child_finish(&c);
	endpoint_close(&e);
}

int main(int argc, char **argv)
{
	static const char *const names[] = {"malloc", "memfd", "unsealed"};

	if (argc > 1 && strcmp(argv[1], "huge") == 0)
		return huge_owner();
	if (argc > 1 && strcmp(argv[1], "binder") == 0)
		return binder();
	for (int kind = 0; argc > 1 && kind < 3; kind++)
		if (strcmp(argv[1], names[kind]) == 0)
			return passive((enum memory)kind);
	struct footprint before = footprint_now();

	for (int kind = 0; kind < 3; kind++)
		run((enum memory)kind, names[kind]);
	huge_pages();
	window_whose_keys_come_round();
	struct footprint after = footprint_after(&before);

	step("nothing is left");
	CHECK_EQ(after.fds, before.fds);
	CHECK_EQ(after.maps, before.maps);
	CHECK_EQ(after.threads, before.threads);
	return 0;
}
