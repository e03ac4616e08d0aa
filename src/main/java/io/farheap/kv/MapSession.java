package io.farheap.kv;

import io.farheap.kv.contract.KvHandler;
import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.contract.MapException;
import io.farheap.kv.contract.VersionedValue;
import io.farheap.kv.format.BlockFormat;
import io.farheap.kv.format.ValuePieces;
import io.farheap.kv.session.BlockingMapSession;
import io.farheap.kv.session.MapRequests;
import io.farheap.kv.space.RequestColumns;
import io.farheap.remote.contract.VerbCounts;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Requests to a map, from one thread at a time: the first that uses it, until that has {@linkplain #release released}
 * it or has ended. Any other, and a callback that polls, waits or closes, gets an {@link IllegalStateException}, and
 * nothing has changed. A request takes effect after earlier ones of the session on the same key; callbacks come in the
 * order of the requests. Requests allocate nothing but where an array says so.
 *
 * <p>Keys have 1 to 1,024 bytes, values up to {@link #MOST_VALUE_BYTES}. Where key and value have more than
 * {@link #MOST_OBJECT_BYTES} together, the value is in pieces. One request at a time stores such a value, one reads
 * one; the session keeps as much memory for each as the largest has needed.
 */
public final class MapSession implements AutoCloseable {

    public static final int MOST_VALUE_BYTES = ValuePieces.MOST_VALUE_BYTES;
    /**
     * Of a key, padded to 8 bytes, and a value that are in one block; less what the map's policy keeps with each
     * object.
     */
    public static final int MOST_OBJECT_BYTES = RequestColumns.MOST_BLOCK_BYTES - BlockFormat.HEADER_BYTES;

    private final MapRequests requests;
    private final BlockingMapSession blocking;

    /** @param requests closed with the session */
    MapSession(MapRequests requests) {
        this.requests = requests;
        this.blocking = new BlockingMapSession(requests);
    }

    /**
     * Begins a get.
     *
     * @param tag comes back with the outcome
     * @return false where too many requests are in flight: poll first
     * @throws IllegalArgumentException where the key is too long or empty
     */
    public boolean get(MemorySegment key, long tag) {
        return requests.get(key, tag);
    }

    /** Begins a delete; otherwise as {@link #get}. */
    public boolean delete(MemorySegment key, long tag) {
        return requests.delete(key, tag);
    }

    /**
     * Begins to get all keys of a batch, as many at a time as the session has room for, and posts what they need in a
     * list for each server. One callback comes when all have ended: as {@link KvStatus#LOST} where one was lost; the
     * batch says what became of each.
     *
     * @return false where another batch is under way
     */
    public boolean getAll(MapBatch keys, long tag) {
        return requests.getAll(keys.keys, tag);
    }

    /** Begins to set all keys of a batch, which are then there for a time; otherwise as {@link #getAll}. */
    public boolean setAll(MapBatch keysAndValues, long lifeMillis, long tag) {
        return requests.setAll(keysAndValues.keys, lifeMillis, tag);
    }

    /** Begins a set of an object that stays until it is evicted. */
    public boolean set(MemorySegment key, MemorySegment value, long tag) {
        return set(key, value, MapRequests.NEVER, tag);
    }

    /**
     * Begins a set; otherwise as {@link #get}. The value is copied before this returns.
     *
     * @param lifeMillis for how long the object may be found; 0 for ever
     * @return false where too many requests are in flight, or a value in pieces while another one is: poll first
     * @throws IllegalArgumentException where key or value are too long, or the time is negative
     */
    public boolean set(MemorySegment key, MemorySegment value, long lifeMillis, long tag) {
        return requests.store(RequestColumns.SET, key, value, lifeMillis, 0, tag);
    }

    /** Begins a set of a key that is not there, which ends as {@link KvStatus#EXISTS} where it is. */
    public boolean add(MemorySegment key, MemorySegment value, long lifeMillis, long tag) {
        return requests.store(RequestColumns.ADD, key, value, lifeMillis, 0, tag);
    }

    /** Begins a set of a key that is there, which ends as {@link KvStatus#ABSENT} where it is not. */
    public boolean replace(MemorySegment key, MemorySegment value, long lifeMillis, long tag) {
        return requests.store(RequestColumns.REPLACE, key, value, lifeMillis, 0, tag);
    }

    /**
     * Begins a set of an object that has not changed since it was read: where it has, it ends as
     * {@link KvStatus#CHANGED}, and where it is gone, as {@link KvStatus#ABSENT}. A touch is no change.
     *
     * @param version as {@link #version} said when the object was read or stored
     */
    public boolean compareAndSet(MemorySegment key, MemorySegment value, long version, long lifeMillis, long tag) {
        return requests.store(RequestColumns.COMPARE_AND_SET, key, value, lifeMillis, version, tag);
    }

    /**
     * Begins to add to a value of 8 bytes, little-endian, which goes on with the time to live that it has. The callback
     * has the sum. It ends as {@link KvStatus#ABSENT} where there is none, and as {@link KvStatus#NOT_A_NUMBER} where
     * the value is of another length. An add of 0 before makes sure that there is one.
     *
     * @param delta beyond 2^63 the sum goes round
     */
    public boolean increment(MemorySegment key, long delta, long tag) {
        return requests.increment(key, delta, tag);
    }

    /** Begins to give an object another time to live, counted from now; 0 for ever. */
    public boolean touch(MemorySegment key, long lifeMillis, long tag) {
        return requests.touch(key, lifeMillis, tag);
    }

    /**
     * Goes on with requests, and hands over those that have ended. Does not wait.
     *
     * @return how many have been handed over
     */
    public int poll(KvHandler to) {
        return requests.poll(to);
    }

    /** Sleeps until something may have ended, at most for a time. */
    public void await(long nanos) {
        requests.await(nanos);
    }

    /** Requests that have been made and not been handed over. */
    public int inFlight() {
        return requests.inFlight();
    }

    /**
     * For the handler of {@link #poll}, of the request that it is told of: the version of the object that was found or
     * stored, which no other object of the map has had or will have; 0 where there is none, and of deletes and touches.
     */
    public long version() {
        return requests.version();
    }

    /**
     * The value of a key, or null where the map does not have it. This and the other methods with byte arrays wait, as
     * long as the session has nothing else in flight.
     *
     * @throws MapException where a server is lost or there is no room
     * @throws IllegalStateException where something is in flight
     */
    public byte @Nullable [] get(byte[] key) {
        return blocking.get(key);
    }

    /** As {@link #get(byte[])}, with the object's version. */
    public @Nullable VersionedValue getVersioned(byte[] key) {
        return blocking.getVersioned(key);
    }

    /** Stores an object, and waits. */
    public void set(byte[] key, byte[] value) {
        blocking.set(key, value, MapRequests.NEVER);
    }

    /** Stores an object for a time, and waits. */
    public void set(byte[] key, byte[] value, long lifeMillis) {
        blocking.set(key, value, lifeMillis);
    }

    /** Stores an object whose key is not there, and waits; says whether it was stored. */
    public boolean add(byte[] key, byte[] value, long lifeMillis) {
        return blocking.add(key, value, lifeMillis);
    }

    /** Stores an object whose key is there, and waits; says whether it was stored. */
    public boolean replace(byte[] key, byte[] value, long lifeMillis) {
        return blocking.replace(key, value, lifeMillis);
    }

    /** Stores an object in place of one of a version, and waits; says whether it was stored. */
    public boolean compareAndSet(byte[] key, byte[] value, long version, long lifeMillis) {
        return blocking.compareAndSet(key, value, version, lifeMillis);
    }

    /**
     * Adds to a number, and waits.
     *
     * @return the sum; nothing where there is no number
     * @throws MapException also where the value does not have 8 bytes
     */
    public OptionalLong increment(byte[] key, long delta) {
        return blocking.increment(key, delta);
    }

    /** The values of keys in their order, null where the map has none; waits. */
    public List<byte @Nullable []> getAll(List<byte[]> keys) {
        return blocking.getAll(keys);
    }

    /** Stores a value for each key, for a time, and waits. Where that fails, some may be stored. */
    public void setAll(List<byte[]> keys, List<byte[]> values, long lifeMillis) {
        blocking.setAll(keys, values, lifeMillis);
    }

    /** Gives an object another time to live, and waits; says whether it was there. */
    public boolean touch(byte[] key, long lifeMillis) {
        return blocking.touch(key, lifeMillis);
    }

    /** Takes a key out, and waits; says whether it was there. */
    public boolean delete(byte[] key) {
        return blocking.delete(key);
    }

    /** Lets another thread use it from now on; the caller hands it over by whatever means threads have. */
    public void release() {
        requests.release();
    }

    /** What the session has posted since it was opened, an eviction's and what nobody waits for too. */
    public VerbCounts posted() {
        return requests.posted();
    }

    /** What is inside it. */
    MapRequests requests() {
        return requests;
    }

    /**
     * Requests in flight may take effect or not, and are not called back. It waits for them a little, and gives the
     * session's blocks back. Idempotent.
     *
     * @throws IllegalStateException in a callback, or where another thread has used it last, not released it, and
     *     lives; it stays as it is
     */
    @Override
    public void close() {
        requests.close();
    }
}
