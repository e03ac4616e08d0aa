package io.farheap.store.maintain;

import io.farheap.store.index.HashIndex;
import io.farheap.store.index.IndexTable;
import io.farheap.store.index.RecordChains;
import io.farheap.store.log.Epochs;
import io.farheap.store.log.MemoryChains;
import io.farheap.store.operation.StoreContext;
import io.farheap.thread.ThreadJoiner;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Doubles an index while sessions use it, on a thread that lives for as long as that takes ({@link HashIndex} explains
 * how).
 */
public final class IndexGrowth implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(IndexGrowth.class.getName());

    /** How many buckets are divided inside one epoch; the log's thread may wait for the epoch to end. */
    private static final int BATCH = 64;

    /** The pause before another attempt, if there was no memory for a bucket's entries. */
    private static final long NAP_NANOS = 5_000_000;

    private final String name;
    private final HashIndex index;
    private final Epochs epochs;
    private final int epoch;
    private final RecordChains chains;
    private final AtomicBoolean growing = new AtomicBoolean();
    private volatile @Nullable Thread thread;
    /** Makes the threads on which the index grows; tests set one that fails. */
    public ThreadFactory threads;

    private volatile boolean stopped;
    private final AtomicLong failures = new AtomicLong();
    /** Whether a failure was logged since the index last grew. */
    private boolean told;

    public IndexGrowth(String name, StoreContext parts) {
        this.name = name + "-index";
        this.threads = Thread.ofPlatform().daemon().name(this.name).factory();
        this.index = parts.index();
        this.epochs = parts.epochs();
        this.epoch = epochs.take();
        this.chains = new MemoryChains(parts.log(), parts.cache());
    }

    /** Starts to double the index if its chains are long and it does not grow already. Any thread. */
    public void look() {
        if (index.crowded() && !stopped && growing.compareAndSet(false, true)) {
            try {
                Thread made = threads.newThread(this::run);
                made.start();
                thread = made;
            } catch (Throwable e) {
                // The caller is the log's thread, which must continue.
                failed(e);
                growing.set(false);
            }
        }
    }

    /**
     * Begins to double. If there is no memory, the index keeps its long chains, and this is tried again when the log
     * gets its next page.
     */
    private boolean begun() {
        try {
            index.grow();
            told = false;
            return true;
        } catch (OutOfMemoryError | RuntimeException e) {
            failed(e);
            return false;
        }
    }

    /**
     * Counts and logs a failure. It never throws, since its callers must continue, one of them with an index that is
     * partly divided.
     */
    private void failed(Throwable e) {
        failures.incrementAndGet();
        if (!told) {
            told = true;
            try {
                LOG.log(
                        System.Logger.Level.WARNING,
                        "the index of " + index.bytes() + " bytes cannot be doubled (" + name
                                + "): it becomes slower, and this is tried again",
                        e);
            } catch (Throwable unsaid) {
                // The log failed, too. The count of failures remains.
            }
        }
    }

    /** How often there was no memory to grow, or no thread. Any thread. */
    public long failures() {
        return failures.get();
    }

    /** Divides some buckets. @return the next one */
    private long divide(long first) {
        long end = Math.min(first + BATCH, index.toDivide());
        epochs.enter(epoch);
        try {
            for (long bucket = first; bucket < end; bucket++) {
                index.divide(bucket, chains);
            }
        } finally {
            epochs.leave(epoch);
        }
        return end;
    }

    private void run() {
        try {
            if (!begun()) {
                return;
            }
            for (long bucket = 0; bucket < index.toDivide() && !stopped; ) {
                try {
                    bucket = divide(bucket);
                } catch (OutOfMemoryError | RuntimeException e) {
                    failed(e);
                    LockSupport.parkNanos(NAP_NANOS);
                }
            }
            if (!stopped) {
                IndexTable old = index.grown();
                // After this, no session that has found an entry in the old table still uses it.
                epochs.awaitAll();
                old.free();
            }
        } finally {
            growing.set(false);
        }
    }

    /** Ends growth, with buckets left undivided. All sessions are closed. */
    @Override
    public void close() {
        stopped = true;
        Thread running = thread;
        if (running != null) {
            ThreadJoiner.join(running);
        }
        epochs.giveBack(epoch);
    }
}
