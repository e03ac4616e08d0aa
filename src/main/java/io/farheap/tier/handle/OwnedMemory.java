package io.farheap.tier.handle;

import io.farheap.tier.device.DeviceMemory;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** Memory that is registered with one device. */
public class OwnedMemory implements DeviceMemory {

    /** What registered memory begins and ends at. */
    public static final long PAGE_BYTES = 4096;

    private static final VarHandle CLOSED;

    static {
        try {
            CLOSED = MethodHandles.lookup().findVarHandle(OwnedMemory.class, "closed", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Where it is registered: one for each device. */
    public interface Registry {

        /**
         * Frees it, unless it is freed.
         *
         * @throws IllegalStateException where a request uses it
         */
        void free(OwnedMemory memory);
    }

    private final Registry registry;
    private final MemorySegment segment;
    /** A step nearer: every request reads it. */
    private final long bytes;

    @SuppressWarnings("unused")
    private boolean closed;

    public OwnedMemory(Registry registry, MemorySegment segment) {
        this.registry = registry;
        this.segment = segment;
        this.bytes = segment.byteSize();
    }

    @Override
    public final MemorySegment segment() {
        return segment;
    }

    final Registry registry() {
        return registry;
    }

    final long bytes() {
        return bytes;
    }

    final boolean closed() {
        return (boolean) CLOSED.getOpaque(this);
    }

    final void closed(boolean value) {
        CLOSED.setOpaque(this, value);
    }

    @Override
    public final void close() {
        registry.free(this);
    }

    /** The device lets go of it; no request uses it. */
    protected void free() {}
}
