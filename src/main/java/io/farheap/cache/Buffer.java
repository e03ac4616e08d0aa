package io.farheap.cache;

import io.farheap.cache.order.RequestBuffer;
import java.lang.foreign.MemorySegment;

/**
 * Off-heap memory that is registered with a cache, by {@link Cache#allocate} or {@link Cache#register}: data moves
 * between it and the far memory with no copy in between. Any session of the cache may use it, several at once on parts
 * of their own.
 */
// What its superclass has beside this is for the cache alone.
@SuppressWarnings("exports")
public final class Buffer extends RequestBuffer {

    /** @param memory ends the registration, and unmaps the segment where it is the cache's */
    Buffer(Owner owner, MemorySegment segment, int localKey, AutoCloseable memory) {
        super(owner, segment, localKey, memory);
    }

    /**
     * The memory itself. Where the cache allocated it, it is page-aligned, accessible to all threads, and access after
     * {@link #close} throws.
     */
    @Override
    public MemorySegment segment() {
        return super.segment();
    }

    @Override
    public long bytes() {
        return super.bytes();
    }

    /**
     * Ends the registration, and unmaps the memory where the cache allocated it.
     *
     * @throws IllegalStateException where a request that uses it has not finished; the buffer then stays open
     */
    @Override
    public void close() {
        super.close();
    }
}
