package io.farheap.ring;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A bounded queue of longs from one producer thread to one consumer thread, without locks: a consumer that sees a value
 * sees the producer's earlier writes. Nothing here allocates after construction.
 *
 * <p>Each end keeps a copy of the other end's position and loads the real one only if the copy says that the ring is
 * full, or empty: a cache line moves between the cores when there is news, not with every value. The positions lie on
 * cache lines of their own, two lines apart, as processors fetch neighbouring lines in pairs.
 */
public final class LongRing {

    private static final VarHandle POSITION = MethodHandles.arrayElementVarHandle(long[].class);

    private static final int PAIR_OF_LINES = 128 / Long.BYTES;
    /**
     * The producer's position and its copy of the consumer's; then the consumer's position and its copy of the
     * producer's.
     */
    private static final int TAIL = PAIR_OF_LINES;

    private static final int SEEN_HEAD = TAIL + 1;
    private static final int HEAD = 2 * PAIR_OF_LINES;
    private static final int SEEN_TAIL = HEAD + 1;

    private final long[] positions = new long[3 * PAIR_OF_LINES];
    private final long[] values;
    private final int mask;

    /** @param capacity a power of two */
    public LongRing(int capacity) {
        if (capacity < 1 || Integer.bitCount(capacity) != 1) {
            throw new IllegalArgumentException("a ring of " + capacity + " places; it must be a power of two");
        }
        values = new long[capacity];
        mask = capacity - 1;
    }

    /**
     * Adds a value. Called by the producer.
     *
     * @return false if the ring is full
     */
    public boolean offer(long value) {
        long tail = positions[TAIL];
        if (tail - positions[SEEN_HEAD] > mask) {
            positions[SEEN_HEAD] = (long) POSITION.getAcquire(positions, HEAD);
            if (tail - positions[SEEN_HEAD] > mask) {
                return false;
            }
        }
        values[(int) tail & mask] = value;
        POSITION.setRelease(positions, TAIL, tail + 1);
        return true;
    }

    /** Whether there is a value. Called by the consumer. */
    public boolean hasNext() {
        long head = positions[HEAD];
        if (head != positions[SEEN_TAIL]) {
            return true;
        }
        positions[SEEN_TAIL] = (long) POSITION.getAcquire(positions, TAIL);
        return head != positions[SEEN_TAIL];
    }

    /**
     * The oldest value, which stays until {@link #remove}; there must be {@linkplain #hasNext one}. Called by the
     * consumer.
     */
    public long peek() {
        return values[(int) positions[HEAD] & mask];
    }

    /** Removes the oldest value, whose place may then be filled again. Called by the consumer. */
    public void remove() {
        POSITION.setRelease(positions, HEAD, positions[HEAD] + 1);
    }

    /** Whether it was empty a moment ago. Any thread may call it. */
    public boolean isEmpty() {
        return (long) POSITION.getAcquire(positions, HEAD) == (long) POSITION.getAcquire(positions, TAIL);
    }
}
