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
import java.util.concurrent.locks.LockSupport;

/** A process's session of a map, which makes one request at a time. One thread at a time. */
final class LeaseClient implements KeyedClient, AutoCloseable {

    /** As of YCSB: four letters and a number of 19 digits. */
    static final int KEY_BYTES = 23;

    private static final byte[] LETTERS = "user".getBytes(StandardCharsets.US_ASCII);
    private static final int DECIMAL = 10;
    /** A thread that shares its core with servers sleeps after this number of polls that found nothing. */
    private static final int POLLS = 200;

    private static final long SLEEP_NANOS = 50_000;
    /** How long a set is tried again that finds no room. */
    private static final long PATIENCE_NANOS = 1_000_000_000L;
    /** Between two tries, so that a server has time to make room. */
    private static final long PAUSE_NANOS = 1_000_000;

    private final FarMap map;
    private final MapSession session;
    private final boolean sleeps;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment key = arena.allocate(KEY_BYTES, Long.BYTES);
    private final MemorySegment value;
    private final KvHandler handler = (tag, ended, memory, at, bytes) -> status = ended;
    private int status;
    private long withoutRoom;
    private long givenUp;

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
        try {
            session = map.openSession();
        } catch (Throwable e) {
            try (arena) {
                throw e;
            }
        }
    }

    @Override
    public boolean get(long number) {
        name(number);
        session.get(key, 0);
        await();
        if (status != KvStatus.DONE && status != KvStatus.ABSENT) {
            throw new IllegalStateException("a get of key " + number + ": " + KvStatus.describe(status));
        }
        return status == KvStatus.DONE;
    }

    /**
     * Sets a key, and waits. A set that finds no room for a second is counted, and sets nothing; later ones are not
     * tried again.
     */
    @Override
    public void set(long number) {
        name(number);
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        session.set(key, value, 0);
        await();
        // A map that had no room for a second is not waited for again: its side ends soon, and its row says so.
        while (status == KvStatus.NO_ROOM && givenUp == 0 && System.nanoTime() - deadline < 0) {
            withoutRoom++;
            LockSupport.parkNanos(PAUSE_NANOS);
            session.set(key, value, 0);
            await();
        }
        if (status == KvStatus.NO_ROOM) {
            withoutRoom++;
            givenUp++;
        } else if (status != KvStatus.DONE) {
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

    @Override
    public long pointerHits() {
        return map.counts().pointerHits();
    }

    @Override
    public long reads() {
        return map.counts().posted().reads();
    }

    /** Returns how many tries of sets found no room. */
    long withoutRoom() {
        return withoutRoom;
    }

    /** Returns how many sets found no room at all. */
    long givenUp() {
        return givenUp;
    }

    @Override
    public void release() {
        session.release();
    }

    @Override
    public void close() {
        try (arena) {
            session.close();
        }
    }
}
