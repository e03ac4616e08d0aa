/*
 * The loop that benchmarks compare Java with: what a C programmer writes. Each operation's work request is filled in anew, as a program
 * must whose operations are not all the same.
 */
#include "verbs_shim.h"

#include <errno.h>
#include <time.h>

#define BATCH 16

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

long long farheap_raw_loop(struct ibv_qp *qp, struct ibv_cq *cq, const struct farheap_raw_plan *plan, int operations)
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

long long farheap_raw_samples(struct ibv_qp *qp, struct ibv_cq *cq, const struct farheap_raw_plan *plan, int every, int count,
                              unsigned long long nanos_address)
{
    long long *nanos = (long long *)(uintptr_t)nanos_address;
    for (int i = 0; i < count; i++) {
        long long error = farheap_raw_loop(qp, cq, plan, every - 1);
        if (error >= 0)
            error = nanos[i] = farheap_raw_loop(qp, cq, plan, 1);
        if (error < 0)
            return error;
    }
    return 0;
}
