package io.farheap.rpc;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.farheap.rpc.message.BatchFormat;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * A call whose handler has returned and that is answered later. Any thread answers it, once; its server thread sends
 * the answer.
 *
 * <p>States: open, then ended, by a compare-and-set of the thread that answers or fails it, or by a store of the server
 * thread, which drops a call that its handler has ended in another way; an answer that was given before is then
 * skipped. The answering thread writes the reply before its compare-and-set of the list's head ({@code PendingCalls}),
 * and the server thread reads the reply after it has taken the list: the two order the reply.
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
    /** Whether the object serves another call once its answer has been sent. */
    final boolean reused;

    long sequence;
    int slot;
    int index;
    private int capacity;

    @SuppressWarnings("unused")
    private volatile boolean ended;
    /** Written and read by the server thread: the handler has ended the call in another way, so no answer is sent. */
    boolean dropped;

    byte status;
    /** The reply, of which the first {@code length} bytes count. */
    byte[] reply = NOTHING;

    int length;
    /** The next in one of the lists of {@link PendingCalls}. */
    @Nullable
    PendingCall next;

    PendingCall(PendingCalls calls, boolean reused) {
        this.calls = calls;
        this.reused = reused;
    }

    /** Makes it the given call. The server thread calls it. */
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

    /** How many bytes of reply the client has room for. */
    public int capacity() {
        return capacity;
    }

    /**
     * Answers the call with a copy of some bytes.
     *
     * @return false if the call has been answered already, or the client is gone and receives no answer
     * @throws IllegalArgumentException if the reply is longer than {@link #capacity}; the call stays open
     */
    public boolean answer(MemorySegment bytes) {
        if (bytes.byteSize() > Integer.MAX_VALUE) {
            throw new IllegalArgumentException(
                    "a reply of " + bytes.byteSize() + " bytes; the client has room for " + capacity);
        }
        return answer(bytes, 0, (int) bytes.byteSize());
    }

    /**
     * As {@link #answer(MemorySegment)}, with a range of a segment. Allocates nothing if the call came from
     * {@link Reply#goesOn} and its buffer is large enough.
     *
     * @param at offset of the first byte in the segment
     */
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
     * Ends the call as failed.
     *
     * @return false if the call has been answered already, or the client is gone
     */
    public boolean fail() {
        return begin() && end(BatchFormat.FAILED, 0);
    }

    /** Whether the answer would be dropped, since the client or its connection is gone. */
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

    /** Ends the call without an answer; an answer that another thread has given already is not sent. */
    void drop() {
        dropped = true;
        ended = true;
    }
}
