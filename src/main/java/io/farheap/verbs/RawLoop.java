package io.farheap.verbs;

import io.farheap.verbs.binding.ibverbs;

/** The same operation over and over from C: what benchmarks compare Java with, on the same device and in the same process. */
public final class RawLoop {

    private RawLoop() {
    }

    /**
     * Posts a prepared, signaled request and polls its completion, one after the other. Nothing else may use the queue pair and the
     * completion queue meanwhile.
     *
     * @return the time that took, in ns
     * @throws VerbsException where an operation fails
     */
    public static long run(QueuePair queuePair, CompletionQueue completions, SendRequests requests, int index, int operations) {
        long nanos = ibverbs.farheap_raw_loop(queuePair.handle(), completions.handle(), requests.address(index), operations);
        if (nanos < 0) {
            throw new VerbsException("the C loop failed", (int) -nanos);
        }
        return nanos;
    }
}
