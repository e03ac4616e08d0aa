package io.farheap.bench.move;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.cache.Buffer;
import io.farheap.cache.Cache;
import io.farheap.cache.CacheSession;
import io.farheap.cache.contract.Completion;
import io.farheap.cache.contract.Status;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * One thread that reads or writes 8-byte records at random addresses of all regions. It does not wait for requests that
 * a migration holds: if a region has its share of waiting requests, its records are skipped. Counts the requests that
 * are done, and the longest time of a request from issue to callback.
 */
public final class MigrationLoad implements AutoCloseable {

    static final int RECORD_BYTES = 8;
    private static final int REQUESTS = 256;
    private static final long STILL_NANOS = 1_000_000;
    private static final VarHandle DONE;

    static {
        try {
            DONE = MethodHandles.lookup().findVarHandle(MigrationLoad.class, "done", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final CacheSession session;
    private final Buffer buffer;
    private final boolean write;
    /** The expected content of the cache, if it is checked; else null. */
    private final @Nullable RecordContent content;

    private final SplittableRandom random;
    private final long regionBytes;
    private final int regions;
    private final int share;
    private final int[] waiting;
    private final int[] free = new int[REQUESTS];
    private final int[] regionOf = new int[REQUESTS];
    private final long[] issuedAt = new long[REQUESTS];
    private int freeCount;
    private long now;
    private long done;
    private long failed;
    private volatile long longest;
    private volatile boolean resetLongest;
    private volatile boolean paused;
    private volatile boolean still;
    private volatile boolean stopped;
    private final Thread thread;
    private final Completion onDone = this::completed;

    public MigrationLoad(Cache cache, boolean write, long seed) {
        this(cache, write, seed, null);
    }

    /** @param content records each write, as the expected content of the cache; null if it is not checked */
    public MigrationLoad(Cache cache, boolean write, long seed, @Nullable RecordContent content) {
        this.write = write;
        this.content = content;
        this.random = new SplittableRandom(seed);
        this.regions = cache.regions();
        this.regionBytes = cache.regionBytes();
        this.share = Math.max(1, REQUESTS / (regions + 1));
        this.waiting = new int[regions];
        for (int slot = REQUESTS - 1; slot >= 0; slot--) {
            free[freeCount++] = slot;
        }
        session = cache.openSession();
        try {
            buffer = cache.allocate((long) REQUESTS * RECORD_BYTES);
        } catch (Throwable e) {
            session.close();
            throw e;
        }
        thread = Thread.ofPlatform()
                .name("farheap-load-" + (write ? "write" : "read"))
                .start(this::run);
    }

    /** Returns how many requests are done so far. */
    long done() {
        return (long) DONE.getOpaque(this);
    }

    /** Whether the load is running: it ends early if a call of the session throws. */
    public boolean running() {
        return thread.isAlive();
    }

    /** Returns the longest time of a request since {@link #forgetLongest}, in ns. */
    long longestNanos() {
        return longest;
    }

    /** Resets the longest time; returns when the load's thread has done that. */
    void forgetLongest() {
        resetLongest = true;
        while (resetLongest && running()) {
            Thread.onSpinWait();
        }
    }

    /** Returns when all requests are done, and none is issued until {@link #resume}. */
    public void pause() {
        paused = true;
        while (!still && running()) {
            Thread.yield();
        }
    }

    public void resume() {
        paused = false;
        while (still && running()) {
            Thread.yield();
        }
    }

    private void run() {
        try {
            now = System.nanoTime();
            while (!stopped) {
                if (paused) {
                    standStill();
                }
                step();
            }
            session.drain();
            session.release();
        } catch (RuntimeException e) {
            failed++;
            System.err.println("farheap: the load ended early: " + e);
        }
    }

    private void standStill() {
        session.drain();
        still = true;
        while (paused && !stopped) {
            LockSupport.parkNanos(STILL_NANOS);
        }
        still = false;
        now = System.nanoTime();
    }

    private void step() {
        if (resetLongest) {
            longest = 0;
            resetLongest = false;
        }
        int region = random.nextInt(regions);
        if (freeCount > 0 && waiting[region] < share) {
            issue(region);
        }
        session.poll();
        long after = System.nanoTime();
        if (after - now > longest) {
            longest = after - now;
        }
        now = after;
    }

    private void issue(int region) {
        int slot = free[freeCount - 1];
        long address = region * regionBytes + random.nextLong(regionBytes / RECORD_BYTES) * RECORD_BYTES;
        long at = (long) slot * RECORD_BYTES;
        RecordContent told = write ? content : null;
        if (told != null) {
            buffer.segment().set(JAVA_LONG, at, told.next(address / RECORD_BYTES));
        }
        boolean accepted = write
                ? session.write(address, buffer, at, RECORD_BYTES, onDone, slot)
                : session.read(address, buffer, at, RECORD_BYTES, onDone, slot);
        if (accepted) {
            if (told != null) {
                told.wrote(address / RECORD_BYTES);
            }
            freeCount--;
            waiting[region]++;
            regionOf[slot] = region;
            issuedAt[slot] = now;
        }
    }

    private void completed(long token, int status) {
        int slot = (int) token;
        free[freeCount++] = slot;
        waiting[regionOf[slot]]--;
        if (status != Status.OK) {
            failed++;
        }
        // Measured up to the beginning of this turn; the time of the turn itself is examined when it ends.
        long took = now - issuedAt[slot];
        if (took > longest) {
            longest = took;
        }
        DONE.setOpaque(this, done + 1);
    }

    /** @throws IllegalStateException if a request failed */
    @Override
    public void close() {
        long failures = end();
        if (failures > 0) {
            throw new IllegalStateException(failures + " requests of the load failed");
        }
    }

    /**
     * As {@link #close}, but does not throw if requests failed.
     *
     * @return how many failed
     */
    public long end() {
        stopped = true;
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted", e);
        }
        session.close();
        buffer.close();
        return failed;
    }
}
