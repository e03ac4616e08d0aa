package io.farheap.posix;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * eventfd(2): a descriptor that is readable from a signal until it is drained, with which other threads wake a thread
 * that sleeps in an {@link Epoll}. Signals and drains allocate nothing.
 */
public final class EventFd implements AutoCloseable {

    private static final int EFD_CLOEXEC_NONBLOCK = 0x80800;
    private static final MethodHandle MH$eventfd =
            Posix.bind("eventfd", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT));
    private static final MethodHandle MH$eventfd_write =
            Posix.bindPlain("eventfd_write", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG));
    private static final MethodHandle MH$eventfd_read =
            Posix.bindPlain("eventfd_read", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS));

    private final Arena arena = Arena.ofShared();
    private final MemorySegment count;
    private final int fd;

    public EventFd() {
        try {
            count = arena.allocate(JAVA_LONG);
            MemorySegment state = arena.allocate(Posix.ERRNO_LAYOUT);
            fd = Posix.check((int) MH$eventfd.invokeExact(state, 0, EFD_CLOEXEC_NONBLOCK), state, "eventfd()");
        } catch (Throwable e) {
            arena.close();
            throw Posix.rethrow(e);
        }
    }

    public int fd() {
        return fd;
    }

    /** Makes it readable. Any thread may call it while it is open. */
    public void signal() {
        try {
            // It fails only if it is readable already, with as many signals as it can count.
            int _ = (int) MH$eventfd_write.invokeExact(fd, 1L);
        } catch (Throwable e) {
            throw Posix.rethrow(e);
        }
    }

    /** Makes it unreadable, whether it was readable or not. One thread at a time. */
    public void drain() {
        try {
            // It fails if it is not readable.
            int _ = (int) MH$eventfd_read.invokeExact(fd, count);
        } catch (Throwable e) {
            throw Posix.rethrow(e);
        }
    }

    /** Call it once, when no thread signals any more. */
    @Override
    public void close() {
        arena.close();
        Posix.close(fd);
    }
}
