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
 * A file that is read and written at positions, past the kernel's page cache where the file system can. Unlike a
 * {@code FileChannel} it has a descriptor, for io_uring, is not closed by an interrupt, takes memory by address and
 * allocates nothing. Any thread may call; nobody calls while, or after, it is closed.
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
     * To read and write.
     *
     * @param create whether it is to be made; it must not be there then
     * @param direct past the page cache: memory, positions and lengths are multiples of the device's block then
     * @throws PosixException with {@link Errno#EINVAL} where the file system has no direct input and output
     */
    public static DirectFile open(Path path, boolean create, boolean direct) {
        int flags = O_RDWR | O_CLOEXEC | (create ? O_CREAT | O_EXCL : 0) | (direct ? O_DIRECT : 0);
        return new DirectFile(open(path, flags, OWNER_ONLY));
    }

    /** @param mode of a file that it makes */
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

    /** Bytes. */
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
     * @param address of memory that is there until this returns
     * @return how many bytes, 0 at the end of the file; negative where it failed: minus the error number
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
     * @param address of memory that is there until this returns
     * @return how many bytes; negative where it failed: minus the error number
     */
    public long write(long position, long address, long length) {
        try {
            long bytes = (long) MH$pwrite.invokeExact(fd, address, length, position);
            return bytes < 0 ? again(MH$pwriteAgain, position, address, length) : bytes;
        } catch (Throwable e) {
            throw Posix.rethrow(e);
        }
    }

    /** What has failed, by a call that is slower and says why; it may pass now. */
    private long again(MethodHandle call, long position, long address, long length) throws Throwable {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(Posix.ERRNO_LAYOUT);
            long bytes = (long) call.invokeExact(state, fd, address, length, position);
            return bytes < 0 ? -Posix.errno(state) : bytes;
        }
    }

    /**
     * Makes durable what was written, and the length.
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

    /** As a second one says, which allocates, if it fails too: the kernel may report the error only once. */
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
