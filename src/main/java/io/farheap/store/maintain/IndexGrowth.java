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

/** Doubles an index beside its use, on a thread that lives for as long as that takes. */
public final class IndexGrowth implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(IndexGrowth.class.getName());

    /** Buckets in one stay inside an epoch: the log's thread may wait for it. */
    private static final int BATCH = 64;

    /** Where there is no memory for a bucket's entries. */
    private static final long NAP_NANOS = 5_000_000;

    private final String name;
    private final HashIndex index;
    private final Epochs epochs;
    private final int epoch;
    private final RecordChains chains;
    private final AtomicBoolean growing = new AtomicBoolean();
    private volatile @Nullable Thread thread;
    /** Makes its threads. */
    public ThreadFactory threads;

    private volatile boolean stopped;
    private final AtomicLong failures = new AtomicLong();
    /** Since the index has grown last. */
    private boolean told;

    public IndexGrowth(String name, StoreContext parts) {
        this.name = name + "-index";
        this.threads = Thread.ofPlatform().daemon().name(this.name).factory();
        this.index = parts.index();
        this.epochs = parts.epochs();
        this.epoch = epochs.take();
        this.chains = new MemoryChains(parts.log(), parts.cache());
    }

    /** Begins where the index is crowded and does not grow already. Any thread. */
    public void look() {
        if (index.crowded() && !stopped && growing.compareAndSet(false, true)) {
            try {
                Thread made = threads.newThread(this::run);
                made.start();
                thread = made;
            } catch (Throwable e) {
                // The caller, who begins pages of the log, goes on.
                failed(e);
                growing.set(false);
            }
        }
    }

    /** Where there is no memory the index goes on with long chains, and this is tried again when the log has grown. */
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

    /** It never throws: its callers go on, one of them with an index that is divided in part. */
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
                // There is nothing left to say it with: figures say it.
            }
        }
    }

    /** How often there was no memory, or no thread. Any thread. */
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
                // Whoever has found something in the old table has left then.
                epochs.awaitAll();
                old.free();
            }
        } finally {
            growing.set(false);
        }
    }

    /** Sessions are closed: what is not divided stays so. */
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
