package io.farheap.cache.order;

import io.farheap.lifetime.Closeables;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A buffer of a cache as its requests use it: memory that is registered with the cache's protection domain.
 * {@link io.farheap.cache.Buffer}, which the application uses, is the one class that extends it.
 */
public abstract class RequestBuffer implements AutoCloseable {

    /** The cache, as its buffers use it. */
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
    // Copies of the memory's own fields: every request reads them, and this saves it a load.
    private final long address;
    private final long bytes;
    private final int localKey;

    @SuppressWarnings("unused")
    private long usable;

    /** @param memory closing it ends the registration, and unmaps the segment if the cache mapped it */
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
     * How many bytes requests may use: all of them, or 0 once the buffer is closed. Sessions read it inside their gate,
     * as {@link #closed}.
     */
    public final long usableBytes() {
        return (long) USABLE.getOpaque(this);
    }

    /**
     * Sessions read it inside their gate. The cache sets it and then claims every session's gate, so that a session has
     * either issued its request before that claim, or sees the buffer closed.
     */
    public final boolean closed() {
        return usableBytes() == 0;
    }

    public final void closed(boolean value) {
        USABLE.setOpaque(this, value ? 0 : bytes);
    }

    /** Ends the registration. No request may use the buffer any more. */
    public final void free() {
        Closeables.all(memory);
    }
}
