package io.farheap.tier.file;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A bounded queue of longs from many threads to many, without locks (D. Vyukov's bounded MPMC queue): each place has a
 * sequence number, which says whether a producer or a consumer may use it next. A thread claims a position by
 * compare-and-set of the tail or head, then copies the value, and publishes the place by a release store of its
 * sequence number, which pairs with the acquire load of the next user. Nothing allocates after construction.
 */
final class ManyToManyLongQueue {

    /** Returned by {@link #poll} if the queue is empty; not allowed as a value. */
    static final long NONE = Long.MIN_VALUE;

    private static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(long[].class);
    private static final int LINES = 128 / Long.BYTES;
    private static final int TAIL = LINES;
    private static final int HEAD = 2 * LINES;

    private final long[] positions = new long[3 * LINES];
    private final long[] sequences;
    private final long[] values;
    private final int mask;

    /** @param least the least number of values that it has room for */
    ManyToManyLongQueue(int least) {
        int capacity = Math.max(2, Integer.highestOneBit(Math.max(1, least - 1)) << 1);
        sequences = new long[capacity];
        values = new long[capacity];
        mask = capacity - 1;
        for (int i = 0; i < capacity; i++) {
            sequences[i] = i;
        }
    }

    /** @return false if the queue is full */
    boolean offer(long value) {
        while (true) {
            long tail = (long) ELEMENT.getOpaque(positions, TAIL);
            int place = (int) tail & mask;
            long behind = (long) ELEMENT.getAcquire(sequences, place) - tail;
            if (behind < 0) {
                return false;
            }
            if (behind == 0 && ELEMENT.compareAndSet(positions, TAIL, tail, tail + 1)) {
                values[place] = value;
                ELEMENT.setRelease(sequences, place, tail + 1);
                return true;
            }
        }
    }

    /** @return a value, or {@link #NONE} if the queue is empty */
    long poll() {
        while (true) {
            long head = (long) ELEMENT.getOpaque(positions, HEAD);
            int place = (int) head & mask;
            long behind = (long) ELEMENT.getAcquire(sequences, place) - (head + 1);
            if (behind < 0) {
                return NONE;
            }
            if (behind == 0 && ELEMENT.compareAndSet(positions, HEAD, head, head + 1)) {
                long value = values[place];
                ELEMENT.setRelease(sequences, place, head + mask + 1);
                return value;
            }
        }
    }

    /** Whether {@link #poll} would find a value now. */
    boolean hasNext() {
        long head = (long) ELEMENT.getOpaque(positions, HEAD);
        return (long) ELEMENT.getAcquire(sequences, (int) head & mask) - (head + 1) >= 0;
    }
}
