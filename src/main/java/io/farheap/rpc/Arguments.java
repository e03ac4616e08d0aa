package io.farheap.rpc;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.farheap.memory.NativeMemory;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * A call's arguments: bytes, little-endian where they are read as numbers. A view that is moved from call to call; the
 * handler that is given it uses it on its own thread until it returns. Its length is what the client says, so a handler
 * reads what it needs or fails.
 */
public final class Arguments {

    private final MemorySegment memory;
    private long address;
    private int bytes;
    private int replyCapacity;

    /** @param memory where all of them are */
    Arguments(MemorySegment memory) {
        this.memory = memory;
    }

    /** @param at in the memory; what lies there has been checked */
    void set(long at, int length, int replyBytes) {
        address = memory.address() + at;
        bytes = length;
        replyCapacity = replyBytes;
    }

    /** Nothing is to be read here any more. */
    void end() {
        bytes = 0;
    }

    public int bytes() {
        return bytes;
    }

    /** How many bytes the client has room for in the reply. */
    public int replyCapacity() {
        return replyCapacity;
    }

    /** @throws IndexOutOfBoundsException where the arguments end before, which ends the call as failed */
    public byte getByte(int at) {
        return NativeMemory.ALL.get(JAVA_BYTE, address + Objects.checkIndex(at, bytes));
    }

    /** As {@link #getByte}, 4 bytes at any place. */
    public int getInt(int at) {
        return NativeMemory.ALL.get(JAVA_INT_UNALIGNED, address + Objects.checkFromIndexSize(at, Integer.BYTES, bytes));
    }

    /** As {@link #getByte}, 8 bytes at any place. */
    public long getLong(int at) {
        return NativeMemory.ALL.get(JAVA_LONG_UNALIGNED, address + Objects.checkFromIndexSize(at, Long.BYTES, bytes));
    }

    /**
     * Where so many bytes of them are in this process, until the handler returns.
     *
     * @throws IndexOutOfBoundsException as {@link #getByte}
     */
    public long address(int at, int length) {
        return address + Objects.checkFromIndexSize(at, length, bytes);
    }

    /** All of them, until the handler returns. Allocates a view unless the compiler removes it. */
    public MemorySegment segment() {
        return memory.asSlice(address - memory.address(), bytes);
    }
}
