package io.farheap.bench.resilience;

import io.farheap.resilience.contract.Health;
import io.farheap.thread.ThreadJoiner;
import io.farheap.time.TimeLimit;
import org.jspecify.annotations.Nullable;

/** Takes servers away under load, and observes when all data is whole again. A thread of its own, until it is done. */
abstract class Outage implements AutoCloseable {

    static final long PATIENCE_NANOS = TimeLimit.of(60_000_000_000L);
    private static final long LOOK_MILLIS = 1;

    private final FarSide side;
    private final Thread thread;
    private volatile boolean done;
    private volatile double wholeMillis = Double.NaN;
    private volatile @Nullable Throwable failure;

    Outage(String name, FarSide side) {
        this.side = side;
        this.thread = Thread.ofPlatform().name(name).unstarted(this::run);
    }

    final void start() {
        thread.start();
    }

    private void run() {
        try {
            wholeMillis = take();
        } catch (InterruptedException e) {
            // It is being closed.
        } catch (Throwable e) {
            failure = e;
        } finally {
            done = true;
        }
    }

    /** @return ms until nothing was missing any more; NaN if that was not observed, or if nothing was ever missing */
    abstract double take() throws InterruptedException;

    /** Null for a kind without health. */
    final @Nullable Health health() {
        return side.health();
    }

    static void pause() throws InterruptedException {
        Thread.sleep(LOOK_MILLIS);
    }

    final boolean done() {
        return done;
    }

    /** Returns the result of {@link #take}. */
    final double wholeMillis() {
        Throwable cause = failure;
        if (cause != null) {
            throw new IllegalStateException("the thread that takes servers away failed: " + cause, cause);
        }
        return wholeMillis;
    }

    @Override
    public void close() {
        thread.interrupt();
        ThreadJoiner.join(thread);
    }
}
