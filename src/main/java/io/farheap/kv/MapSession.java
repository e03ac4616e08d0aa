package io.farheap.kv;

import io.farheap.kv.contract.KvHandler;
import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.contract.MapException;
import io.farheap.kv.contract.VersionedValue;
import io.farheap.kv.format.BlockFormat;
import io.farheap.kv.format.ValuePieces;
import io.farheap.kv.session.BlockingMapSession;
import io.farheap.kv.session.EngineSession;
import io.farheap.kv.session.MapRequests;
import io.farheap.kv.space.RequestColumns;
import io.farheap.remote.contract.VerbCounts;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Requests to a map, from one thread at a time. A session belongs to the first thread that uses it, until that thread
 * {@linkplain #release releases} it or ends. Another thread, and a callback that polls, waits or closes, receives an
 * {@link IllegalStateException}, and the session is unchanged. A request takes effect after earlier requests of the
 * session for the same key, and callbacks come in the order of the requests. Only the methods with arrays allocate.
 *
 * <p>If a lease is lost, as in a long pause of the process, requests in flight end as {@link KvStatus#LOST}; when all
 * servers are reached again, later requests work as before. A request that is in flight for seconds while the session
 * is not polled may end as {@link KvStatus#LOST} too.
 *
 * <p>Keys have 1 to 1,024 bytes, values up to {@link #MOST_VALUE_BYTES}. If key and value together have more than
 * {@link #MOST_OBJECT_BYTES}, the value is stored in pieces. One request at a time can store such a value, and one can
 * read one; for each of these two the session keeps as much memory as the largest value has needed.
 */
public final class MapSession implements AutoCloseable {

    /** The most bytes of a value. */
    public static final int MOST_VALUE_BYTES = ValuePieces.MOST_VALUE_BYTES;
    /**
     * The most bytes that a key, padded to 8 bytes, and its value have together if one block holds them; minus the
     * bytes that the map's policy keeps with each object.
     */
    public static final int MOST_OBJECT_BYTES = RequestColumns.MOST_BLOCK_BYTES - BlockFormat.HEADER_BYTES;

    private static final long AGAIN_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Supplier<EngineSession> again;
    private EngineSession requests;
    private BlockingMapSession blocking;
    private long nextTry = System.nanoTime();

    /**
     * @param requests closed with the session
     * @param again opens others if the map has been opened again, under other leases
     */
    MapSession(EngineSession requests, Supplier<EngineSession> again) {
        this.again = again;
        this.requests = requests;
        this.blocking = new BlockingMapSession(requests);
    }

    /**
     * Called before each request. If the map has been opened again, the session continues under the new leases once its
     * requests in flight have ended.
     *
     * @return false while these have not
     */
    private boolean ready() {
        return !requests.isOver() && !requests.isReplaced() || continued();
    }

    private boolean continued() {
        if (!requests.mayClose()) {
            return false;
        }
        if (System.nanoTime() - nextTry < 0) {
            return true;
        }
        EngineSession before = requests;
        try {
            requests = again.get();
        } catch (RuntimeException e) {
            // The new leases may be lost too; until there are others, requests end as lost.
            nextTry = System.nanoTime() + AGAIN_NANOS;
            return true;
        }
        blocking = new BlockingMapSession(requests);
        before.close();
        return true;
    }

    /** For requests that wait; they find the session idle, or throw. */
    private BlockingMapSession blocking() {
        ready();
        return blocking;
    }

    /** Begins a request that stores, of a kind of {@link RequestColumns}; otherwise as {@link #set}. */
    boolean store(int kind, MemorySegment key, MemorySegment value, long lifeMillis, long argument, long tag) {
        return ready() && requests.store(kind, key, value, lifeMillis, argument, tag);
    }

    /**
     * Begins to get the value of a key.
     *
     * @param tag is passed to the callback
     * @return false if too many requests are in flight: poll first. Also if the map was opened again, and requests from
     *     before are in flight or this is called in a callback: poll, and make the request after that poll has returned
     * @throws IllegalArgumentException if the key is too long or empty
     */
    public boolean get(MemorySegment key, long tag) {
        return ready() && requests.get(key, tag);
    }

    /** Begins to delete a key; otherwise as {@link #get}. */
    public boolean delete(MemorySegment key, long tag) {
        return ready() && requests.delete(key, tag);
    }

    /**
     * Begins to get all keys of a batch, as many at a time as the session has room for; the operations for one server
     * are posted as one list. One callback comes when all keys have ended, without a value. Its status is
     * {@link KvStatus#LOST} if a key was lost. Otherwise it is that of the last key that {@linkplain MapException#isOf
     * failed}, and {@link KvStatus#DONE} if no key failed: a key that the map does not have is no failure. The batch
     * has the status of each key.
     *
     * @return false if another batch is under way
     * @throws IllegalArgumentException if the batch is empty, or has keys with values
     */
    public boolean getAll(MapBatch keys, long tag) {
        return ready() && requests.getAll(keys.keys, tag);
    }

    /**
     * Begins to set all keys of a batch, each for a time to live; otherwise as {@link #getAll}.
     *
     * @param lifeMillis as of {@link #set(MemorySegment, MemorySegment, long, long)}
     * @throws IllegalArgumentException if the batch is empty, or has keys without values, or a value is too long
     */
    public boolean setAll(MapBatch keysAndValues, long lifeMillis, long tag) {
        return ready() && requests.setAll(keysAndValues.keys, lifeMillis, tag);
    }

    /** Begins a set of an object that stays until it is evicted. */
    public boolean set(MemorySegment key, MemorySegment value, long tag) {
        return set(key, value, MapRequests.NEVER, tag);
    }

    /**
     * Begins a set; otherwise as {@link #get}. The value is copied before this returns.
     *
     * @param lifeMillis the time to live; 0: until it is evicted
     * @return false if too many requests are in flight, or this value needs pieces and another such set is under way:
     *     poll first
     * @throws IllegalArgumentException if the key is empty, the key or the value is too long, or the time is negative
     *     or above 2^47 ms
     */
    public boolean set(MemorySegment key, MemorySegment value, long lifeMillis, long tag) {
        return store(RequestColumns.SET, key, value, lifeMillis, 0, tag);
    }

    /** Begins a set of a key that must be absent; it ends as {@link KvStatus#EXISTS} if the map has the key. */
    public boolean add(MemorySegment key, MemorySegment value, long lifeMillis, long tag) {
        return store(RequestColumns.ADD, key, value, lifeMillis, 0, tag);
    }

    /** Begins a set of a key that must be present; it ends as {@link KvStatus#ABSENT} if the map does not have it. */
    public boolean replace(MemorySegment key, MemorySegment value, long lifeMillis, long tag) {
        return store(RequestColumns.REPLACE, key, value, lifeMillis, 0, tag);
    }

    /**
     * Begins a set of an object that must not have changed since it was read: it ends as {@link KvStatus#CHANGED} if
     * the object has changed, and as {@link KvStatus#ABSENT} if it is gone. A touch does not count as a change.
     *
     * @param version that {@link #version} returned when the object was read or stored
     */
    public boolean compareAndSet(MemorySegment key, MemorySegment value, long version, long lifeMillis, long tag) {
        return store(RequestColumns.COMPARE_AND_SET, key, value, lifeMillis, version, tag);
    }

    /**
     * Begins to add to a number: a value of 8 bytes, little-endian, which keeps its time to live. The callback receives
     * the sum. It ends as {@link KvStatus#ABSENT} if the map does not have the key, and as
     * {@link KvStatus#NOT_A_NUMBER} if the value has another length. To begin at 0, {@link #add add} a value of 0
     * first.
     *
     * @param delta is added modulo 2^64
     */
    public boolean increment(MemorySegment key, long delta, long tag) {
        return ready() && requests.increment(key, delta, tag);
    }

    /** Begins to give an object another time to live, which counts from now; 0: until it is evicted. */
    public boolean touch(MemorySegment key, long lifeMillis, long tag) {
        return ready() && requests.touch(key, lifeMillis, tag);
    }

    /**
     * Continues the requests in flight and calls back for those that have ended. Does not wait.
     *
     * @return for how many requests it has called back
     */
    public int poll(KvHandler to) {
        return requests.poll(to);
    }

    /** Sleeps until a request may have ended, for {@code nanos} ns at most. */
    public void await(long nanos) {
        requests.await(nanos);
    }

    /** Requests that have been made and not been called back for. */
    public int inFlight() {
        return requests.inFlight();
    }

    /**
     * The version of the object that was found or stored, for a handler to ask while {@link #poll} calls it. No other
     * object of the map has had or will have this version. 0 if there is no object, and for deletes and touches.
     */
    public long version() {
        return requests.version();
    }

    /**
     * The value of a key, or null if the map does not have it. This and the other methods with arrays and lists of
     * arrays wait for their result, and work only while the session has nothing else in flight.
     *
     * @throws MapException if a server is lost or there is no room
     * @throws IllegalStateException if a request is in flight
     */
    public byte @Nullable [] get(byte[] key) {
        return blocking().get(key);
    }

    /** As {@link #get(byte[])}, with the object's version. */
    public @Nullable VersionedValue getVersioned(byte[] key) {
        return blocking().getVersioned(key);
    }

    /** Stores an object, and waits. */
    public void set(byte[] key, byte[] value) {
        blocking().set(key, value, MapRequests.NEVER);
    }

    /** Stores an object for a time, and waits. */
    public void set(byte[] key, byte[] value, long lifeMillis) {
        blocking().set(key, value, lifeMillis);
    }

    /** Stores an object if its key is absent, and waits; returns whether it was stored. */
    public boolean add(byte[] key, byte[] value, long lifeMillis) {
        return blocking().add(key, value, lifeMillis);
    }

    /** Stores an object if its key is present, and waits; returns whether it was stored. */
    public boolean replace(byte[] key, byte[] value, long lifeMillis) {
        return blocking().replace(key, value, lifeMillis);
    }

    /** Replaces an object if it still has this version, and waits; returns whether it was stored. */
    public boolean compareAndSet(byte[] key, byte[] value, long version, long lifeMillis) {
        return blocking().compareAndSet(key, value, version, lifeMillis);
    }

    /**
     * Adds to a number, and waits.
     *
     * @return the sum; empty if the map does not have the key
     * @throws MapException also if the value does not have 8 bytes
     */
    public OptionalLong increment(byte[] key, long delta) {
        return blocking().increment(key, delta);
    }

    /** The values of keys in their order, null for a key that the map does not have; waits. */
    public List<byte @Nullable []> getAll(List<byte[]> keys) {
        return blocking().getAll(keys);
    }

    /** Stores a value for each key, for a time, and waits. If it fails, some of them may be stored. */
    public void setAll(List<byte[]> keys, List<byte[]> values, long lifeMillis) {
        blocking().setAll(keys, values, lifeMillis);
    }

    /** Gives an object another time to live, and waits; returns whether the map has the key. */
    public boolean touch(byte[] key, long lifeMillis) {
        return blocking().touch(key, lifeMillis);
    }

    /** Deletes a key, and waits; returns whether the map had it. */
    public boolean delete(byte[] key) {
        return blocking().delete(key);
    }

    /** Lets another thread use the session from now on. The caller must publish it to that thread safely. */
    public void release() {
        requests.release();
    }

    /**
     * How many operations the session has posted under its present leases, with those of evictions and of background
     * work.
     */
    public VerbCounts posted() {
        return requests.posted();
    }

    /** Whether no connection of the session waits to be made again, as far as is known. */
    boolean isConnected() {
        return requests.isConnected();
    }

    /** As {@link EngineSession#trouble}. */
    String trouble() {
        return requests.trouble();
    }

    /** The session's requests under its present leases, of the disaggregated engine. */
    MapRequests requests() {
        return (MapRequests) requests;
    }

    /**
     * Closes the session: requests in flight may take effect or not, and are not called back. The session waits a short
     * time for them, and gives its free blocks back. Idempotent.
     *
     * @throws IllegalStateException if a callback closes it, or if the thread that used it last lives and has not
     *     released it; the session stays open
     */
    @Override
    public void close() {
        requests.close();
    }
}
