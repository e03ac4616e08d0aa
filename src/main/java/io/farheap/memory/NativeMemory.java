package io.farheap.memory;

import java.lang.foreign.MemorySegment;

/**
 * The process's memory by address, unchecked: only for addresses in memory that cannot be unmapped meanwhile, such as
 * memory that a device uses.
 */
public final class NativeMemory {

    /** Address {@code a} is at offset {@code a}. */
    public static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

    private NativeMemory() {}
}
