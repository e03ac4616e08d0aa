package io.farheap.kv.space;

import io.farheap.lifetime.Closeables;
import io.farheap.posix.PosixException;
import io.farheap.remote.RegisteredBuffer;
import io.farheap.remote.RemoteMemory;
import io.farheap.verbs.VerbsException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Registered memory for needs that few requests have: none at first, then as much as the largest request has needed.
 * One thread.
 */
public final class GrowingMemory implements AutoCloseable {

    private static final long STEP_BYTES = 1 << 20;

    /** Allocates the buffers; a test may make it refuse. */
    public LongFunction<KeptBuffer> buffers;

    private final List<KeptBuffer> outgrown = new ArrayList<>();
    private @Nullable KeptBuffer memory;

    public GrowingMemory(RemoteMemory remote) {
        this.buffers = bytes -> new KeptBuffer(remote, bytes);
    }

    /**
     * A buffer of at least this many bytes, perhaps another one than before; null if this process has no memory for it.
     * It does not throw: an exception out of a poll would not end the request that needs the memory, and all requests
     * behind it would wait for ever.
     */
    public @Nullable RegisteredBuffer atLeast(long bytes) {
        KeptBuffer present = memory;
        if (present != null && present.buffer().bytes() >= bytes) {
            return present.buffer();
        }
        long rounded = bytes > STEP_BYTES
                ? Math.ceilDiv(bytes, STEP_BYTES) * STEP_BYTES
                : Long.highestOneBit(Math.max(1, 2 * bytes - 1));
        KeptBuffer larger;
        try {
            larger = buffers.apply(rounded);
        } catch (IllegalArgumentException | PosixException | VerbsException | OutOfMemoryError e) {
            return null;
        }
        if (present != null) {
            outgrown.add(present);
        }
        memory = larger;
        return larger.buffer();
    }

    /** Frees buffers that have become too small. Not inside the gate of the queue that has used them. */
    public void tidy() {
        if (!outgrown.isEmpty()) {
            Closeables.all(outgrown);
            outgrown.clear();
        }
    }

    @Override
    public void close() {
        tidy();
        KeptBuffer present = memory;
        memory = null;
        if (present != null) {
            present.close();
        }
    }
}
