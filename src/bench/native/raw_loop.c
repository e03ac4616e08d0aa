/*
 * The loop that benchmarks compare Java with: what a C programmer writes. Each operation's work request is filled in
 * anew, as a program must whose operations are not all the same. It is a library of its own, which posts and polls
 * through the context that a queue pair belongs to and so needs no libibverbs. RawLoop.java calls it.
 */
#include <infiniband/verbs.h>

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#define BATCH 16
#define EXPORTED __attribute__((visibility("default")))

/* What is done over and over: `depth` work requests, `stride` bytes apart, linked into lists of `list`. */
struct farheap_raw_plan {
	unsigned long long requests;
	int stride, depth, list;
	int opcode, flags; /* flags without IBV_SEND_SIGNALED: the last of a list is signaled */
	int bytes;
	unsigned long long local, remote; /* the records of a list have local places of their own, one behind the other */
	unsigned lkey, rkey;
};

/* NULL where there is no memory; farheap_raw_plan_free() ends it. */
EXPORTED struct farheap_raw_plan *farheap_raw_plan_create(unsigned long long requests, int stride, int depth, int list)
{
	struct farheap_raw_plan *plan = malloc(sizeof(*plan));
	if (plan)
		*plan = (struct farheap_raw_plan){.requests = requests, .stride = stride, .depth = depth, .list = list};
	return plan;
}

EXPORTED void farheap_raw_plan_free(struct farheap_raw_plan *plan)
{
	free(plan);
}

/* What each operation is. */
EXPORTED void farheap_raw_plan_aim(struct farheap_raw_plan *plan, int opcode, int flags, int bytes,
    unsigned long long local, unsigned lkey, unsigned long long remote, unsigned rkey)
{
	plan->opcode = opcode;
	plan->flags = flags;
	plan->bytes = bytes;
	plan->local = local;
	plan->lkey = lkey;
	plan->remote = remote;
	plan->rkey = rkey;
}

static long long now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void fill(struct ibv_send_wr *wr, const struct farheap_raw_plan *plan, int record)
{
	wr->opcode = plan->opcode;
	wr->send_flags = plan->flags | (wr->next ? 0 : IBV_SEND_SIGNALED);
	if (plan->opcode == IBV_WR_ATOMIC_CMP_AND_SWP || plan->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr->wr.atomic.remote_addr = plan->remote;
		wr->wr.atomic.rkey = plan->rkey;
		wr->wr.atomic.compare_add = 0;
		wr->wr.atomic.swap = 0;
	} else {
		wr->wr.rdma.remote_addr = plan->remote;
		wr->wr.rdma.rkey = plan->rkey;
	}
	wr->sg_list->addr = plan->local + (unsigned long long)record * (unsigned)plan->bytes;
	wr->sg_list->length = plan->bytes;
	wr->sg_list->lkey = plan->lkey;
}

/* Does so many operations, `depth` in flight. Returns the ns that took, or a negative errno. */
EXPORTED long long farheap_raw_loop(
    struct ibv_qp *qp, struct ibv_cq *cq, const struct farheap_raw_plan *plan, int operations)
{
	int lists = plan->depth / plan->list, in_flight = 0, next = 0;
	struct ibv_send_wr *bad;
	struct ibv_wc wc[BATCH];
	long long start = now();
	for (int posted = 0; posted < operations || in_flight;) {
		if (posted < operations && in_flight < lists) {
			char *first = (char *)(uintptr_t)plan->requests + (size_t)next * plan->list * plan->stride;
			for (int i = 0; i < plan->list; i++)
				fill((struct ibv_send_wr *)(first + (size_t)i * plan->stride), plan, i);
			int error = ibv_post_send(qp, (struct ibv_send_wr *)first, &bad);
			if (error)
				return -error;
			posted += plan->list;
			in_flight++;
			next = next + 1 == lists ? 0 : next + 1;
			if (in_flight < lists && posted < operations)
				continue;
		}
		int polled = ibv_poll_cq(cq, BATCH, wc);
		if (polled < 0)
			return -EIO;
		for (int i = 0; i < polled; i++)
			if (wc[i].status != IBV_WC_SUCCESS)
				return -EIO;
		in_flight -= polled;
	}
	return now() - start;
}

/* Times `count` single operations, one in `every`. Returns 0 or a negative errno. */
EXPORTED long long farheap_raw_samples(
    struct ibv_qp *qp, struct ibv_cq *cq, const struct farheap_raw_plan *plan, int every, int count, long long *nanos)
{
	for (int i = 0; i < count; i++) {
		long long error = farheap_raw_loop(qp, cq, plan, every - 1);
		if (error >= 0)
			error = nanos[i] = farheap_raw_loop(qp, cq, plan, 1);
		if (error < 0)
			return error;
	}
	return 0;
}
