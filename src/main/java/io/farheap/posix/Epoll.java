package io.farheap.posix;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** epoll(7): one thread waits for many descriptors. Waiting allocates nothing. */
public final class Epoll implements AutoCloseable {

    private static final int EPOLL_CLOEXEC = 0x80000;
    private static final int EPOLL_CTL_ADD = 1;
    private static final int EPOLL_CTL_DEL = 2;
    private static final int EPOLLIN = 1;
    private static final boolean PACKED = System.getProperty("os.arch").equals("amd64");
    /** struct epoll_event is packed on x86-64, and only there. */
    private static final int EVENT_BYTES = PACKED ? 12 : 16;

    private static final int DATA_OFFSET = PACKED ? 4 : 8;

    private static final MethodHandle MH$epoll_create1 =
            Posix.bind("epoll_create1", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
    private static final MethodHandle MH$epoll_ctl =
            Posix.bind("epoll_ctl", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS));
    private static final FunctionDescriptor WAIT =
            FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT);
    /** Allocates nothing, also while it is not compiled, as a call that reports its error number does. */
    private static final MethodHandle MH$epoll_wait = Posix.bindPlain("epoll_wait", WAIT);

    private static final MethodHandle MH$epoll_wait_errno = Posix.bind("epoll_wait", WAIT);

    private final Arena arena = Arena.ofShared();
    private final int most;
    private final MemorySegment events;
    private final MemorySegment state;
    private final int epoll;

    /** @param most the most descriptors that one wait reports */
    public Epoll(int most) {
        this.most = most;
        try {
            events = arena.allocate((long) EVENT_BYTES * most, 8);
            state = arena.allocate(Posix.ERRNO_LAYOUT);
            epoll = Posix.check((int) MH$epoll_create1.invokeExact(state, EPOLL_CLOEXEC), state, "epoll_create1()");
        } catch (Throwable e) {
            arena.close();
            throw Posix.rethrow(e);
        }
    }

    /**
     * Watches {@code fd} for input, level-triggered; {@link #token} reports it as {@code token}. Any thread may call
     * it.
     */
    public void add(int fd, long token) {
        control(EPOLL_CTL_ADD, fd, token);
    }

    /** Stops watching a descriptor. Any thread may call it. */
    public void remove(int fd) {
        control(EPOLL_CTL_DEL, fd, 0);
    }

    private void control(int operation, int fd, long token) {
        try (Arena own = Arena.ofConfined()) {
            MemorySegment errno = own.allocate(Posix.ERRNO_LAYOUT);
            MemorySegment event = own.allocate(EVENT_BYTES, 8);
            event.set(JAVA_INT, 0, EPOLLIN);
            event.set(JAVA_LONG.withByteAlignment(1), DATA_OFFSET, token);
            Posix.check(
                    (int) MH$epoll_ctl.invokeExact(errno, epoll, operation, fd, event),
                    errno,
                    "epoll_ctl(%d, %d)",
                    operation,
                    fd);
        } catch (Throwable e) {
            throw Posix.rethrow(e);
        }
    }

    /**
     * Waits without a time limit until a watched descriptor is readable. One thread at a time.
     *
     * @return how many {@link #token}s there are; 0 if a signal interrupted the wait
     */
    public int await() {
        try {
            int ready = (int) MH$epoll_wait.invokeExact(epoll, events, most, -1);
            if (ready >= 0) {
                return ready;
            }
            // A second call reports the error number. After a signal there is none, so the call must not wait.
            ready = (int) MH$epoll_wait_errno.invokeExact(state, epoll, events, most, 0);
            return Posix.interrupted(ready, state) ? 0 : Posix.check(ready, state, "epoll_wait(%d)", epoll);
        } catch (Throwable e) {
            throw Posix.rethrow(e);
        }
    }

    /**
     * The token of a descriptor that was readable when {@link #await} returned, by index from 0. Called by the thread
     * that waited.
     */
    public long token(int index) {
        return events.get(JAVA_LONG.withByteAlignment(1), (long) index * EVENT_BYTES + DATA_OFFSET);
    }

    /** Call it once, when no thread waits any more. */
    @Override
    public void close() {
        arena.close();
        Posix.close(epoll);
    }
}
