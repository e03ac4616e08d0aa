package io.farheap.cli;

import io.farheap.cache.contract.CacheException;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Repeats a step on a thread of its own until it is stopped. It counts the steps that were done and those that ended
 * with a {@link CacheException}, as steps that need a sick server may, and measures the longest one.
 */
final class Activity {

    /** The steps of an activity. One thread at a time. */
    interface Steps extends AutoCloseable {

        /** Does one step. */
        void step() throws Exception;

        /** Closes the resources of the steps. May fail as a step may. */
        @Override
        default void close() {}
    }

    /**
     * Two cores are few for all activities and servers and the tests that run at the same time: each activity rests for
     * a few times as long as it works, so that at a random moment some activities are within a step.
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

    /** An activity of requests, through open sessions. */
    static Activity ofRequests(String name, Steps steps) {
        return new Activity(name, false, steps);
    }

    /** An activity of calls, which servers must answer within a call's deadline. */
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

    /** Whether it fails if a server does not answer for a while, although no lease ends. */
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

    /** A throwable that no step should throw, or null. */
    Throwable unexpected() {
        return unexpected;
    }

    long longestNanos() {
        return longestNanos;
    }

    /** From now on, the longest step is one of those that have not ended yet. */
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

    /** The step in progress and the thread's stack. */
    String where() {
        return doing + " at " + Arrays.toString(thread.getStackTrace());
    }

    @Override
    public String toString() {
        return name + ": " + done + " done, " + failed + " failed" + (failed > 0 ? " (" + lastFailure + ")" : "")
                + ", longest " + longestNanos / 1_000_000 + " ms";
    }
}
