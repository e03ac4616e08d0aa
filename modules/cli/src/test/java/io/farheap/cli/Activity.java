package io.farheap.cli;

import io.farheap.cache.contract.CacheException;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Does one thing again and again on a thread of its own until it is closed. It knows how often that was done, how often
 * it ended with a {@link CacheException} (as what needs a sick server may), and how long the longest took.
 */
final class Activity {

    /** What is done. One thread at a time. */
    interface Steps extends AutoCloseable {

        /** Does it once. */
        void step() throws Exception;

        /** Ends what steps left open. May fail as a step does. */
        @Override
        default void close() {}
    }

    /**
     * Two cores are few for all activities and servers, and other tests run beside: each rests for a few times as long
     * as it works, so that at a random moment some of all are within a step.
     */
    private static final int RESTS = 3;

    private static final long SHORTEST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private static final long SHORTEST_PAUSE_OF_CALLS_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final long LONGEST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final String name;
    private final boolean onCallsAlone;
    private final Steps steps;
    private final Thread thread;
    private volatile boolean stop;

    // Written by the thread.
    private volatile long done;
    private volatile long failed;
    private volatile String lastFailure = "";
    private volatile Throwable unexpected;
    private volatile long longestNanos;
    private volatile String doing = "";

    private Activity(String name, boolean onCallsAlone, Steps steps) {
        this.name = name;
        this.onCallsAlone = onCallsAlone;
        this.steps = steps;
        this.thread = Thread.ofPlatform().daemon().name("activity " + name).start(this::run);
    }

    /** Of requests, through sessions that are open. */
    static Activity ofRequests(String name, Steps steps) {
        return new Activity(name, false, steps);
    }

    /** Of calls that servers must answer, within the time that a call has. */
    static Activity ofCalls(String name, Steps steps) {
        return new Activity(name, true, steps);
    }

    private void run() {
        try {
            while (!stop) {
                long took = timed("step", () -> {
                    steps.step();
                    return null;
                });
                long shortest = onCallsAlone ? SHORTEST_PAUSE_OF_CALLS_NANOS : SHORTEST_PAUSE_NANOS;
                LockSupport.parkNanos(Math.clamp(RESTS * took, shortest, LONGEST_PAUSE_NANOS));
            }
        } finally {
            timed("close", () -> {
                steps.close();
                return null;
            });
        }
    }

    /** @return nanoseconds */
    private long timed(String what, Callable<Void> action) {
        doing = what;
        long start = System.nanoTime();
        try {
            action.call();
            done++;
        } catch (CacheException e) {
            lastFailure = what + ": " + e.getMessage();
            failed++;
        } catch (Throwable e) {
            unexpected = e;
            stop = true;
        }
        long took = System.nanoTime() - start;
        longestNanos = Math.max(longestNanos, took);
        doing = "";
        return took;
    }

    String name() {
        return name;
    }

    /** Whether a server that does not answer for a while makes it fail, though it ends nobody's lease. */
    boolean onCallsAlone() {
        return onCallsAlone;
    }

    /** How many steps ended well. */
    long done() {
        return done;
    }

    /** How many steps ended with a {@link CacheException}. */
    long failed() {
        return failed;
    }

    String lastFailure() {
        return lastFailure;
    }

    /** What no step should throw, or null. */
    Throwable unexpected() {
        return unexpected;
    }

    long longestNanos() {
        return longestNanos;
    }

    /** From now on, the longest of those steps that have not ended yet. */
    void forgetLongest() {
        longestNanos = 0;
    }

    /** No new step begins. */
    void stop() {
        stop = true;
    }

    /**
     * @param deadline of System.nanoTime()
     * @return whether it has ended by then.
     */
    boolean awaitEnd(long deadline) throws InterruptedException {
        long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
        if (left > 0) {
            thread.join(left);
        }
        return !thread.isAlive();
    }

    /** Where it is. */
    String where() {
        return doing + " at " + Arrays.toString(thread.getStackTrace());
    }

    @Override
    public String toString() {
        return name + ": " + done + " done, " + failed + " failed" + (failed > 0 ? " (" + lastFailure + ")" : "")
                + ", longest " + longestNanos / 1_000_000 + " ms";
    }
}
