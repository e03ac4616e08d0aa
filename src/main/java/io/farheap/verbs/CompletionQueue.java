package io.farheap.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.farheap.verbs.binding.ibv_cq;
import io.farheap.verbs.binding.ibv_wc;
import io.farheap.verbs.binding.ibverbs;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.bytedeco.javacpp.Loader;
import org.jspecify.annotations.Nullable;

/**
 * A completion queue and an array of completions: {@link #poll} fills the array, the accessors read it. One thread at a
 * time. Nothing here allocates.
 */
public final class CompletionQueue implements AutoCloseable {

    /** All memory; see {@link SendRequests}. */
    private static final MemorySegment MEMORY = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

    private static final long WC_BYTES = Loader.sizeof(ibv_wc.class);
    private static final long WR_ID = Loader.offsetof(ibv_wc.class, "wr_id");
    private static final long STATUS = Loader.offsetof(ibv_wc.class, "status");
    private static final long BYTE_LEN = Loader.offsetof(ibv_wc.class, "byte_len");
    private static final long QP_NUM = Loader.offsetof(ibv_wc.class, "qp_num");

    private final Context context;
    private final ibv_cq handle;
    private final @Nullable CompletionChannel channel;
    private final ChildCount children;
    private final Arena arena;
    private final DataPathCalls calls;
    /** 0 once closed: checked before native code uses it. */
    private long address;

    private final long completionsAddress;
    private final int batch;
    /** How many completions the accessors may read: the batch, or 0 once closed. */
    private int open;

    /**
     * Throws nothing, since no caller would own the handle then.
     *
     * @param arena closed with it
     * @param completions room for a batch, from that arena
     */
    CompletionQueue(
            Context context,
            ibv_cq handle,
            int batch,
            @Nullable CompletionChannel channel,
            Arena arena,
            MemorySegment completions) {
        this.context = context;
        this.handle = handle;
        this.channel = channel;
        this.children = new ChildCount("the completion queue");
        this.arena = arena;
        this.calls = context.calls();
        this.address = handle.address();
        this.completionsAddress = completions.address();
        this.batch = batch;
        this.open = batch;
    }

    /** Allocates the array of completions of a batch. */
    static MemorySegment completions(Arena arena, int batch) {
        return arena.allocate(WC_BYTES * batch, 64);
    }

    /**
     * Takes completions, without waiting.
     *
     * @return how many the accessors can read, at most the batch that the queue was created with
     * @throws VerbsException if the device reports that the queue is broken (it was overrun)
     */
    public int poll() {
        int polled = calls.pollCq(open(), batch, completionsAddress);
        if (polled < 0) {
            throw new VerbsException("polling a completion queue failed; it was overrun or its device is gone");
        }
        return polled;
    }

    /** The most completions that one poll takes. */
    public int batch() {
        return batch;
    }

    /** The address to which a poll of one completion writes it. */
    long completionsAddress() {
        return completionsAddress;
    }

    /**
     * The {@code wr_id} that the work request was posted with.
     *
     * @param i below what {@link #poll} returned
     */
    public long id(int i) {
        return MEMORY.get(JAVA_LONG_UNALIGNED, at(i) + WR_ID);
    }

    /** One of {@link WcStatus}. */
    public int status(int i) {
        return MEMORY.get(JAVA_INT_UNALIGNED, at(i) + STATUS);
    }

    /** Bytes received; undefined for sends and after errors. */
    public int bytes(int i) {
        return MEMORY.get(JAVA_INT_UNALIGNED, at(i) + BYTE_LEN);
    }

    public int queuePairNumber(int i) {
        return MEMORY.get(JAVA_INT_UNALIGNED, at(i) + QP_NUM);
    }

    /**
     * Asks for one event on the channel when the next completion arrives. Poll once more after the call: a completion
     * that arrived before it raises no event.
     */
    public void requestNotification() {
        int error = calls.requestNotification(open());
        if (error != 0) {
            throw new VerbsException("cannot request a completion notification", error);
        }
    }

    @Override
    public void close() {
        if (children.close()) {
            address = 0;
            open = 0;
            int error = ibverbs.farheap_destroy_cq(handle);
            arena.close();
            if (channel != null) {
                channel.children().remove();
            }
            context.children().remove();
            if (error != 0) {
                throw new VerbsException("cannot destroy a completion queue", error);
            }
        }
    }

    private long at(int i) {
        return (completionsAddress & NativePointers.ADDRESS_BITS) + Objects.checkIndex(i, open) * WC_BYTES;
    }

    private long open() {
        if (address == 0) {
            throw new IllegalStateException("the completion queue is closed");
        }
        return address;
    }

    ibv_cq handle() {
        return handle;
    }

    ChildCount children() {
        return children;
    }
}
