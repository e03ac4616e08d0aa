/* Both ends of a connection in one process, in two contexts: every operation, and its effects. */
#include "test.h"

#include <stdatomic.h>

static void connect_both(struct endpoint *a, struct endpoint *b)
{
	qp_connect(a->qp, b->qp->qp_num);
	qp_connect(b->qp, a->qp->qp_num);
}

static void one_sided_operations(struct endpoint *a, struct endpoint *b)
{
	struct address to = address_of(b);
	struct ibv_sge sge = sge_of(a, 0, 100);
	struct ibv_send_wr wr = one_sided(IBV_WR_RDMA_WRITE, &sge, to, 1000);

	for (int i = 0; i < 100; i++)
		a->buffer[i] = (uint8_t)(i + 1);
	post_and_expect(a, &wr, IBV_WC_SUCCESS);
	CHECK(memcmp(a->buffer, b->buffer + 1000, 100) == 0);

	sge = sge_of(a, 500, 100);
	wr = one_sided(IBV_WR_RDMA_READ, &sge, to, 1000);
	post_and_expect(a, &wr, IBV_WC_SUCCESS);
	CHECK(memcmp(a->buffer, a->buffer + 500, 100) == 0);

	*(uint64_t *)(b->buffer + 2000) = 40;
	sge = sge_of(a, 600, 8);
	wr = atomic_wr(IBV_WR_ATOMIC_FETCH_AND_ADD, &sge, to, 2000, 2, 0);
	post_and_expect(a, &wr, IBV_WC_SUCCESS);
	CHECK_EQ(*(uint64_t *)(b->buffer + 2000), 42);
	CHECK_EQ(*(uint64_t *)(a->buffer + 600), 40);
	wr = atomic_wr(IBV_WR_ATOMIC_CMP_AND_SWP, &sge, to, 2000, 42, 7);
	post_and_expect(a, &wr, IBV_WC_SUCCESS);
	CHECK_EQ(*(uint64_t *)(b->buffer + 2000), 7);
	CHECK_EQ(*(uint64_t *)(a->buffer + 600), 42);
	wr = atomic_wr(IBV_WR_ATOMIC_CMP_AND_SWP, &sge, to, 2000, 42, 8);
	post_and_expect(a, &wr, IBV_WC_SUCCESS);
	CHECK_EQ(*(uint64_t *)(b->buffer + 2000), 7);
	CHECK_EQ(*(uint64_t *)(a->buffer + 600), 7);
}

static void inline_and_lists(struct endpoint *a, struct endpoint *b)
{
	struct address to = address_of(b);
	uint64_t words[16];
	struct ibv_sge sge[16];
	struct ibv_send_wr wr[16];

	for (int i = 0; i < 16; i++) {
		words[i] = 0x1000u + (unsigned)i;
		sge[i] = (struct ibv_sge){(uintptr_t)&words[i], 8, 0};
		wr[i] = one_sided(IBV_WR_RDMA_WRITE, &sge[i], to, 3000 + 8 * (unsigned)i);
		wr[i].send_flags = IBV_SEND_INLINE | (i == 15 ? IBV_SEND_SIGNALED : 0);
		wr[i].wr_id = 100 + (unsigned)i;
		wr[i].next = i < 15 ? &wr[i + 1] : NULL;
	}
	/* many more than the queue holds: a polled completion must free the unsignaled ones before it */
	for (int round = 0; round < 100; round++) {
		post(a->qp, wr);
		struct ibv_wc wc = poll_one(a->cq);

		CHECK_EQ(wc.wr_id, 115);
		CHECK_EQ(wc.status, IBV_WC_SUCCESS);
	}
	CHECK(memcmp(b->buffer + 3000, words, sizeof(words)) == 0);
}

