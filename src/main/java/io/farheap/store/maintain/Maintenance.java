package io.farheap.store.maintain;

import io.farheap.store.contract.StoreException;
import io.farheap.thread.ThreadJoiner;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Keeps a store's log below a bound, and takes checkpoints in time, on a thread of its own. Where the device has more
 * than three quarters of the bound, the oldest part of the log is compacted until half of the bound is left, and
 * checkpoints are taken until none that is kept needs what was given back. Where that gives nothing back, since records
 * are live, it tries again when the log has grown by an eighth of the bound; or, where the log cannot grow, as the
 * device has no room, in eight times the time that it took.
 */
public final class Maintenance implements AutoCloseable {

    private static final long LOOK_NANOS = 20_000_000;
    /** Compaction that copies more than all but one of so many is not worth its writes. */
    private static final double LEAST_GAIN = 16;
    /** As many times longer than an attempt in vain the next one waits, where the log cannot grow. */
    private static final int RESTS = 8;
    /** One call of compaction: closing waits for that at most. */
    private static final int STEPS = 16;

    /** What it looks at and does: the store. */
    public interface MaintenanceTarget {

        /** Bytes from what the device has first to the tail. */
        long spaceBytes();

        /** Bytes of the log. */
        long logBytes();

        /** The log's first address. */
        long begin();

        /** Whether the log can grow no more. */
        boolean atCapacity();

        /** @return how many bytes of that were of no use any more, about */
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
    /** The tail from which on compaction is tried again. */
    private long notBefore;
    /** When it was tried last in vain, and for how long. */
    private long triedAt = System.nanoTime();

    private long triedNanos;
    private long beganAt = triedAt;

    /** @param every null for never */
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

    /** Why the last attempt at something failed; null where none did since, or none was made. */
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
            // What it was told cannot be suppressed in itself.
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

    /** Nothing was gained, so it is not tried again at once. */
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

    /** @return whether there was something to do */
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
        // Two are kept, and each needs the log from where it began then.
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

    /** What it is at ends first. */
    @Override
    public void close() {
        stopped = true;
        LockSupport.unpark(thread);
        ThreadJoiner.join(thread);
    }
}
