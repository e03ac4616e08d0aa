package io.farheap.rpc;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.farheap.memory.NativeMemory;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Where a call's reply goes, little-endian where numbers are written. A view as {@link Arguments} is. */
public final class Reply {

    private final PendingCalls calls;
    private final MemorySegment memory;
    private long address;
    private int capacity;
    private int index;
    private @Nullable PendingCall pending;
    private boolean open;

    /** @param memory where all of them are */
    Reply(PendingCalls calls, MemorySegment memory) {
        this.calls = calls;
        this.memory = memory;
    }

    /** @param at in the memory; {@code most} bytes are there */
    void set(int call, long at, int most) {
        index = call;
        address = memory.address() + at;
        capacity = most;
        pending = null;
        open = true;
    }

    /** How many bytes the client has room for. */
    public int capacity() {
        return capacity;
    }

    /** @throws IndexOutOfBoundsException beyond {@link #capacity}, which ends the call as failed */
    public void setByte(int at, byte value) {
        NativeMemory.ALL.set(JAVA_BYTE, address + Objects.checkIndex(at, capacity), value);
    }

    /** As {@link #setByte}, 4 bytes at any place. */
    public void setInt(int at, int value) {
        NativeMemory.ALL.set(
                JAVA_INT_UNALIGNED, address + Objects.checkFromIndexSize(at, Integer.BYTES, capacity), value);
    }

    /** As {@link #setByte}, 8 bytes at any place. */
    public void setLong(int at, long value) {
        NativeMemory.ALL.set(
                JAVA_LONG_UNALIGNED, address + Objects.checkFromIndexSize(at, Long.BYTES, capacity), value);
    }

    /** Copies bytes of another segment. */
    public void setBytes(int at, MemorySegment source, long from, int length) {
        MemorySegment.copy(
                source, from, NativeMemory.ALL, address + Objects.checkFromIndexSize(at, length, capacity), length);
    }

    /** All of it, until the handler returns. Allocates a view unless the compiler removes it. */
    public MemorySegment segment() {
        return memory.asSlice(address - memory.address(), capacity);
    }

    /**
     * The call goes on elsewhere: the handler returns {@link RpcHandler#LATER}, and whoever has what this returns
     * answers. Until then the call takes a place in its client's queue.
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
     * As {@link #later}, for a server's own work between the rounds of its message rings, which answers once and then
     * forgets what this returns: it is another call's afterwards. Allocates nothing where calls were put off before.
     */
    public PendingCall goesOn() {
        if (!open || pending != null) {
            throw new IllegalStateException("the handler has returned, or has put the call off already");
        }
        pending = calls.goesOn(index, capacity);
        return pending;
    }

    /** Nothing is to be written here any more. */
    void end() {
        open = false;
        capacity = 0;
    }

    boolean deferred() {
        return pending != null;
    }

    /** What a handler put off and then did not: it threw, or returned a reply all the same. */
    void drop() {
        if (pending != null) {
            pending.drop();
            pending = null;
        }
    }
}
