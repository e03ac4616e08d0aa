package io.farheap.tier;

import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * When requests to a {@link MemoryDevice} end, and what goes wrong with them: for tests. Any thread may change it; what
 * is pending is affected too. At first nothing goes wrong, and a request ends with the next poll.
 */
public final class MemoryFaults {

    private static final long FREE = Long.MIN_VALUE;

    private volatile int polls;
    private volatile Fault.@Nullable Choice choice;
    /** How many requests may end, or {@link #FREE}. */
    private final AtomicLong allowed = new AtomicLong(FREE);

    private volatile boolean shuffled;
    /** The last random number. */
    private final AtomicLong random = new AtomicLong(1);

    MemoryFaults() {}

    /**
     * A request that is made from now on ends with the poll of its handle that follows so many others; where requests
     * are {@linkplain #shuffle shuffled}, up to so many.
     */
    public void latency(int polls) {
        if (polls < 0) {
            throw new IllegalArgumentException("a latency of " + polls + " polls; it must be at least 0");
        }
        this.polls = polls;
    }

    /** No request ends, until {@link #letGo}; but for those of a handle that is closed. */
    public void hold() {
        allowed.set(0);
    }

    /** So many requests may end, those of all handles counted, and are held again afterwards. */
    public void letGo(int requests) {
        allowed.updateAndGet(before -> Math.max(before, 0) + requests);
    }

    /** Requests end by themselves again. */
    public void letGo() {
        allowed.set(FREE);
    }

    /**
     * Requests end in any order: those of one poll, and of several where there is latency.
     *
     * @param seed for that, and for what torn appends lack; not 0
     */
    public void shuffle(long seed) {
        if (seed == 0) {
            throw new IllegalArgumentException("a seed of 0; it must be another number");
        }
        random.set(seed);
        shuffled = true;
    }

    /** @param choice null for none */
    public void inject(Fault.@Nullable Choice choice) {
        this.choice = choice;
    }

    int polls() {
        return shuffled ? Math.floorMod(step(), polls + 1) : polls;
    }

    boolean held() {
        return allowed.get() == 0;
    }

    boolean tryEnd() {
        while (true) {
            long now = allowed.get();
            if (now == FREE) {
                return true;
            }
            if (now == 0) {
                return false;
            }
            if (allowed.compareAndSet(now, now - 1)) {
                return true;
            }
        }
    }

    Fault of(Fault.Kind kind, long address, long length) {
        Fault.Choice now = choice;
        return now == null ? Fault.NONE : now.of(kind, address, length);
    }

    /** From 0 to a bound, exclusive; the last one where requests end in order. */
    int next(int bound) {
        return shuffled ? Math.floorMod(step(), bound) : bound - 1;
    }

    /** A random number. */
    int step() {
        while (true) {
            long now = random.get();
            // xorshift64
            long next = now ^ now << 13;
            next ^= next >>> 7;
            next ^= next << 17;
            if (random.compareAndSet(now, next)) {
                return (int) (next >>> 32);
            }
        }
    }
}
