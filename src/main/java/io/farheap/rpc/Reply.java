package io.farheap.rpc;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.farheap.memory.NativeMemory;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A call's reply: a range of bytes in the response ring, to which a handler writes little-endian numbers or bytes. It
 * is a view that moves from call to call, as {@link Arguments} is.
 */
public final class Reply {

    private final PendingCalls calls;
    private final MemorySegment memory;
    private long address;
    private int capacity;
    private int index;
    private @Nullable PendingCall pending;
    private boolean open;

    /** @param memory the segment that holds all replies */
    Reply(PendingCalls calls, MemorySegment memory) {
        this.calls = calls;
        this.memory = memory;
    }

    /** @param at offset in the memory, at which {@code most} bytes are free */
    void set(int call, long at, int most) {
        index = call;
        address = memory.address() + at;
        capacity = most;
        pending = null;
        open = true;
    }

    /** How many bytes of reply the client has room for. */
    public int capacity() {
        return capacity;
    }

    /**
     * @throws IndexOutOfBoundsException beyond {@link #capacity}; if the handler lets it pass, the call ends as failed
     */
    public void setByte(int at, byte value) {
        NativeMemory.ALL.set(JAVA_BYTE, address + Objects.checkIndex(at, capacity), value);
    }

    /** Writes 4 bytes at any alignment; see {@link #setByte}. */
    public void setInt(int at, int value) {
        NativeMemory.ALL.set(
                JAVA_INT_UNALIGNED, address + Objects.checkFromIndexSize(at, Integer.BYTES, capacity), value);
    }

    /** Writes 8 bytes at any alignment; see {@link #setByte}. */
    public void setLong(int at, long value) {
        NativeMemory.ALL.set(
                JAVA_LONG_UNALIGNED, address + Objects.checkFromIndexSize(at, Long.BYTES, capacity), value);
    }

    /** Copies bytes of another segment into the reply. */
    public void setBytes(int at, MemorySegment source, long from, int length) {
        MemorySegment.copy(
                source, from, NativeMemory.ALL, address + Objects.checkFromIndexSize(at, length, capacity), length);
    }

    /**
     * The address in this process of {@code length} bytes from {@code at} on, valid until the handler returns.
     *
     * @throws IndexOutOfBoundsException beyond {@link #capacity}
     */
    public long address(int at, int length) {
        return address + Objects.checkFromIndexSize(at, length, capacity);
    }

    /** All of the reply's room, valid until the handler returns. Allocates a view unless the compiler removes it. */
    public MemorySegment segment() {
        return memory.asSlice(address - memory.address(), capacity);
    }

    /**
     * Puts the call off: the handler then returns {@link RpcHandler#LATER}, and any thread answers with the returned
     * object. Until then the call keeps the place of its answer in the client's ring.
     *
     * @throws IllegalStateException if the handler has returned
     */
    public PendingCall later() {
        if (!open) {
            throw new IllegalStateException(
                    "the handler has returned: only while it executes a call can it put it off");
        }
        if (pending == null) {
            pending = calls.later(index, capacity);
        }
        return pending;
    }

    /**
     * As {@link #later}, for a server's own work between the rounds of its message rings. The caller answers once and
     * then drops the reference, since the object serves another call afterwards. Allocates nothing if an earlier call's
     * object can be reused.
     *
     * @throws IllegalStateException if the handler has returned, or has put the call off already
     */
    public PendingCall goesOn() {
        if (!open || pending != null) {
            throw new IllegalStateException("the handler has returned, or has put the call off already");
        }
        pending = calls.goesOn(index, capacity);
        return pending;
    }

    /** Ends the view: every later write throws. */
    void end() {
        open = false;
        capacity = 0;
    }

    boolean deferred() {
        return pending != null;
    }

    /**
     * Drops the object of a handler that put the call off and then did not: it threw, or returned a reply after all.
     */
    void drop() {
        if (pending != null) {
            pending.drop();
            pending = null;
        }
    }
}
