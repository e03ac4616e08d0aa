package io.farheap.bench.peers;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/** Values in off-heap memory. */
final class OffHeapValues {

    private OffHeapValues() {}

    static void store(byte[] value, MemorySegment to) {
        MemorySegment.copy(value, 0, to, JAVA_BYTE, 0, value.length);
    }

    static byte[] load(MemorySegment from, int bytes) {
        return from.asSlice(0, bytes).toArray(JAVA_BYTE);
    }

    /** Returns a segment of a native library's memory. */
    static MemorySegment at(long address, long bytes) {
        return MemorySegment.ofAddress(address).reinterpret(bytes);
    }

    /**
     * A fence for the compiler, which may not move or drop the memory operations before it. Costs nothing at run time
     * on x86.
     */
    static void keep() {
        VarHandle.releaseFence();
        VarHandle.acquireFence();
    }
}
