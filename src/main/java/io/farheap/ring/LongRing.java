package io.farheap.ring;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A bounded queue of longs from one thread to another, without locks: whoever sees a value sees what its producer did
 * before. Nothing here allocates after construction.
 *
 * <p>Each end keeps a copy of the other's position and looks at the real one only when that copy says full, or empty: a
 * cache line moves between the cores when there is news, not with every value. Positions lie on lines of their own, two
 * apart, as processors fetch neighbouring lines in pairs.
 */
public final class LongRing {

    private static final VarHandle POSITION = MethodHandles.arrayElementVarHandle(long[].class);

    private static final int PAIR_OF_LINES = 128 / Long.BYTES;
    /** The next place to fill, the consumer's position as the producer last saw it; and the other way round. */
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
     * By the producer.
     *
     * @return false where the ring is full
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

    /** By the consumer. Whether there is a value. */
    public boolean hasNext() {
        long head = positions[HEAD];
        if (head != positions[SEEN_TAIL]) {
            return true;
        }
        positions[SEEN_TAIL] = (long) POSITION.getAcquire(positions, TAIL);
        return head != positions[SEEN_TAIL];
    }

    /** By the consumer. The oldest value; there must be {@linkplain #hasNext one}. It stays until {@link #remove}. */
    public long peek() {
        return values[(int) positions[HEAD] & mask];
    }

    /** By the consumer. Its place may be filled again. */
    public void remove() {
        POSITION.setRelease(positions, HEAD, positions[HEAD] + 1);
    }

    /** By any thread. Whether it was empty a moment ago. */
    public boolean isEmpty() {
        return (long) POSITION.getAcquire(positions, HEAD) == (long) POSITION.getAcquire(positions, TAIL);
    }
}
