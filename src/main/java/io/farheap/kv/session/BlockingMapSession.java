package io.farheap.kv.session;

import io.farheap.kv.contract.VersionedValue;
import io.farheap.kv.space.Reconnects;
import io.farheap.kv.space.RequestColumns;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * The requests of {@link MapRequests} that wait, with byte arrays: each is one of those that do not, and polls. They
 * throw an {@link IllegalStateException} if something is in flight.
 */
public abstract class BlockingMapSession implements AwaitedRequest.Polled {

    /** The time to live of an object that stays until it is evicted. */
    public static final long NEVER = 0;

    private final AwaitedRequest waiting = new AwaitedRequest(this, this::trouble);

    public abstract boolean get(MemorySegment key, long tag);

    public abstract boolean delete(MemorySegment key, long tag);

    public abstract boolean getAll(KeyBatch keys, long tag);

    public abstract boolean setAll(KeyBatch keysAndValues, long lifeMillis, long tag);

    public abstract boolean increment(MemorySegment key, long delta, long tag);

    public abstract boolean touch(MemorySegment key, long lifeMillis, long tag);

    public abstract boolean store(
            int kind, MemorySegment key, MemorySegment value, long lifeMillis, long argument, long tag);

    public abstract int inFlight();

    /** As {@link Reconnects#trouble}. */
    public abstract String trouble();

    public byte @Nullable [] get(byte[] key) {
        checkIdle();
        get(MemorySegment.ofArray(key), 0);
        return waiting.value();
    }

    public @Nullable VersionedValue getVersioned(byte[] key) {
        checkIdle();
        get(MemorySegment.ofArray(key), 0);
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
        increment(MemorySegment.ofArray(key), delta, 0);
        return waiting.number();
    }

    public List<byte @Nullable []> getAll(List<byte[]> keys) {
        checkIdle();
        if (keys.isEmpty()) {
            return List.of();
        }
        KeyBatch found = KeyBatch.of(keys);
        getAll(found, 0);
        waiting.run();
        return found.found();
    }

    public void setAll(List<byte[]> keys, List<byte[]> values, long lifeMillis) {
        checkIdle();
        KeyBatch stored = KeyBatch.of(keys, values);
        if (!keys.isEmpty()) {
            setAll(stored, lifeMillis, 0);
            waiting.run();
        }
    }

    public boolean touch(byte[] key, long lifeMillis) {
        checkIdle();
        touch(MemorySegment.ofArray(key), lifeMillis, 0);
        return waiting.done();
    }

    public boolean delete(byte[] key) {
        checkIdle();
        delete(MemorySegment.ofArray(key), 0);
        return waiting.done();
    }

    private boolean store(int kind, byte[] key, byte[] value, long argument, long lifeMillis) {
        checkIdle();
        store(kind, MemorySegment.ofArray(key), MemorySegment.ofArray(value), lifeMillis, argument, 0);
        return waiting.done();
    }

    /** As {@link #compareAndSet(byte[], byte[], long, long)}, with the time to live that the object has. */
    public boolean restore(byte[] key, byte[] value, long ofVersion) {
        return store(RequestColumns.RESTORE, key, value, ofVersion, NEVER);
    }

    private void checkIdle() {
        if (inFlight() > 0) {
            throw new IllegalStateException(
                    inFlight()
                            + " requests are in flight; poll until they have ended before one that waits, or use another session");
        }
    }
}
