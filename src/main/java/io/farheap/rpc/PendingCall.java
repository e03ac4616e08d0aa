package io.farheap.rpc;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A call that its handler answers later. Any thread answers, once; its server thread sends the answer.
 *
 * <p>States: open, then ended, by a compare-and-set of whoever answers, fails or drops it. The reply is written before
 * it is handed to the server thread through a concurrent queue, which orders the two.
 */
public final class PendingCall {

    private static final VarHandle ENDED;

    static {
        try {
            ENDED = MethodHandles.lookup().findVarHandle(PendingCall.class, "ended", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static final byte[] NOTHING = {};

    private final ServedCalls calls;
    final long sequence;
    final int slot;
    final int index;
    private final int capacity;

    @SuppressWarnings("unused")
    private volatile boolean ended;
    /** The server thread's: its handler has ended the call in another way. */
    boolean dropped;

    byte status;
    byte[] reply = NOTHING;

    PendingCall(ServedCalls calls, long sequence, int slot, int index, int capacity) {
        this.calls = calls;
        this.sequence = sequence;
        this.slot = slot;
        this.index = index;
        this.capacity = capacity;
    }

    /** How many bytes the client has room for. */
    public int capacity() {
        return capacity;
    }

    /**
     * Answers, with bytes that are copied.
     *
     * @return false where it has been answered, or the client is gone: then nobody hears of it
     * @throws IllegalArgumentException where the reply is longer than {@link #capacity}; the call stays open
     */
    public boolean answer(MemorySegment bytes) {
        if (bytes.byteSize() > capacity) {
            throw new IllegalArgumentException(
                    "a reply of " + bytes.byteSize() + " bytes; the client has room for " + capacity);
        }
        byte[] copy = new byte[(int) bytes.byteSize()];
        MemorySegment.copy(bytes, 0, MemorySegment.ofArray(copy), 0, copy.length);
        return end(BatchFormat.DONE, copy);
    }

    /**
     * Ends it as failed.
     *
     * @return false where it has been answered, or the client is gone
     */
    public boolean fail() {
        return end(BatchFormat.FAILED, NOTHING);
    }

    /** Whether nobody waits for the answer any more: the client or its connection is gone. */
    public boolean cancelled() {
        return calls.cancelled();
    }

    private boolean end(byte outcome, byte[] bytes) {
        if (!ENDED.compareAndSet(this, false, true)) {
            return false;
        }
        status = outcome;
        reply = bytes;
        return calls.answered(this);
    }

    /** Its answer, if there is one already, is not sent. */
    void drop() {
        dropped = true;
        ended = true;
    }
}
