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
 * Local memory that the device reads and writes, from {@link RemoteMemory#register}. Any queue of that memory may use
 * it, several at once on parts of their own. Any thread may call.
 *
 * <p>States: usable, closed. Queues read the bytes that may be used inside their gates; {@link RemoteMemory} sets them
 * to 0 and then claims every queue's gate, so that after it no queue posts with the buffer any more.
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
    // A step nearer than in the registration: every operation reads them.
    private final long address;
    private final long bytes;
    private final int localKey;

    @SuppressWarnings("unused")
    private long usable;

    /**
     * @param onClose frees it once no queue uses it, or throws
     * @param memory unmaps it where it is the library's; null where it is not
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

    /**
     * The memory itself. Where the library allocated it, it is page-aligned, and access after {@link #close} throws.
     */
    public MemorySegment segment() {
        return segment;
    }

    public long bytes() {
        return bytes;
    }

    /**
     * Ends the registration; memory that the library allocated is unmapped. Idempotent.
     *
     * @throws IllegalStateException where an operation that uses it has not ended; the buffer then stays open
     */
    @Override
    public void close() {
        onClose.accept(this);
    }

    /** That it is registered with: no other device's queue may use it. */
    OpenDevice device() {
        return device;
    }

    long address() {
        return address;
    }

    int localKey() {
        return localKey;
    }

    /** How many bytes operations may use: all, or none once it is closed. */
    long usableBytes() {
        return (long) USABLE.getOpaque(this);
    }

    void usable(boolean value) {
        USABLE.setOpaque(this, value ? bytes : 0);
    }

    /** Whichever thread does it, it is done when this returns. */
    void free() {
        freeing.close();
    }
}
