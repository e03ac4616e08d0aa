package io.farheap.procedure.service;

import io.farheap.posix.AsymmetricFence;

/**
 * The slices that may have been under way on a server's other threads when maps were replaced. A thread looks at them
 * between its rounds, and never waits for them. One thread.
 */
final class UnderWaySlices {

    private final SliceRunner[] threads;
    private final int[] numbers;
    /** The threads before this index may still be in such a slice. */
    private int left;

    /**
     * Called after maps were replaced.
     *
     * @param threads those of the server's threads
     * @param own that of the calling thread, which is in no slice
     */
    UnderWaySlices(SliceRunner[] threads, SliceRunner own) {
        this.threads = threads;
        this.numbers = new int[threads.length];
        this.left = threads.length;
        AsymmetricFence.heavy();
        for (int i = 0; i < threads.length; i++) {
            numbers[i] = threads[i] == own ? 0 : threads[i].underWay();
        }
    }

    /** Whether all of them have ended: no slice uses a replaced map any more. */
    boolean over() {
        while (left > 0 && threads[left - 1].over(numbers[left - 1])) {
            left--;
        }
        return left == 0;
    }
}
