package io.farheap.rpc;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.farheap.rpc.message.BatchFormat;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * A call that its handler answers later. Any thread answers, once; its server thread sends the answer.
 *
 * <p>States: open, then ended, by a compare-and-set of whoever answers, fails or drops it. The reply is written before
 * it is handed to the server thread by a compare-and-set of the list's head, which orders the two.
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

    private final PendingCalls calls;
    /** Whether it is used again, for another call, once its answer has been sent. */
    final boolean reused;

    long sequence;
    int slot;
    int index;
    private int capacity;

    @SuppressWarnings("unused")
    private volatile boolean ended;
    /** The server thread's: its handler has ended the call in another way. */
    boolean dropped;

    byte status;
    /** Its first {@code length} bytes. */
    byte[] reply = NOTHING;

    int length;
    /** Answered after this one, or before, as {@link PendingCalls} lists them. */
    @Nullable
    PendingCall next;

    PendingCall(PendingCalls calls, boolean reused) {
        this.calls = calls;
        this.reused = reused;
    }

    /** Its server thread's. */
    PendingCall of(long batch, int itsSlot, int itsIndex, int most) {
        sequence = batch;
        slot = itsSlot;
        index = itsIndex;
        capacity = most;
        length = 0;
        dropped = false;
        ended = false;
        return this;
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
        if (bytes.byteSize() > Integer.MAX_VALUE) {
            throw new IllegalArgumentException(
                    "a reply of " + bytes.byteSize() + " bytes; the client has room for " + capacity);
        }
        return answer(bytes, 0, (int) bytes.byteSize());
    }

    /** The same, with some bytes of a segment. Allocates nothing where the call is a {@link Reply#goesOn one}. */
    public boolean answer(MemorySegment from, long at, int bytes) {
        if (bytes > capacity) {
            throw new IllegalArgumentException("a reply of " + bytes + " bytes; the client has room for " + capacity);
        }
        if (!begin()) {
            return false;
        }
        if (reply.length < bytes) {
            reply = new byte[bytes];
        }
        MemorySegment.copy(from, JAVA_BYTE, at, reply, 0, bytes);
        return end(BatchFormat.DONE, bytes);
    }

    /**
     * Ends it as failed.
     *
     * @return false where it has been answered, or the client is gone
     */
    public boolean fail() {
        return begin() && end(BatchFormat.FAILED, 0);
    }

    /** Whether nobody waits for the answer any more: the client or its connection is gone. */
    public boolean cancelled() {
        return calls.cancelled();
    }

    private boolean begin() {
        return ENDED.compareAndSet(this, false, true);
    }

    private boolean end(byte outcome, int bytes) {
        status = outcome;
        length = bytes;
        return calls.answered(this);
    }

    /** Its answer, if there is one already, is not sent. */
    void drop() {
        dropped = true;
        ended = true;
    }
}
