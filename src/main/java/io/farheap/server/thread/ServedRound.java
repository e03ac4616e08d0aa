package io.farheap.server.thread;

import java.util.function.LongSupplier;

/**
 * The time for which a server thread has served batches in a round. The clock is read only if a second ring has one: a
 * reading costs a part of what a short call does, and most rounds serve one ring. One thread.
 */
final class ServedRound {

    /**
     * The time after which a round ends with the ring that is served: a thread that takes something away from this one
     * waits for a round's end.
     */
    static final long MOST_NANOS = 20_000;

    private final LongSupplier clock;
    private int batches;
    private long began;

    /** @param clock in ns, as {@link System#nanoTime} */
    ServedRound(LongSupplier clock) {
        this.clock = clock;
    }

    /** A round begins. */
    void begin() {
        batches = 0;
    }

    /** A ring is about to be served that has a batch. */
    void serving() {
        if (++batches == 2) {
            began = clock.getAsLong();
        }
    }

    /** Whether the round ends, after a ring has been served. */
    boolean over() {
        return batches > 1 && clock.getAsLong() - began >= MOST_NANOS;
    }
}
