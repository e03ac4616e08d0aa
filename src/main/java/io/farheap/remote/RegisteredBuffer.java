package io.farheap.remote;

import io.farheap.lifetime.CloseLatch;
import io.farheap.lifetime.Closeables;
import io.farheap.remote.device.OpenDevice;
import io.farheap.verbs.MemoryRegion;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Local memory that the device reads and writes, from {@link RemoteMemory#register}. Every queue of that remote memory
 * may use it, several at once in disjoint parts. Any thread may call.
 *
 * <p>States: usable, closed. Queues load the number of usable bytes inside their gates. {@link RemoteMemory} sets it to
 * 0 and then claims the gate of each queue in turn: after that no queue posts an operation with the buffer.
 */
public final class RegisteredBuffer implements AutoCloseable {

    private static final VarHandle USABLE;

    static {
        try {
            USABLE = MethodHandles.lookup().findVarHandle(RegisteredBuffer.class, "usable", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final OpenDevice device;
    private final Consumer<RegisteredBuffer> onClose;
    private final MemorySegment segment;
    private final CloseLatch freeing;
    // Copied from the registration, which saves a load for every operation.
    private final long address;
    private final long bytes;
    private final int localKey;

    @SuppressWarnings("unused")
    private long usable;

    /**
     * @param onClose frees it if no queue uses it, else throws
     * @param memory unmaps the memory if the library allocated it, else null
     */
    RegisteredBuffer(
            OpenDevice device,
            Consumer<RegisteredBuffer> onClose,
            MemorySegment segment,
            MemoryRegion registration,
            @Nullable AutoCloseable memory) {
        this.device = device;
        this.onClose = onClose;
        this.segment = segment;
        this.freeing = new CloseLatch(() -> Closeables.all(registration, memory));
        this.address = registration.address();
        this.bytes = registration.bytes();
        this.localKey = registration.localKey();
        this.usable = bytes;
    }

    /** The memory itself. If the library allocated it, it is page-aligned, and access after {@link #close} throws. */
    public MemorySegment segment() {
        return segment;
    }

    public long bytes() {
        return bytes;
    }

    /**
     * Ends the registration, and unmaps the memory if the library allocated it. Idempotent.
     *
     * @throws IllegalStateException if an operation that uses it has not ended; the buffer then stays open
     */
    @Override
    public void close() {
        onClose.accept(this);
    }

    /** The device it is registered with: no queue of another device may use it. */
    OpenDevice device() {
        return device;
    }

    long address() {
        return address;
    }

    int localKey() {
        return localKey;
    }

    /** How many bytes operations may use: all of them, or 0 once it is closed. */
    long usableBytes() {
        return (long) USABLE.getOpaque(this);
    }

    void usable(boolean value) {
        USABLE.setOpaque(this, value ? bytes : 0);
    }

    /** Frees it. If another thread is freeing it, this returns when that has ended. */
    void free() {
        freeing.close();
    }
}
