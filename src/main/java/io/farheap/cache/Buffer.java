package io.farheap.cache;

import io.farheap.lifetime.Closing;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Off-heap memory that is registered with a cache, by {@link Cache#allocate} or {@link Cache#register}: data moves
 * between it and the far memory with no copy in between. Any session of the cache may use it, several at once on parts
 * of their own.
 */
public final class Buffer implements AutoCloseable {

    /** The cache, as its buffers know it. */
    interface Owner {

        void close(Buffer buffer);
    }

    private static final VarHandle USABLE;

    static {
        try {
            USABLE = MethodHandles.lookup().findVarHandle(Buffer.class, "usable", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Owner owner;
    private final MemorySegment segment;
    private final AutoCloseable memory;
    // Of the memory's, a step nearer: every request reads them.
    private final long address;
    private final long bytes;
    private final int localKey;

    @SuppressWarnings("unused")
    private long usable;

    /** @param memory ends the registration, and unmaps the segment where it is the cache's */
    Buffer(Owner owner, MemorySegment segment, int localKey, AutoCloseable memory) {
        this.owner = owner;
        this.segment = segment;
        this.memory = memory;
        this.address = segment.address();
        this.bytes = segment.byteSize();
        this.localKey = localKey;
        this.usable = bytes;
    }

    /**
     * The memory itself. Where the cache allocated it, it is page-aligned, accessible to all threads, and access after
     * {@link #close} throws.
     */
    public MemorySegment segment() {
        return segment;
    }

    public long bytes() {
        return bytes;
    }

    /**
     * Ends the registration, and unmaps the memory where the cache allocated it.
     *
     * @throws IllegalStateException where a request that uses it has not finished; the buffer then stays open
     */
    @Override
    public void close() {
        owner.close(this);
    }

    /** Its cache. */
    Owner owner() {
        return owner;
    }

    long address() {
        return address;
    }

    int localKey() {
        return localKey;
    }

    /**
     * How many bytes requests may use: all, or none once it is closed. Read by sessions inside their gate, as
     * {@link #closed}.
     */
    long usableBytes() {
        return (long) USABLE.getOpaque(this);
    }

    /** Read by sessions inside their gate; the cache sets it and then claims every session's gate. */
    boolean closed() {
        return usableBytes() == 0;
    }

    void closed(boolean value) {
        USABLE.setOpaque(this, value ? 0 : bytes);
    }

    void free() {
        Closing.all(memory);
    }
}
