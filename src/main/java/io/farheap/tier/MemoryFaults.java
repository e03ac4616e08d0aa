package io.farheap.tier;

import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Controls, for tests, when requests to a {@link MemoryDevice} end and which faults they have. Any thread may change
 * it; pending requests are affected, too. At first there are no faults, and a request ends with the next poll.
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
     * Sets the latency of requests that are made from now on: a request ends with the poll that follows {@code polls}
     * other polls of its handle. If requests are {@linkplain #shuffle shuffled}, each waits for a random number of
     * polls up to that.
     */
    public void latency(int polls) {
        if (polls < 0) {
            throw new IllegalArgumentException("a latency of " + polls + " polls; it must be at least 0");
        }
        this.polls = polls;
    }

    /** Holds all requests until {@link #letGo}, except those of a handle that is being closed. */
    public void hold() {
        allowed.set(0);
    }

    /** Lets so many requests end, counted over all handles; then requests are held again. */
    public void letGo(int requests) {
        allowed.updateAndGet(before -> Math.max(before, 0) + requests);
    }

    /** Lets all requests end again. */
    public void letGo() {
        allowed.set(FREE);
    }

    /**
     * Makes requests end in any order, those of one poll, and, if there is latency, those of several polls.
     *
     * @param seed the seed for the order, and for the parts that torn appends lack; not 0
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

    /** A number from 0 to a bound, exclusive; the last one if requests end in order. */
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
