package io.farheap.kv.session;

import io.farheap.kv.contract.KvHandler;
import io.farheap.remote.contract.VerbCounts;
import java.lang.foreign.MemorySegment;

/**
 * A session as a map's engine carries it out: its requests, alone and in batches. It belongs to one thread at a time:
 * the first that uses it, until that thread has released it or has ended. Another thread, and a callback that polls,
 * waits or closes, gets an {@link IllegalStateException}.
 *
 * <p>A request takes effect after earlier requests of the session for the same key, and requests are called back in
 * their order. Methods that begin one return false if there is no room for it.
 */
public interface EngineSession extends AutoCloseable {

    boolean get(MemorySegment key, long tag);

    boolean delete(MemorySegment key, long tag);

    /** @return false if another batch is under way */
    boolean getAll(KeyBatch keys, long tag);

    /** @return false if another batch is under way */
    boolean setAll(KeyBatch keysAndValues, long lifeMillis, long tag);

    boolean increment(MemorySegment key, long delta, long tag);

    boolean touch(MemorySegment key, long lifeMillis, long tag);

    /** @param kind of {@link io.farheap.kv.space.RequestColumns} */
    boolean store(int kind, MemorySegment key, MemorySegment value, long lifeMillis, long argument, long tag);

    /** @return for how many requests it has called back */
    int poll(KvHandler to);

    /** Sleeps until a request may have ended, for {@code nanos} ns at most. */
    void await(long nanos);

    int inFlight();

    /** The version of the object of the request that is called back; 0 if there is none. */
    long version();

    /** Whether no work is left that a poll of a session without requests would do. */
    boolean settled();

    /** What is wrong with the connections, for messages; empty if nothing is known. */
    String trouble();

    /** Whether no connection waits to be made again, as far as is known. */
    boolean isConnected();

    /** Whether requests end as lost from now on: the map was opened again, under other leases. */
    boolean isOver();

    /** Whether requests can be begun under new leases as soon as those in flight have ended. */
    boolean isReplaced();

    /** Whether nothing is in flight and no callback runs, so that this can be closed. */
    boolean mayClose();

    void release();

    VerbCounts posted();

    /** Requests in flight may take effect or not, and are not called back. Idempotent. */
    @Override
    void close();
}
