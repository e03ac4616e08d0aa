/* The loop that benchmarks compare Java with: what a C programmer writes for one operation after another. */
#include "verbs_shim.h"

#include <errno.h>
#include <time.h>

static long long now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

long long farheap_raw_loop(struct ibv_qp *qp, struct ibv_cq *cq, unsigned long long wr_address, int operations)
{
    struct ibv_send_wr *wr = (struct ibv_send_wr *)(uintptr_t)wr_address;
    struct ibv_send_wr *bad;
    struct ibv_wc wc;
    long long start = now();
    for (int i = 0; i < operations; i++) {
        int error = ibv_post_send(qp, wr, &bad);
        if (error)
            return -error;
        int polled;
        do {
            polled = ibv_poll_cq(cq, 1, &wc);
        } while (polled == 0);
        if (polled < 0 || wc.status != IBV_WC_SUCCESS)
            return -EIO;
    }
    return now() - start;
}