static void two_sided_operations(struct endpoint *a, struct endpoint *b)
{
	struct ibv_sge sge = sge_of(a, 0, 64);
	struct ibv_send_wr wr = {.wr_id = 5,
	    .sg_list = &sge,
	    .num_sge = 1,
	    .opcode = IBV_WR_SEND_WITH_IMM,
	    .send_flags = IBV_SEND_SIGNALED,
	    .imm_data = 0x01020304};

	memset(a->buffer, 0x5a, 64);
	memset(b->buffer, 0, 256);
	post_receive(b, 77, 128, 100);
	post_and_expect(a, &wr, IBV_WC_SUCCESS);
	struct ibv_wc wc = poll_one(b->cq);

	CHECK_EQ(wc.wr_id, 77);
	CHECK_EQ(wc.opcode, IBV_WC_RECV);
	CHECK_EQ(wc.byte_len, 64);
	CHECK_EQ(wc.imm_data, 0x01020304);
	CHECK_EQ(wc.wc_flags, IBV_WC_WITH_IMM);
	CHECK_EQ(wc.src_qp, a->qp->qp_num);
	CHECK(memcmp(a->buffer, b->buffer + 128, 64) == 0);
	CHECK_EQ(b->buffer[128 + 64], 0);

	post_receive(b, 78, 0, 0);
	wr = one_sided(IBV_WR_RDMA_WRITE_WITH_IMM, &sge, address_of(b), 512);
	wr.imm_data = 9;
	post_and_expect(a, &wr, IBV_WC_SUCCESS);
	wc = poll_one(b->cq);
	CHECK_EQ(wc.wr_id, 78);
	CHECK_EQ(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
	CHECK_EQ(wc.byte_len, 64);
	CHECK_EQ(wc.imm_data, 9);
	CHECK(memcmp(a->buffer, b->buffer + 512, 64) == 0);
}

static void receiver_not_ready(struct endpoint *a, struct endpoint *b)
{
	struct ibv_sge sge = sge_of(a, 0, 16);
	struct ibv_send_wr wr = {
	    .wr_id = 6, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
	struct ibv_sge sge2 = sge_of(a, 0, 16);
	struct ibv_send_wr write = one_sided(IBV_WR_RDMA_WRITE, &sge2, address_of(b), 900);

	memset(a->buffer, 0x11, 16);
	memset(b->buffer + 900, 0, 16);
	write.wr_id = 7;
	wr.next = &write;
	post(a->qp, &wr);
	poll_none(a->cq, 20);
	CHECK_EQ(b->buffer[900], 0); /* the write waits behind the send */
	post_receive(b, 79, 0, 64);
	CHECK_EQ(poll_one(a->cq).wr_id, 6);
	CHECK_EQ(poll_one(a->cq).wr_id, 7);
	CHECK_EQ(poll_one(b->cq).wr_id, 79);
	CHECK_EQ(b->buffer[900], 0x11);
}

static void events(struct endpoint *a, struct endpoint *b)
{
	struct ibv_sge sge = sge_of(a, 0, 16);
	struct ibv_send_wr wr = one_sided(IBV_WR_RDMA_WRITE, &sge, address_of(b), 0);
	struct pollfd p = {.fd = a->channel->fd, .events = POLLIN};
	struct ibv_cq *cq;
	void *context;

	fcntl(a->channel->fd, F_SETFL, O_NONBLOCK);
	CHECK_EQ(ibv_get_cq_event(a->channel, &cq, &context), -1);
	CHECK_EQ(errno, EAGAIN);
	CHECK_EQ(ibv_req_notify_cq(a->cq, 0), 0);
	post(a->qp, &wr);
	post(a->qp, &wr);
	CHECK_EQ(poll(&p, 1, PATIENCE_S * 1000), 1);
	CHECK_EQ(ibv_get_cq_event(a->channel, &cq, &context), 0);
	CHECK(cq == a->cq && context == a);
	CHECK_EQ(ibv_get_cq_event(a->channel, &cq, &context), -1); /* one event for one request */
	ibv_ack_cq_events(cq, 1);
	poll_one(a->cq);
	poll_one(a->cq);

	/* a receive: only the solicited one */
	p.fd = b->channel->fd;
	CHECK_EQ(ibv_req_notify_cq(b->cq, 1), 0);
	post_receive(b, 1, 0, 64);
	post_receive(b, 2, 0, 64);
	wr.opcode = IBV_WR_SEND;
	post(a->qp, &wr);
	CHECK_EQ(poll(&p, 1, 20), 0);
	wr.send_flags |= IBV_SEND_SOLICITED;
	post(a->qp, &wr);
	CHECK_EQ(poll(&p, 1, PATIENCE_S * 1000), 1);
	CHECK_EQ(ibv_get_cq_event(b->channel, &cq, &context), 0);
	ibv_ack_cq_events(cq, 1);
	for (int i = 0; i < 2; i++) {
		poll_one(a->cq);
		poll_one(b->cq);
	}
}

static void refusals(struct endpoint *a, struct endpoint *b)
{
	struct ibv_sge sge = sge_of(a, 0, 8);
	struct ibv_send_wr wr = one_sided(IBV_WR_RDMA_WRITE, &sge, address_of(b), 0), *bad;

	wr.send_flags = IBV_SEND_IP_CSUM;
	CHECK_EQ(ibv_post_send(a->qp, &wr, &bad), EINVAL);
	CHECK(bad == &wr);
	wr.send_flags = IBV_SEND_INLINE;
	sge.length = 4000;
	CHECK_EQ(ibv_post_send(a->qp, &wr, &bad), EINVAL);
	sge.length = 8;
	wr.send_flags = 0;
	int posted = 0;

	while (ibv_post_send(a->qp, &wr, &bad) == 0)
		posted++;
	CHECK_EQ(posted, 64); /* the queue is full of unsignaled ones: nothing can free it */
}

/* --- a queue pair that is reset while its completions are polled --- */

#define RESET_DEPTH 4096u

struct poller {
	struct ibv_cq *cq;
	_Atomic bool stop;
};

static void *poll_always(void *argument)
{
	struct poller *poller = argument;
	struct ibv_wc wc;

	while (!atomic_load(&poller->stop))
		CHECK(ibv_poll_cq(poller->cq, 1, &wc) >= 0);
	return NULL;
}

static void reset_beside_a_poll(void)
{
	static struct ibv_send_wr wr[RESET_DEPTH];
	struct ibv_qp_attr reset = {.qp_state = IBV_QPS_RESET};
	struct ibv_send_wr *bad;
	struct ibv_sge sge;
	struct endpoint e;
	struct poller poller;
	pthread_t thread;

	step("a reset while another thread polls: the queue has all its places afterwards");
	endpoint_open(&e, MEMORY_MALLOC, 4096, &(struct options){.send_wr = RESET_DEPTH, .cqe = 2 * RESET_DEPTH});
	poller.cq = e.cq;
	atomic_init(&poller.stop, false);
	sge = sge_of(&e, 0, 8);
	for (uint32_t i = 0; i < RESET_DEPTH; i++) {
		wr[i] = one_sided(IBV_WR_RDMA_WRITE, &sge, address_of(&e), 64);
		wr[i].next = i + 1 < RESET_DEPTH ? &wr[i + 1] : NULL;
	}
	CHECK_EQ(pthread_create(&thread, NULL, poll_always, &poller), 0);
	for (int round = 0; round < 200; round++) {
		qp_connect(e.qp, e.qp->qp_num);
		CHECK_EQ(ibv_post_send(e.qp, wr, &bad), 0);
		CHECK_EQ(ibv_modify_qp(e.qp, &reset, IBV_QP_STATE), 0);
	}
	atomic_store(&poller.stop, true);
	CHECK_EQ(pthread_join(thread, NULL), 0);
	endpoint_close(&e);
}

int main(void)
{
	struct endpoint a, b;
	struct footprint before = footprint_now();

	setvbuf(stdout, NULL, _IONBF, 0);
	for (int kind = MEMORY_MALLOC; kind <= MEMORY_UNSEALED; kind++) {
		step("loopback over %s memory", kind == MEMORY_MALLOC ? "malloc" : kind == MEMORY_MEMFD ? "memfd" : "unsealed");
		endpoint_open(&a, (enum memory)kind, 65536, NULL);
		endpoint_open(&b, (enum memory)kind, 65536, NULL);
		connect_both(&a, &b);
		one_sided_operations(&a, &b);
		inline_and_lists(&a, &b);
		two_sided_operations(&a, &b);
		receiver_not_ready(&a, &b);
		events(&a, &b);
		refusals(&a, &b);
		endpoint_close(&a);
		endpoint_close(&b);
	}
	reset_beside_a_poll();
	struct footprint after = footprint_after(&before);

	step("nothing is left: %d descriptors, %d shared mappings, %d threads", after.fds, after.maps, after.threads);
	CHECK_EQ(after.fds, before.fds);
	CHECK_EQ(after.maps, before.maps);
	CHECK_EQ(after.threads, before.threads);
	return 0;
}
