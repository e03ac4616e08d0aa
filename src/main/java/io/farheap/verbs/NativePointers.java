package io.farheap.verbs;

import io.farheap.verbs.binding.ibverbs;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.bytedeco.javacpp.Pointer;

/** Glue between memory segments and JavaCPP's pointers. */
final class NativePointers {

    /**
     * What an address in user space has at most. And-ed with it, an address is known to the compiler to be within all
     * memory, so that accesses near it are not checked against that.
     */
    static final long ADDRESS_BITS = (1L << 56) - 1;

    private NativePointers() {}

    /**
     * A zeroed structure in {@code arena}, as JavaCPP sees it. Structures are never allocated by JavaCPP: its allocator
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

    /** errno of the last creator that returned null on this thread. */
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
