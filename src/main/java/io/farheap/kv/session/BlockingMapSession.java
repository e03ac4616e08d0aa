package io.farheap.kv.session;

import io.farheap.kv.contract.VersionedValue;
import io.farheap.kv.space.RequestColumns;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * A session's blocking requests, with byte arrays: each issues a request of an {@link EngineSession} and polls until it
 * has ended. They throw an {@link IllegalStateException} if a request is in flight.
 */
public final class BlockingMapSession {

    private final EngineSession requests;
    private final AwaitedRequest waiting;

    public BlockingMapSession(EngineSession requests) {
        this.requests = requests;
        this.waiting = new AwaitedRequest(requests);
    }

    public byte @Nullable [] get(byte[] key) {
        checkIdle();
        requests.get(MemorySegment.ofArray(key), 0);
        return waiting.value();
    }

    public @Nullable VersionedValue getVersioned(byte[] key) {
        checkIdle();
        requests.get(MemorySegment.ofArray(key), 0);
        return waiting.versioned();
    }

    public void set(byte[] key, byte[] value, long lifeMillis) {
        store(RequestColumns.SET, key, value, 0, lifeMillis);
    }

    public boolean add(byte[] key, byte[] value, long lifeMillis) {
        return store(RequestColumns.ADD, key, value, 0, lifeMillis);
    }

    public boolean replace(byte[] key, byte[] value, long lifeMillis) {
        return store(RequestColumns.REPLACE, key, value, 0, lifeMillis);
    }

    public boolean compareAndSet(byte[] key, byte[] value, long version, long lifeMillis) {
        return store(RequestColumns.COMPARE_AND_SET, key, value, version, lifeMillis);
    }

    public OptionalLong increment(byte[] key, long delta) {
        checkIdle();
        requests.increment(MemorySegment.ofArray(key), delta, 0);
        return waiting.number();
    }

    public List<byte @Nullable []> getAll(List<byte[]> keys) {
        checkIdle();
        if (keys.isEmpty()) {
            return List.of();
        }
        KeyBatch found = KeyBatch.of(keys);
        requests.getAll(found, 0);
        waiting.run();
        return found.found();
    }

    public void setAll(List<byte[]> keys, List<byte[]> values, long lifeMillis) {
        checkIdle();
        KeyBatch stored = KeyBatch.of(keys, values);
        if (!keys.isEmpty()) {
            requests.setAll(stored, lifeMillis, 0);
            waiting.run();
        }
    }

    public boolean touch(byte[] key, long lifeMillis) {
        checkIdle();
        requests.touch(MemorySegment.ofArray(key), lifeMillis, 0);
        return waiting.done();
    }

    public boolean delete(byte[] key) {
        checkIdle();
        requests.delete(MemorySegment.ofArray(key), 0);
        return waiting.done();
    }

    private boolean store(int kind, byte[] key, byte[] value, long argument, long lifeMillis) {
        checkIdle();
        requests.store(kind, MemorySegment.ofArray(key), MemorySegment.ofArray(value), lifeMillis, argument, 0);
        return waiting.done();
    }

    /** As {@link #compareAndSet(byte[], byte[], long, long)}, with the time to live that the object has. */
    public boolean restore(byte[] key, byte[] value, long ofVersion) {
        return store(RequestColumns.RESTORE, key, value, ofVersion, MapRequests.NEVER);
    }

    private void checkIdle() {
        if (requests.inFlight() > 0) {
            throw new IllegalStateException(
                    requests.inFlight()
                            + " requests are in flight; poll until they have ended before one that waits, or use another session");
        }
    }
}
