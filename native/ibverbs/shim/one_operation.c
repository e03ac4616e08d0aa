/*
 * One READ or WRITE, from its post to its completion, in one call: each call from Java, and each store from Java into a
 * work request, costs a good part of what an operation costs on a device in the same memory.
 */
#include "verbs_shim.h"

#include <errno.h>
#include <stdlib.h>

/* A prepared work request of each kind, and the queues that it uses. */
struct one_operation {
	struct ibv_qp *qp;
	struct ibv_cq *cq;
	struct ibv_wc *wc;
	unsigned max_inline;
	int polls;
	struct ibv_send_wr wr[2];
	struct ibv_sge sge[2];
};

void *farheap_one_operation_create(struct ibv_qp *qp, struct ibv_cq *cq, unsigned long long wc_address,
    unsigned long long wr_id, unsigned max_inline, int polls)
{
	struct one_operation *one = aligned_alloc(64, (sizeof(*one) + 63) / 64 * 64);
	if (!one)
		return NULL;
	*one = (struct one_operation){
	    .qp = qp, .cq = cq, .wc = (struct ibv_wc *)(uintptr_t)wc_address, .max_inline = max_inline, .polls = polls};
	for (int write = 0; write < 2; write++)
		one->wr[write] = (struct ibv_send_wr){.wr_id = wr_id,
		    .sg_list = &one->sge[write],
		    .num_sge = 1,
		    .opcode = write ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ,
		    .send_flags = IBV_SEND_SIGNALED};
	return one;
}

void farheap_one_operation_free(void *one)
{
	free(one);
}

static int run(
    struct one_operation *one, uint64_t local, uint64_t remote, uint64_t length_and_lkey, uint64_t rkey_and_write)
{
	int write = rkey_and_write >> 32 & 1;
	uint32_t length = (uint32_t)length_and_lkey;
	struct ibv_send_wr *wr = &one->wr[write], *bad;
	struct ibv_sge *sge = &one->sge[write];

	sge->addr = local;
	sge->length = length;
	sge->lkey = length_and_lkey >> 32;
	wr->wr.rdma.remote_addr = remote;
	wr->wr.rdma.rkey = (uint32_t)rkey_and_write;
	if (write)
		wr->send_flags = length <= one->max_inline ? IBV_SEND_SIGNALED | IBV_SEND_INLINE : IBV_SEND_SIGNALED;
	int error = ibv_post_send(one->qp, wr, &bad);
	if (error)
		return -error;
	for (int polls = one->polls; polls > 0; polls--) {
		int polled = ibv_poll_cq(one->cq, 1, one->wc);
		if (polled == 1) {
			if (one->wc->wr_id != wr->wr_id)
				return 3;
			return one->wc->status == IBV_WC_SUCCESS ? 0 : 2;
		}
		if (polled < 0)
			return -EIO;
	}
	return 1;
}

unsigned long long farheap_one_operation_address(void)
{
	return (uintptr_t)run;
}
