package io.farheap.cache.order;

import io.farheap.lifetime.Closeables;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * What requests know of a buffer of their cache: memory that is registered with it. The application's is the one class
 * that extends it.
 */
public abstract class RequestBuffer implements AutoCloseable {

    /** The cache, as its buffers know it. */
    public interface Owner {

        void close(RequestBuffer buffer);
    }

    private static final VarHandle USABLE;

    static {
        try {
            USABLE = MethodHandles.lookup().findVarHandle(RequestBuffer.class, "usable", long.class);
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
    public RequestBuffer(Owner owner, MemorySegment segment, int localKey, AutoCloseable memory) {
        this.owner = owner;
        this.segment = segment;
        this.memory = memory;
        this.address = segment.address();
        this.bytes = segment.byteSize();
        this.localKey = localKey;
        this.usable = bytes;
    }

    /** The memory itself. */
    public MemorySegment segment() {
        return segment;
    }

    public long bytes() {
        return bytes;
    }

    @Override
    public void close() {
        owner.close(this);
    }

    /** Its cache. */
    public final Owner owner() {
        return owner;
    }

    public final long address() {
        return address;
    }

    public final int localKey() {
        return localKey;
    }

    /**
     * How many bytes requests may use: all, or none once it is closed. Read by sessions inside their gate, as
     * {@link #closed}.
     */
    public final long usableBytes() {
        return (long) USABLE.getOpaque(this);
    }

    /** Read by sessions inside their gate; the cache sets it and then claims every session's gate. */
    public final boolean closed() {
        return usableBytes() == 0;
    }

    public final void closed(boolean value) {
        USABLE.setOpaque(this, value ? 0 : bytes);
    }

    public final void free() {
        Closeables.all(memory);
    }
}
