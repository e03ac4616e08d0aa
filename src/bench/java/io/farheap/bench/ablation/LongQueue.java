package io.farheap.bench.ablation;

import io.farheap.ring.LongRing;

/** Numbers from one thread to another, in order. */
interface LongQueue {

    /** What {@link #poll} returns where there is nothing. */
    long NOTHING = -1;

    /** There must be room. */
    void put(long number);

    long poll();

    /** @param capacity a power of two; as many numbers may be on their way */
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
