package io.farheap.bench.ablation;

import io.farheap.ring.LongRing;

/** Passes numbers from one thread to another, in order. */
interface LongQueue {

    /** Returned by {@link #poll} if the queue is empty. */
    long NOTHING = -1;

    /** Adds a number. There must be room. */
    void put(long number);

    long poll();

    /** @param capacity a power of two; the most numbers in it */
    static LongQueue lockFree(int capacity) {
        LongRing ring = new LongRing(capacity);
        return new LongQueue() {
            @Override
            public void put(long number) {
                if (!ring.offer(number)) {
                    throw new IllegalStateException("the ring is full");
                }
            }

            @Override
            public long poll() {
                if (!ring.hasNext()) {
                    return NOTHING;
                }
                long number = ring.peek();
                ring.remove();
                return number;
            }
        };
    }
}
