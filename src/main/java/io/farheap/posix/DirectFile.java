package io.farheap.posix;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;

/**
 * A file that is read and written at positions, past the kernel's page cache if the file system supports that. Unlike a
 * {@code FileChannel} it exposes its descriptor, for io_uring, is not closed by an interrupt, takes memory by address
 * and allocates nothing. Any thread may call; no thread may call while it is being closed, or later.
 */
public final class DirectFile {

    private static final boolean X86_64 = System.getProperty("os.arch").equals("amd64");
    private static final int O_RDWR = 2;
    private static final int O_CREAT = 0x40;
    private static final int O_EXCL = 0x80;
    private static final int O_CLOEXEC = 0x80000;
    private static final int O_DIRECT = X86_64 ? 0x4000 : 0x10000;
    private static final int O_DIRECTORY = X86_64 ? 0x10000 : 0x4000;
    private static final int OWNER_ONLY = 0600;
    private static final int SEEK_END = 2;

    private static final MethodHandle MH$open = Posix.bind(
            "open",
            FunctionDescriptor.of(JAVA_INT, ValueLayout.ADDRESS, JAVA_INT, JAVA_INT),
            Linker.Option.firstVariadicArg(2));
    private static final MethodHandle MH$fsync = Posix.bind("fsync", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
    private static final MethodHandle MH$lseek =
            Posix.bind("lseek", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_INT));
    private static final MethodHandle MH$pread =
            Posix.bindPlain("pread", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle MH$pwrite =
            Posix.bindPlain("pwrite", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle MH$preadAgain =
            Posix.bind("pread", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle MH$pwriteAgain =
            Posix.bind("pwrite", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle MH$fdatasync =
            Posix.bindPlain("fdatasync", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
    private static final MethodHandle MH$fdatasyncAgain =
            Posix.bind("fdatasync", FunctionDescriptor.of(JAVA_INT, JAVA_INT));

    private final int fd;

    private DirectFile(int fd) {
        this.fd = fd;
    }

    /**
     * Opens a file for reading and writing.
     *
     * @param create whether to create the file, which must not exist then
     * @param direct whether to bypass the page cache: memory, positions and lengths must then be multiples of the
     *     device's block
     * @throws PosixException with {@link Errno#EINVAL} if the file system has no direct input and output
     */
    public static DirectFile open(Path path, boolean create, boolean direct) {
        int flags = O_RDWR | O_CLOEXEC | (create ? O_CREAT | O_EXCL : 0) | (direct ? O_DIRECT : 0);
        return new DirectFile(open(path, flags, OWNER_ONLY));
    }

    /** @param mode the mode of a file that it creates */
    static int open(Path path, int flags, int mode) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(Posix.ERRNO_LAYOUT);
            MemorySegment name = arena.allocateFrom(JAVA_BYTE, FileNames.terminated(path));
            int fd;
            do {
                fd = (int) MH$open.invokeExact(state, name, flags, mode);
            } while (Posix.interrupted(fd, state));
            return Posix.check(fd, state, "open(%s, %#x)", path, flags);
        } catch (Throwable e) {
            throw Posix.rethrow(e);
        }
    }

    /** Makes a directory's entries durable: files that were created, renamed or removed. */
    public static void syncDirectory(Path path) {
        int fd = open(path, O_DIRECTORY | O_CLOEXEC, 0);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(Posix.ERRNO_LAYOUT);
            int result;
            do {
                result = (int) MH$fsync.invokeExact(state, fd);
            } while (Posix.interrupted(result, state));
            Posix.check(result, state, "fsync(%s)", path);
        } catch (Throwable e) {
            throw Posix.rethrow(e);
        } finally {
            Posix.close(fd);
        }
    }

    public int descriptor() {
        return fd;
    }

    /** The file's length in bytes. */
    public long size() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(Posix.ERRNO_LAYOUT);
            long end = (long) MH$lseek.invokeExact(state, fd, 0L, SEEK_END);
            Posix.check(end < 0 ? -1 : 0, state, "lseek(%d, SEEK_END)", fd);
            return end;
        } catch (Throwable e) {
            throw Posix.rethrow(e);
        }
    }

    /**
     * Reads bytes at a position.
     *
     * @param address of memory that must stay mapped until this returns
     * @return how many bytes were read, 0 at the end of the file; if it failed, minus the error number
     */
    public long read(long position, long address, long length) {
        try {
            long bytes = (long) MH$pread.invokeExact(fd, address, length, position);
            return bytes < 0 ? again(MH$preadAgain, position, address, length) : bytes;
        } catch (Throwable e) {
            throw Posix.rethrow(e);
        }
    }

    /**
     * Writes bytes at a position.
     *
     * @param address of memory that must stay mapped until this returns
     * @return how many bytes were written; if it failed, minus the error number
     */
    public long write(long position, long address, long length) {
        try {
            long bytes = (long) MH$pwrite.invokeExact(fd, address, length, position);
            return bytes < 0 ? again(MH$pwriteAgain, position, address, length) : bytes;
        } catch (Throwable e) {
            throw Posix.rethrow(e);
        }
    }

    /** Repeats a failed call by a slower one that returns the error number; it may succeed this time. */
    private long again(MethodHandle call, long position, long address, long length) throws Throwable {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(Posix.ERRNO_LAYOUT);
            long bytes = (long) call.invokeExact(state, fd, address, length, position);
            return bytes < 0 ? -Posix.errno(state) : bytes;
        }
    }

    /**
     * Makes the written bytes and the length durable.
     *
     * @return 0, or the error number
     */
    public int syncData() {
        try {
            return (int) MH$fdatasync.invokeExact(fd) == 0 ? 0 : whySyncFailed();
        } catch (Throwable e) {
            throw Posix.rethrow(e);
        }
    }

    /**
     * The error number of a second call, which allocates; EIO if that succeeds, since the kernel may report the error
     * only once.
     */
    private int whySyncFailed() throws Throwable {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(Posix.ERRNO_LAYOUT);
            int result;
            do {
                result = (int) MH$fdatasyncAgain.invokeExact(state, fd);
            } while (Posix.interrupted(result, state));
            return result == 0 ? Errno.EIO : Posix.errno(state);
        }
    }

    public void close() {
        Posix.close(fd);
    }
}
