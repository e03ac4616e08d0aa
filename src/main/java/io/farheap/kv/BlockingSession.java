package io.farheap.kv;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** The requests of a {@code Session} that wait, with byte arrays: each is one of those that do not, and polls. */
abstract class BlockingSession implements Waiting.Polled {

    /** The time to live of an object that stays until it is evicted. */
    static final long NEVER = 0;

    private final Waiting waiting = new Waiting(this, this::trouble);

    public abstract boolean get(MemorySegment key, long tag);

    public abstract boolean delete(MemorySegment key, long tag);

    public abstract boolean getAll(Batch keys, long tag);

    public abstract boolean setAll(Batch keysAndValues, long lifeMillis, long tag);

    public abstract boolean increment(MemorySegment key, long delta, long tag);

    public abstract boolean touch(MemorySegment key, long lifeMillis, long tag);

    abstract boolean store(int kind, MemorySegment key, MemorySegment value, long lifeMillis, long argument, long tag);

    public abstract int inFlight();

    /** As {@link Reconnects#trouble}. */
    abstract String trouble();

    /**
     * The value of a key, or null where the map does not have it. This and the other methods with byte arrays wait, as
     * long as the session has nothing else in flight.
     *
     * @throws MapException where a server is lost or there is no room
     * @throws IllegalStateException where something is in flight
     */
    public byte @Nullable [] get(byte[] key) {
        checkIdle();
        get(MemorySegment.ofArray(key), 0);
        return waiting.value();
    }

    /** As {@link #get(byte[])}, with the object's version. */
    public @Nullable Versioned getVersioned(byte[] key) {
        checkIdle();
        get(MemorySegment.ofArray(key), 0);
        return waiting.versioned();
    }

    /** Stores an object, and waits. */
    public void set(byte[] key, byte[] value) {
        set(key, value, NEVER);
    }

    /** Stores an object for a time, and waits. */
    public void set(byte[] key, byte[] value, long lifeMillis) {
        store(Operations.SET, key, value, 0, lifeMillis);
    }

    /** Stores an object whose key is not there, and waits; says whether it was stored. */
    public boolean add(byte[] key, byte[] value, long lifeMillis) {
        return store(Operations.ADD, key, value, 0, lifeMillis);
    }

    /** Stores an object whose key is there, and waits; says whether it was stored. */
    public boolean replace(byte[] key, byte[] value, long lifeMillis) {
        return store(Operations.REPLACE, key, value, 0, lifeMillis);
    }

    /** Stores an object in place of one of a version, and waits; says whether it was stored. */
    public boolean compareAndSet(byte[] key, byte[] value, long version, long lifeMillis) {
        return store(Operations.COMPARE_AND_SET, key, value, version, lifeMillis);
    }

    /**
     * Adds to a number, and waits.
     *
     * @return the sum; nothing where there is no number
     * @throws MapException also where the value does not have 8 bytes
     */
    public OptionalLong increment(byte[] key, long delta) {
        checkIdle();
        increment(MemorySegment.ofArray(key), delta, 0);
        return waiting.number();
    }

    /** The values of keys in their order, null where the map has none; waits. */
    public List<byte @Nullable []> getAll(List<byte[]> keys) {
        checkIdle();
        if (keys.isEmpty()) {
            return List.of();
        }
        Batch found = Batch.of(keys);
        getAll(found, 0);
        waiting.run();
        return found.found();
    }

    /** Stores a value for each key, for a time, and waits. Where that fails, some may be stored. */
    public void setAll(List<byte[]> keys, List<byte[]> values, long lifeMillis) {
        checkIdle();
        Batch stored = Batch.of(keys, values);
        if (!keys.isEmpty()) {
            setAll(stored, lifeMillis, 0);
            waiting.run();
        }
    }

    /** Gives an object another time to live, and waits; says whether it was there. */
    public boolean touch(byte[] key, long lifeMillis) {
        checkIdle();
        touch(MemorySegment.ofArray(key), lifeMillis, 0);
        return waiting.done();
    }

    /** Takes a key out, and waits; says whether it was there. */
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
    boolean restore(byte[] key, byte[] value, long ofVersion) {
        return store(Operations.RESTORE, key, value, ofVersion, NEVER);
    }

    private void checkIdle() {
        if (inFlight() > 0) {
            throw new IllegalStateException(
                    inFlight()
                            + " requests are in flight; poll until they have ended before one that waits, or use another session");
        }
    }
}
