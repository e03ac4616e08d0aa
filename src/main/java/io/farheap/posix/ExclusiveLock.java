package io.farheap.posix;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A lock on a file that at most one owner has, among all in this process and all processes of its host, until it is
 * closed or the process ends. It belongs to an open file description of its own. A {@code FileChannel}'s lock belongs
 * to the process instead: it is lost as soon as any code in the process closes any other descriptor of the file. The
 * two kinds exclude each other. Any thread may call, also an interrupted one.
 */
public final class ExclusiveLock implements AutoCloseable {

    private static final int O_RDWR = 2;
    private static final int O_CREAT = 0x40;
    private static final int O_CLOEXEC = 0x80000;
    /** The process's umask removes some of these bits. */
    private static final int ALL_READ_AND_WRITE = 0666;

    private static final int F_OFD_SETLK = 37;
    private static final short F_WRLCK = 1;
    /** struct flock: type, whence, start, length (0: to the end), process (0 for these locks). */
    private static final long FLOCK_BYTES = 32;

    private static final int LOCK_EXCLUSIVE_NOW = 2 | 4;

    private static final MethodHandle MH$fcntl = Posix.bind(
            "fcntl", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS), Linker.Option.firstVariadicArg(2));
    private static final MethodHandle MH$flock =
            Posix.bind("flock", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT));

    private final int fd;
    private boolean closed;

    private ExclusiveLock(int fd) {
        this.fd = fd;
    }

    /**
     * Takes the lock if it is free.
     *
     * @param file created if it does not exist
     * @return null if another owner has the lock
     * @throws PosixException if the file cannot be opened, or its file system has no locks
     */
    public static @Nullable ExclusiveLock tryTake(Path file) {
        int fd = DirectFile.open(file, O_RDWR | O_CREAT | O_CLOEXEC, ALL_READ_AND_WRITE);
        boolean taken = false;
        try {
            taken = lock(fd, file);
            return taken ? new ExclusiveLock(fd) : null;
        } finally {
            if (!taken) {
                Posix.close(fd);
            }
        }
    }

    private static boolean lock(int fd, Path file) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(Posix.ERRNO_LAYOUT);
            MemorySegment whole = arena.allocate(FLOCK_BYTES, Long.BYTES);
            whole.set(JAVA_SHORT, 0, F_WRLCK);
            int result = (int) MH$fcntl.invokeExact(state, fd, F_OFD_SETLK, whole);
            if (result < 0 && Posix.errno(state) == Errno.EINVAL) {
                // The kernel of a sandbox may lack these locks and have flock, which is as good there.
                result = (int) MH$flock.invokeExact(state, fd, LOCK_EXCLUSIVE_NOW);
            }
            boolean others = result < 0 && (Posix.errno(state) == Errno.EAGAIN || Posix.errno(state) == Errno.EACCES);
            if (!others) {
                Posix.check(result, state, "lock of %s", file);
            }
            return !others;
        } catch (Throwable e) {
            throw Posix.rethrow(e);
        }
    }

    /** Idempotent. */
    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            Posix.close(fd);
        }
    }
}
