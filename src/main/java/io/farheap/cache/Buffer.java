package io.farheap.cache;

import io.farheap.memory.RegisteredMemory;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Registered off-heap memory of a cache, from {@link Cache#allocate}: data moves between it and the far memory with no copy in
 * between. Any session of the cache may use it, several at once on parts of their own.
 */
public final class Buffer implements AutoCloseable {

    private static final VarHandle CLOSED;

    static {
        try {
            CLOSED = MethodHandles.lookup().findVarHandle(Buffer.class, "closed", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Cache cache;
    private final RegisteredMemory memory;
    private boolean closed;

    Buffer(Cache cache, RegisteredMemory memory) {
        this.cache = cache;
        this.memory = memory;
    }

    /** The memory itself, page-aligned, accessible to all threads. Access after {@link #close} throws. */
    public MemorySegment segment() {
        return memory.segment();
    }

    public long bytes() {
        return memory.bytes();
    }

    /**
     * Unmaps the memory.
     *
     * @throws IllegalStateException where a request that uses it has not finished; the buffer then stays open
     */
    @Override
    public void close() {
        cache.close(this);
    }

    Cache cache() {
        return cache;
    }

    long address() {
        return memory.address();
    }

    int localKey() {
        return memory.localKey();
    }

    /** Read by sessions inside their gate; the cache sets it and then claims every session's gate. */
    boolean closed() {
        return (boolean) CLOSED.getOpaque(this);
    }

    void closed(boolean value) {
        CLOSED.setOpaque(this, value);
    }

    void free() {
        memory.close();
    }
}
