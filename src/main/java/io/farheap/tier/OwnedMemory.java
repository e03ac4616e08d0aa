package io.farheap.tier;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** Memory that is registered with one device. */
class OwnedMemory implements DeviceMemory {

    private static final VarHandle CLOSED;

    static {
        try {
            CLOSED = MethodHandles.lookup().findVarHandle(OwnedMemory.class, "closed", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final BaseDevice device;
    private final MemorySegment segment;
    /** A step nearer: every request reads it. */
    private final long bytes;

    @SuppressWarnings("unused")
    private boolean closed;

    OwnedMemory(BaseDevice device, MemorySegment segment) {
        this.device = device;
        this.segment = segment;
        this.bytes = segment.byteSize();
    }

    @Override
    public final MemorySegment segment() {
        return segment;
    }

    final BaseDevice device() {
        return device;
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
        device.close(this);
    }

    /** The device lets go of it; no request uses it. */
    void free() {}
}
