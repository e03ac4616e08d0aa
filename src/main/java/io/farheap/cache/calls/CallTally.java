package io.farheap.cache.calls;

import io.farheap.cache.contract.CallCounts;
import io.farheap.procedure.CallStatus;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;

/** Adds up the counts of a cache's calls over its sessions. Any thread. */
public final class CallTally {

    private static final VarHandle COUNT = MethodHandles.arrayElementVarHandle(long[].class);

    /** Indexes after those of the statuses. */
    private static final int MOVED_ON = CallStatus.STATUSES;

    private static final int HELD = MOVED_ON + 1;
    private static final int HERE = HELD + 1;
    private static final int TIMED = HERE + 1;
    private static final int TIMED_NANOS = TIMED + 1;
    private static final int SIZE = TIMED_NANOS + 1;

    /** A session's counts: only the session's thread writes them, and allocates nothing; other threads read them. */
    static final class Counter {

        private static final int SAMPLE = 64;

        private final long[] counts = new long[SIZE];
        private long random = System.nanoTime() | 1;
        /** The first call is timed. */
        private int untilTimed = 1;

        private void add(int which, long more) {
            COUNT.setOpaque(counts, which, counts[which] + more);
        }

        /** @return the present time if the call that begins has to be timed, else 0 */
        long begin() {
            if (--untilTimed > 0) {
                return 0;
            }
            // Marsaglia's xorshift; 1 to 2 * SAMPLE - 1, SAMPLE on average.
            random ^= random << 13;
            random ^= random >>> 7;
            random ^= random << 17;
            untilTimed = 1 + (int) Long.remainderUnsigned(random, 2 * SAMPLE - 1);
            return System.nanoTime() | 1;
        }

        /**
         * Counts a call that has ended.
         *
         * @param begun the result of {@link #begin}
         */
        void ended(int status, long begun) {
            add(status >= 0 && status < MOVED_ON ? status : CallStatus.LOST, 1);
            if (begun != 0) {
                add(TIMED, 1);
                add(TIMED_NANOS, System.nanoTime() - begun);
            }
        }

        void movedOn() {
            add(MOVED_ON, 1);
        }

        void held() {
            add(HELD, 1);
        }

        void here() {
            add(HERE, 1);
        }
    }

    private final Set<Counter> open = new HashSet<>();
    private final long[] closed = new long[SIZE];

    synchronized Counter open() {
        Counter counter = new Counter();
        open.add(counter);
        return counter;
    }

    synchronized void close(Counter counter) {
        if (open.remove(counter)) {
            addTo(closed, counter);
        }
    }

    private static void addTo(long[] sum, Counter counter) {
        for (int i = 0; i < SIZE; i++) {
            sum[i] += (long) COUNT.getOpaque(counter.counts, i);
        }
    }

    public synchronized CallCounts now() {
        long[] sum = closed.clone();
        for (Counter counter : open) {
            addTo(sum, counter);
        }
        return new CallCounts(
                Arrays.copyOf(sum, MOVED_ON), sum[MOVED_ON], sum[HELD], sum[HERE], sum[TIMED], sum[TIMED_NANOS]);
    }
}
