package io.farheap.store.format;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.farheap.memory.MappedFaults;
import io.farheap.memory.NativeMemory;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/**
 * Loads and stores of aligned words in the store's own memory, by address. Addresses are not checked: each must lie in
 * a page frame or a bucket.
 */
public final class NativeWords {

    private static final MemorySegment ALL = NativeMemory.ALL;
    private static final VarHandle WORD = JAVA_LONG.varHandle();

    private NativeWords() {}

    public static long get(long address) {
        return ALL.get(JAVA_LONG, address);
    }

    public static void set(long address, long value) {
        ALL.set(JAVA_LONG, address, value);
    }

    public static long getOpaque(long address) {
        return (long) WORD.getOpaque(ALL, address);
    }

    public static void setOpaque(long address, long value) {
        WORD.setOpaque(ALL, address, value);
    }

    public static long getAcquire(long address) {
        return (long) WORD.getAcquire(ALL, address);
    }

    public static void setRelease(long address, long value) {
        WORD.setRelease(ALL, address, value);
    }

    public static boolean compareAndSet(long address, long expected, long value) {
        return WORD.compareAndSet(ALL, address, expected, value);
    }

    static long getAndAdd(long address, long delta) {
        return (long) WORD.getAndAdd(ALL, address, delta);
    }

    /**
     * @param from memory that is not a mapped file's: if the file were cut, a value that other threads see would be
     *     changed by half
     */
    public static void copyIn(MemorySegment from, long offset, long address, long bytes) {
        if (bytes == Long.BYTES) {
            set(address, from.get(JAVA_LONG_UNALIGNED, offset));
        } else {
            MemorySegment.copy(from, offset, ALL, address, bytes);
        }
    }

    /** @throws InternalError if {@code into} is in a mapped file that has been truncated */
    public static void copyOut(long address, MemorySegment into, long offset, long bytes) {
        if (bytes == Long.BYTES) {
            into.set(JAVA_LONG_UNALIGNED, offset, getOpaque(address));
        } else {
            MemorySegment.copy(ALL, address, into, offset, bytes);
        }
        MappedFaults.raise(into);
    }

    static void zero(long address, long bytes) {
        ALL.asSlice(address, bytes).fill((byte) 0);
    }
}
