package io.farheap.verbs;

import io.farheap.verbs.binding.ibverbs;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.bytedeco.javacpp.Pointer;

/** Conversions between memory segments and JavaCPP's pointers. */
final class NativePointers {

    /**
     * A mask of the bits of a user-space address. After masking, the compiler knows that the address is within
     * {@code MEMORY}'s bounds, and needs no bounds check for accesses near it.
     */
    static final long ADDRESS_BITS = (1L << 56) - 1;

    private NativePointers() {}

    /**
     * Allocates a zeroed structure in {@code arena}, as a JavaCPP pointer. JavaCPP's own allocator is never used: it
     * counts the process's resident memory, arenas included, against a limit derived from the Java heap.
     */
    static Pointer allocate(Arena arena, long bytes) {
        return pointer(arena.allocate(bytes, 8).address());
    }

    static Pointer pointer(long address) {
        return new Address(address);
    }

    static Pointer pointer(MemorySegment segment) {
        return new Address(segment.address());
    }

    /** errno of the last create function that returned null on this thread. */
    static int errno() {
        return ibverbs.farheap_errno();
    }

    private static final class Address extends Pointer {
        Address(long address) {
            super((Pointer) null);
            this.address = address;
        }
    }
}
