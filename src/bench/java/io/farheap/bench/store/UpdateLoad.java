package io.farheap.bench.store;

import io.farheap.bench.ycsb.DataSet;
import io.farheap.store.FarStore;
import io.farheap.store.StoreSession;
import io.farheap.store.contract.StoreStatus;
import io.farheap.thread.ThreadJoiner;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A thread that reads and writes records of a store, half of each, uniformly, until it is closed. Values are derived
 * from keys, and each value that is read is checked.
 */
final class UpdateLoad implements AutoCloseable {

    private static final int GROUP = 64;
    private static final long STILL_NANOS = 1_000_000;
    static final long SETTLE_NANOS = 20_000_000;

    private final DataSet data;
    private final FarStore store;
    private final Thread thread;
    private final AtomicLong done = new AtomicLong();
    private final AtomicLong failed = new AtomicLong();
    private volatile boolean ends;
    private volatile boolean paused;
    private volatile boolean still;
    private volatile @Nullable Throwable failure;

    UpdateLoad(FarStore store, DataSet data) {
        this.store = store;
        this.data = data;
        this.thread = Thread.ofPlatform().name("load").start(this::run);
    }

    /** Writes every record, on the calling thread. */
    static void fill(FarStore store, DataSet data) {
        try (StoreSession session = store.openSession();
                Arena arena = Arena.ofConfined()) {
            MemorySegment value = arena.allocate(data.valueBytes(), Long.BYTES);
            for (long key = 0; key < data.records(); key++) {
                upsert(session, data, key, value);
            }
        }
    }

    private static void upsert(StoreSession session, DataSet data, long key, MemorySegment value) {
        data.fill(value, 0, key);
        for (int status = session.upsert(key, value, 0, data.valueBytes());
                status != StoreStatus.DONE;
                status = session.upsert(key, value, 0, data.valueBytes())) {
            if (status != StoreStatus.FULL) {
                throw new IllegalStateException("an upsert has ended with: " + StoreStatus.describe(status));
            }
            session.poll();
        }
    }

    private void run() {
        try (StoreSession session = store.openSession();
                Arena arena = Arena.ofShared()) {
            MemorySegment written = arena.allocate(data.valueBytes(), Long.BYTES);
            MemorySegment read = arena.allocate((long) GROUP * data.valueBytes(), Long.BYTES);
            long[] keys = new long[GROUP];
            SplittableRandom random = new SplittableRandom(1);
            while (!ends) {
                if (paused) {
                    standStill();
                }
                for (int i = 0; i < GROUP; i++) {
                    keys[i] = random.nextLong(data.records());
                }
                read(session, keys, read);
                for (int i = 0; i < GROUP; i++) {
                    upsert(session, data, random.nextLong(data.records()), written);
                }
                done.setOpaque(done.getPlain() + 2 * GROUP);
                session.poll();
            }
        } catch (Throwable e) {
            failure = e;
        }
    }

    private void standStill() {
        still = true;
        while (paused && !ends) {
            LockSupport.parkNanos(STILL_NANOS);
        }
        still = false;
    }

    /** Returns when no operation is under way; none begins until {@link #resume}. */
    void pause() {
        paused = true;
        while (!still && thread.isAlive()) {
            Thread.yield();
        }
    }

    /** Returns when the load continues. */
    void resume() {
        paused = false;
        while (still && thread.isAlive()) {
            Thread.yield();
        }
    }

    /** Reads; all requests have ended when it returns. */
    private void read(StoreSession session, long[] keys, MemorySegment into) {
        int at = 0;
        while (at < GROUP) {
            at += session.readAll(
                    keys,
                    at,
                    GROUP - at,
                    into,
                    0,
                    data.valueBytes(),
                    (token, status, bytes) -> {
                        if (status != StoreStatus.DONE) {
                            failed.incrementAndGet();
                        }
                    },
                    0);
            if (at < GROUP) {
                session.poll();
            }
        }
        session.drain();
        for (int i = 0; i < GROUP; i++) {
            if (failed.getPlain() == 0 && !data.matches(into, (long) i * data.valueBytes(), keys[i])) {
                throw new IllegalStateException("a wrong value of key " + keys[i]);
            }
        }
    }

    /** Returns operations that have ended. */
    long done() {
        Throwable cause = failure;
        if (cause != null) {
            throw new IllegalStateException("the load has failed: " + cause, cause);
        }
        return done.getOpaque();
    }

    /** Returns reads that did not find the expected value. */
    long failed() {
        return failed.get();
    }

    /** Measures the rate of a load. */
    @FunctionalInterface
    interface Meter {

        /** Returns operations a second over a time, which lasts until at least one has ended. */
        double rate(long nanos) throws InterruptedException;
    }

    /**
     * Returns operations a second of a load that has stood still, after a time that does not count: other data has
     * replaced its own in the processor's caches.
     *
     * @param resume returns when the load continues
     */
    static double settled(Runnable resume, Meter meter, long nanos) throws InterruptedException {
        resume.run();
        meter.rate(SETTLE_NANOS);
        return meter.rate(nanos);
    }

    /** Returns operations a second over a time, which lasts until at least one has ended. */
    double rate(long nanos) throws InterruptedException {
        long before = done();
        long begun = System.nanoTime();
        do {
            Thread.sleep(nanos / 1_000_000);
        } while (done() == before);
        return (done() - before) * 1e9 / (System.nanoTime() - begun);
    }

    @Override
    public void close() {
        ends = true;
        ThreadJoiner.join(thread);
        done();
    }
}
