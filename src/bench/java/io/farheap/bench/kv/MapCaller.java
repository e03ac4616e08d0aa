package io.farheap.bench.kv;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.kv.MapSession;
import io.farheap.kv.contract.KvHandler;
import io.farheap.kv.contract.KvStatus;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Requests of one session, of keys of 8 bytes by number: one at a time, or as many in flight as it takes. One thread.
 */
final class MapCaller implements AutoCloseable {

    static final int KEY_BYTES = Long.BYTES;

    private final MapSession session;
    private final Arena arena = Arena.ofConfined();
    private final MemorySegment key = arena.allocate(KEY_BYTES, Long.BYTES);
    private final MemorySegment value;
    private final KvHandler handler = this::ended;
    private int status;
    private long done;
    private long absent;

    /** @param valueBytes of each object */
    MapCaller(MapSession session, int valueBytes) {
        this.session = session;
        value = arena.allocate(valueBytes, Long.BYTES);
    }

    MapSession session() {
        return session;
    }

    private void ended(long tag, int ended, MemorySegment memory, long at, int bytes) {
        status = ended;
        done += ended == KvStatus.DONE ? 1 : 0;
        absent += ended == KvStatus.ABSENT ? 1 : 0;
    }

    /** Whether the key was there; waits. */
    boolean get(long number) {
        key.set(JAVA_LONG, 0, number);
        session.get(key, 0);
        return await() == KvStatus.DONE;
    }

    /** Stores an object of the key, and waits. */
    void set(long number) {
        key.set(JAVA_LONG, 0, number);
        long deadline = System.nanoTime() + MapTrace.PATIENCE_NANOS;
        do {
            session.set(key, value, 0);
        } while (await() == KvStatus.NO_ROOM && System.nanoTime() < deadline);
        if (status != KvStatus.DONE) {
            throw new IllegalStateException("a set of key " + number + ": " + KvStatus.describe(status));
        }
    }

    private int await() {
        while (session.poll(handler) == 0) {
            Thread.onSpinWait();
        }
        return status;
    }

    /** Begins a get, as soon as there is room for it. */
    void beginGet(long number) {
        key.set(JAVA_LONG, 0, number);
        while (!session.get(key, 0)) {
            session.poll(handler);
        }
    }

    /** Begins a set, as soon as there is room for it. */
    void beginSet(long number) {
        key.set(JAVA_LONG, 0, number);
        while (!session.set(key, value, 0)) {
            session.poll(handler);
        }
    }

    /** Waits for all. */
    void drain() {
        while (session.inFlight() > 0) {
            session.poll(handler);
        }
    }

    /** Whether all have ended. Does not wait. */
    boolean ended() {
        session.poll(handler);
        return session.inFlight() == 0;
    }

    /** How many requests have ended well so far. */
    long done() {
        return done;
    }

    /** How many have not found their key so far. */
    long absent() {
        return absent;
    }

    @Override
    public void close() {
        session.close();
        arena.close();
    }
}
