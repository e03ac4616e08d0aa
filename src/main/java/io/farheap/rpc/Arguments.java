package io.farheap.rpc;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.farheap.memory.NativeMemory;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * A call's arguments: a range of bytes, read as little-endian numbers or as a segment. One instance is a view that the
 * server moves from call to call; a handler uses it on its own thread, and only until it returns. The length is the one
 * that the client sent, so a handler checks it, or lets a getter throw.
 */
public final class Arguments {

    private final MemorySegment memory;
    private long address;
    private int bytes;
    private int replyCapacity;

    /** @param memory the segment that holds the arguments of all calls of a batch */
    Arguments(MemorySegment memory) {
        this.memory = memory;
    }

    /** @param at offset in the memory, which has been checked */
    void set(long at, int length, int replyBytes) {
        address = memory.address() + at;
        bytes = length;
        replyCapacity = replyBytes;
    }

    /** Ends the view: every later access throws. */
    void end() {
        bytes = 0;
    }

    public int bytes() {
        return bytes;
    }

    /** How many bytes of reply the client has room for. */
    public int replyCapacity() {
        return replyCapacity;
    }

    /**
     * @throws IndexOutOfBoundsException if the arguments are shorter; if the handler lets it pass, the call ends as
     *     failed
     */
    public byte getByte(int at) {
        return NativeMemory.ALL.get(JAVA_BYTE, address + Objects.checkIndex(at, bytes));
    }

    /** Reads 4 bytes at any alignment; see {@link #getByte}. */
    public int getInt(int at) {
        return NativeMemory.ALL.get(JAVA_INT_UNALIGNED, address + Objects.checkFromIndexSize(at, Integer.BYTES, bytes));
    }

    /** Reads 8 bytes at any alignment; see {@link #getByte}. */
    public long getLong(int at) {
        return NativeMemory.ALL.get(JAVA_LONG_UNALIGNED, address + Objects.checkFromIndexSize(at, Long.BYTES, bytes));
    }

    /**
     * The address in this process of {@code length} bytes from {@code at} on, valid until the handler returns.
     *
     * @throws IndexOutOfBoundsException if the arguments are shorter
     */
    public long address(int at, int length) {
        return address + Objects.checkFromIndexSize(at, length, bytes);
    }

    /** All of the arguments, valid until the handler returns. Allocates a view unless the compiler removes it. */
    public MemorySegment segment() {
        return memory.asSlice(address - memory.address(), bytes);
    }
}
