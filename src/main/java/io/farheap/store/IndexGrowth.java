package io.farheap.store;

import io.farheap.thread.Joining;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** Doubles an index beside its use, on a thread that lives for as long as that takes. */
final class IndexGrowth implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(IndexGrowth.class.getName());

    /** Buckets in one stay inside an epoch: the log's thread may wait for it. */
    private static final int BATCH = 64;

    private final String name;
    private final HashIndex index;
    private final Epochs epochs;
    private final int epoch;
    private final Chains chains;
    private final AtomicBoolean growing = new AtomicBoolean();
    private volatile @Nullable Thread thread;
    private volatile boolean stopped;
    private final AtomicLong failures = new AtomicLong();
    /** Since the index has grown last. */
    private boolean told;

    IndexGrowth(String name, StoreParts parts) {
        this.name = name + "-index";
        this.index = parts.index();
        this.epochs = parts.epochs();
        this.epoch = epochs.take();
        this.chains = new MemoryChains(parts.log(), parts.cache());
    }

    /** Begins where the index is crowded and does not grow already. Any thread. */
    void look() {
        if (index.crowded() && !stopped && growing.compareAndSet(false, true)) {
            thread = Thread.ofPlatform().daemon().name(name).start(this::run);
        }
    }

    /** Where there is no memory the index goes on with long chains, and this is tried again when the log has grown. */
    private boolean begun() {
        try {
            index.grow();
            told = false;
            return true;
        } catch (OutOfMemoryError | RuntimeException e) {
            failures.incrementAndGet();
            if (!told) {
                told = true;
                LOG.log(
                        System.Logger.Level.WARNING,
                        "the index of " + index.bytes() + " bytes cannot be doubled (" + name
                                + "): it becomes slower, and this is tried again",
                        e);
            }
            return false;
        }
    }

    /** How often there was no memory. Any thread. */
    long failures() {
        return failures.get();
    }

    private void run() {
        try {
            if (!begun()) {
                return;
            }
            for (long bucket = 0; bucket < index.toDivide() && !stopped; ) {
                epochs.enter(epoch);
                for (int i = 0; i < BATCH && bucket < index.toDivide(); i++) {
                    index.divide(bucket++, chains);
                }
                epochs.leave(epoch);
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
            Joining.join(running);
        }
        epochs.giveBack(epoch);
    }
}
