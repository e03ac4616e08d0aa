package io.farheap.store.maintain;

import io.farheap.store.contract.StoreException;
import io.farheap.thread.ThreadJoiner;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Keeps a store's log below a limit and takes checkpoints periodically, on a thread of its own. If the log takes more
 * than three quarters of the limit on the device, the thread compacts the oldest part until half of the limit is left,
 * and takes checkpoints until no kept checkpoint needs the part that was given back. If that gains nothing, since
 * records are live, it tries again when the log has grown by an eighth of the limit. If the log cannot grow, since the
 * device has no room, it tries again after eight times the time that the attempt took.
 */
public final class Maintenance implements AutoCloseable {

    private static final long LOOK_NANOS = 20_000_000;
    /**
     * A compaction has to free at least one part in so many of the log that it reads, or it is not worth its writes.
     */
    private static final double LEAST_GAIN = 16;
    /** If the log cannot grow, the pause after an attempt that gained nothing, as a multiple of the attempt's time. */
    private static final int RESTS = 8;
    /** A compaction is done in so many calls; closing waits for one of them at most. */
    private static final int STEPS = 16;

    /** The store, as this thread sees it. */
    public interface MaintenanceTarget {

        /** Bytes from the device's first byte of the log to the tail. */
        long spaceBytes();

        /** Bytes of the log. */
        long logBytes();

        /** The log's first address. */
        long begin();

        /** Whether the log cannot grow any more. */
        boolean atCapacity();

        /** @return about how many of the bytes held no live records */
        double compact(long bytes);

        boolean makesCheckpoints();

        void checkpoint();
    }

    private final MaintenanceTarget work;
    private final long limit;
    private final @Nullable Duration every;
    private final Consumer<Throwable> listener;
    private final Thread thread;

    private volatile boolean stopped;
    private volatile @Nullable Throwable failure;

    private long lastCheckpoint = System.nanoTime();
    /** Compaction is tried again when the tail has reached this address. */
    private long notBefore;
    /** When an attempt last gained nothing, and how long it took. */
    private long triedAt = System.nanoTime();

    private long triedNanos;
    private long beganAt = triedAt;

    /** @param every how often a checkpoint is taken; null for never */
    public Maintenance(
            String name, MaintenanceTarget work, long limit, @Nullable Duration every, Consumer<Throwable> listener) {
        this.work = work;
        this.limit = limit;
        this.every = every;
        this.listener = listener;
        this.thread = Thread.ofPlatform().daemon().name(name + "-maintenance").unstarted(this::run);
    }

    public void start() {
        thread.start();
    }

    /** The reason why the last attempt failed; null if a later one succeeded, or none was made. */
    public @Nullable Throwable failure() {
        return failure;
    }

    private void run() {
        while (!stopped) {
            beganAt = System.nanoTime();
            try {
                boolean done = keepBelow();
                done |= keepTime();
                if (done) {
                    failure = null;
                }
            } catch (Throwable e) {
                failed(e);
            }
            sleep();
        }
    }

    private void failed(Throwable cause) {
        if (stopped) {
            return;
        }
        failure = cause;
        lastCheckpoint = System.nanoTime();
        setAside();
        try {
            listener.accept(cause);
        } catch (Throwable e) {
            // An exception cannot be suppressed in itself.
            if (e != cause) {
                cause.addSuppressed(e);
            }
        }
    }

    private void sleep() {
        // An interrupt would make parking return at once.
        Thread.interrupted();
        if (!stopped) {
            LockSupport.parkNanos(this, LOOK_NANOS);
        }
    }

    private long tail() {
        return work.begin() + work.logBytes();
    }

    /** Remembers an attempt that gained nothing, so that it is not repeated at once. */
    private void setAside() {
        notBefore = tail() + limit / 8;
        triedAt = System.nanoTime();
        triedNanos = triedAt - beganAt;
    }

    private boolean waits() {
        boolean grows = tail() < notBefore && !work.atCapacity();
        boolean rests = work.atCapacity() && System.nanoTime() - triedAt < RESTS * triedNanos;
        return grows || rests;
    }

    /** @return whether there was work to do */
    private boolean keepBelow() {
        if (limit == Long.MAX_VALUE || work.spaceBytes() <= limit / 4 * 3 || waits()) {
            return false;
        }
        double gained = 0;
        long first = work.begin();
        long goal = work.begin() + Math.max(0, work.logBytes() - limit / 2);
        while (work.begin() < goal && !stopped) {
            long before = work.begin();
            gained += work.compact(Math.min(goal - before, Math.max(1 << 20, limit / STEPS)));
            if (work.begin() == before) {
                break;
            }
        }
        // Two checkpoints are kept, and each needs the log from the address at which it began then.
        for (int i = 0; i < 2 && work.makesCheckpoints() && work.spaceBytes() > work.logBytes() && !stopped; i++) {
            checkpoint();
        }
        if (gained > (work.begin() - first) / LEAST_GAIN) {
            return true;
        }
        setAside();
        if ((work.spaceBytes() > limit || work.atCapacity()) && !stopped) {
            throw new StoreException(
                    "the store's log has " + work.spaceBytes() + " bytes after compaction, and its limit" + " is "
                            + limit + ": delete keys, or give it more space");
        }
        return true;
    }

    private boolean keepTime() {
        Duration time = every;
        if (time == null || Duration.ofNanos(System.nanoTime() - lastCheckpoint).compareTo(time) < 0 || stopped) {
            return false;
        }
        checkpoint();
        return true;
    }

    private void checkpoint() {
        work.checkpoint();
        lastCheckpoint = System.nanoTime();
    }

    /** Whether the calling thread is its own, which runs the listener. */
    public boolean runsHere() {
        return Thread.currentThread() == thread;
    }

    /** Waits for the work that is under way, and ends the thread. */
    @Override
    public void close() {
        stopped = true;
        LockSupport.unpark(thread);
        ThreadJoiner.join(thread);
    }
}
