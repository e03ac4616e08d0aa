package io.farheap.bench.kv.leases;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.farheap.kv.FarMap;
import io.farheap.kv.MapSession;
import io.farheap.kv.contract.KvHandler;
import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.contract.MapCounts;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;

/** A process's session of a map, which makes one request at a time. One thread at a time. */
final class LeaseClient implements AutoCloseable {

    /** As of YCSB: four letters and a number of 19 digits. */
    static final int KEY_BYTES = 23;

    private static final byte[] LETTERS = "user".getBytes(StandardCharsets.US_ASCII);
    private static final int DECIMAL = 10;
    /** A thread that shares its core with servers sleeps after so many polls that found nothing. */
    private static final int POLLS = 200;

    private static final long SLEEP_NANOS = 50_000;
    /** How long a set is tried again that finds no room. */
    private static final long PATIENCE_NANOS = 10_000_000_000L;

    private final FarMap map;
    private final MapSession session;
    private final boolean sleeps;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment key = arena.allocate(KEY_BYTES, Long.BYTES);
    private final MemorySegment value;
    private final KvHandler handler = (tag, ended, memory, at, bytes) -> status = ended;
    private int status;
    private long withoutRoom;

    /**
     * Opens a session.
     *
     * @param map of the process, which the caller closes
     * @param sleeps whether the thread sleeps while it waits for long, since there are not enough cores
     */
    LeaseClient(FarMap map, int valueBytes, boolean sleeps) {
        this.map = map;
        this.sleeps = sleeps;
        value = arena.allocate(Math.max(1, valueBytes), Long.BYTES).asSlice(0, valueBytes);
        MemorySegment.copy(LETTERS, 0, key, JAVA_BYTE, 0, LETTERS.length);
        session = map.openSession();
    }

    /** Gets a key, waits, and returns whether it was there. */
    boolean get(long number) {
        name(number);
        session.get(key, 0);
        await();
        if (status != KvStatus.DONE && status != KvStatus.ABSENT) {
            throw new IllegalStateException("a get of key " + number + ": " + KvStatus.describe(status));
        }
        return status == KvStatus.DONE;
    }

    /** Sets a key, and waits. */
    void set(long number) {
        name(number);
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        session.set(key, value, 0);
        await();
        while (status == KvStatus.NO_ROOM && System.nanoTime() - deadline < 0) {
            withoutRoom++;
            session.set(key, value, 0);
            await();
        }
        if (status != KvStatus.DONE) {
            throw new IllegalStateException("a set of key " + number + ": " + KvStatus.describe(status));
        }
    }

    private void name(long number) {
        long left = number;
        for (int at = KEY_BYTES - 1; at >= LETTERS.length; at--) {
            key.set(JAVA_BYTE, at, (byte) ('0' + left % DECIMAL));
            left /= DECIMAL;
        }
    }

    private void await() {
        int polls = 0;
        while (session.poll(handler) == 0) {
            if (sleeps && ++polls > POLLS) {
                session.await(SLEEP_NANOS);
            } else {
                Thread.onSpinWait();
            }
        }
    }

    /** Returns the counts of the process so far. */
    MapCounts counts() {
        return map.counts();
    }

    /** Returns how often a set found no room, and was tried again. */
    long withoutRoom() {
        return withoutRoom;
    }

    /** Lets another thread use this next. */
    void release() {
        session.release();
    }

    @Override
    public void close() {
        try (arena) {
            session.close();
        }
    }
}
