package io.farheap.posix;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * For how long a thread has run on a processor: clock_gettime(2) of {@code CLOCK_THREAD_CPUTIME_ID}. It stands still
 * while another thread has the core, and while the JVM has stopped the thread. Used by one thread at a time.
 */
public final class ThreadProcessorTime {

    private static final int CLOCK_THREAD_CPUTIME_ID = 3;
    private static final long SECOND = 1_000_000_000L;

    private static final MethodHandle MH$clock_gettime =
            Posix.bindPlain("clock_gettime", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG));

    /** struct timespec. */
    private final MemorySegment timespec = Arena.ofAuto().allocate(2 * Long.BYTES, Long.BYTES);

    /** The time of the calling thread, in ns; some 0.3 us. */
    public long nanos() {
        int result;
        try {
            result = (int) MH$clock_gettime.invokeExact(CLOCK_THREAD_CPUTIME_ID, timespec.address());
        } catch (Throwable e) {
            throw new AssertionError("clock_gettime throws nothing", e);
        }
        if (result != 0) {
            throw new IllegalStateException("the kernel has no clock of a thread's processor time");
        }
        return timespec.get(JAVA_LONG, 0) * SECOND + timespec.get(JAVA_LONG, Long.BYTES);
    }
}
