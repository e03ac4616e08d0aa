package io.farheap.bench.machine;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.memory.SharedMemory;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** The C library's memcpy between two populated mappings: the speed at which one core of this machine copies. */
public final class Memcpy implements AutoCloseable {

    private static final Linker LINKER = Linker.nativeLinker();
    private static final MethodHandle MH$memcpy = LINKER.downcallHandle(
            LINKER.defaultLookup().findOrThrow("memcpy"), FunctionDescriptor.of(ADDRESS, ADDRESS, ADDRESS, JAVA_LONG));

    private final SharedMemory from;
    private final SharedMemory to;

    public Memcpy(long bytes) {
        from = SharedMemory.allocate("farheap-memcpy", bytes);
        try {
            to = SharedMemory.allocate("farheap-memcpy", bytes);
        } catch (Throwable e) {
            from.close();
            throw e;
        }
        from.segment().fill((byte) 1);
    }

    /**
     * Copies all of it so many times, and once if that is 0.
     *
     * @return nanoseconds for one copy
     */
    public long run(int times) {
        long nanos = 0;
        int runs = Math.max(1, times);
        for (int i = 0; i < runs; i++) {
            nanos += copy(to.segment(), from.segment());
        }
        return nanos / runs;
    }

    /**
     * Copies all of it again and again, once at least.
     *
     * @param leastNanos how long: a copy that began before is completed
     * @return nanoseconds for one copy
     */
    public long runFor(long leastNanos) {
        long nanos = 0;
        int runs = 0;
        do {
            nanos += copy(to.segment(), from.segment());
            runs++;
        } while (nanos < leastNanos);
        return nanos / runs;
    }

    /**
     * Copies all of a segment to another of its size by one call.
     *
     * @return nanoseconds
     */
    static long copy(MemorySegment to, MemorySegment from) {
        long started = System.nanoTime();
        try {
            MemorySegment ignored = (MemorySegment) MH$memcpy.invokeExact(to, from, from.byteSize());
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
        return System.nanoTime() - started;
    }

    @Override
    public void close() {
        from.close();
        to.close();
    }
}
