package io.farheap.bench.kv;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.kv.MapSession;
import io.farheap.kv.contract.KvHandler;
import io.farheap.kv.contract.KvStatus;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Makes requests of one session, for keys of 8 bytes by number: one at a time, or as many in flight as the session
 * accepts. One thread.
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

    /** Gets a key, waits, and returns whether it was present. */
    boolean get(long number) {
        key.set(JAVA_LONG, 0, number);
        session.get(key, 0);
        return await() == KvStatus.DONE;
    }

    /** Sets a key, and waits. */
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

    /** Waits for all requests. */
    void drain() {
        while (session.inFlight() > 0) {
            session.poll(handler);
        }
    }

    /** Whether all requests have ended. Does not wait. */
    boolean ended() {
        session.poll(handler);
        return session.inFlight() == 0;
    }

    /** Returns how many requests have succeeded so far. */
    long done() {
        return done;
    }

    /** Returns how many requests did not find their key so far. */
    long absent() {
        return absent;
    }

    @Override
    public void close() {
        session.close();
        arena.close();
    }
}
