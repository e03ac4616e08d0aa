package io.farheap.tier.handle;

import io.farheap.tier.device.DeviceMemory;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** Memory that is registered with one device. */
public class OwnedMemory implements DeviceMemory {

    /** Registered memory begins and ends at multiples of this. */
    public static final long PAGE_BYTES = 4096;

    private static final VarHandle CLOSED;

    static {
        try {
            CLOSED = MethodHandles.lookup().findVarHandle(OwnedMemory.class, "closed", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** The list in which memory is registered; each device has one. */
    public interface Registry {

        /**
         * Frees memory, unless it is freed already.
         *
         * @throws IllegalStateException if a request uses it
         */
        void free(OwnedMemory memory);
    }

    private final Registry registry;
    private final MemorySegment segment;
    /** A copy of the segment's size, which saves every request a load. */
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

    /** Called when the device releases the memory, which no request uses any more. */
    protected void free() {}
}
