package io.farheap.posix;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.AddressLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.util.BitSet;
import java.util.Locale;
import java.util.function.IntSupplier;

/**
 * The system calls that have no API in the JDK, bound once. Every method either succeeds or throws
 * {@link PosixException} with the call, its arguments and errno. Any thread may call; nothing here is on a data path.
 */
public final class Posix {

    public static final String NATIVE_ACCESS_HELP = "Farheap calls native code: start the JVM with "
            + "--enable-native-access=ALL-UNNAMED, or, if Farheap is on the module path, with "
            + "--enable-native-access=io.farheap,org.bytedeco.javacpp";

    /** The oldest version, as README.md states it. */
    public static final String OLDEST_GLIBC = "glibc 2.27";

    private static final int MFD_CLOEXEC = 1;
    private static final int MFD_ALLOW_SEALING = 2;
    private static final int MFD_HUGETLB = 4;
    private static final int MFD_NOEXEC_SEAL = 8;
    private static final int F_ADD_SEALS = 1033;
    private static final int F_SEAL_SEAL = 1;
    private static final int F_SEAL_SHRINK = 2;
    private static final int F_SEAL_GROW = 4;
    private static final int PROT_READ_WRITE = 3;
    private static final int MAP_SHARED = 1;
    private static final int MAP_PRIVATE = 2;
    private static final int MAP_ANONYMOUS = 0x20;
    private static final int MAP_POPULATE = 0x8000;
    private static final boolean X86_64 = System.getProperty("os.arch").equals("amd64");
    private static final int SYS_MEMBARRIER = X86_64 ? 324 : 283;
    private static final int MADV_REMOVE = 9;
    private static final int MADV_HUGEPAGE = 14;
    private static final int MADV_NOHUGEPAGE = 15;
    private static final int MADV_POPULATE_WRITE = 23;
    /**
     * How much is populated by one call: populating keeps the process's other threads from changing its address space,
     * as an allocation may do.
     */
    private static final long POPULATED_AT_ONCE = 16L << 20;
    /** The length of a core mask: 8192 cores, the most that Linux is built for. */
    private static final int MASK_BYTES = 1024;

    private static final int RLIMIT_NOFILE = 7;
    /** struct rlimit: the limit in force, and the one up to which it may be raised. */
    private static final long RLIMIT_BYTES = 2 * Long.BYTES;

    private static final int PR_SET_TIMERSLACK = 29;
    private static final int PR_GET_TIMERSLACK = 30;

    private static final Linker LINKER = linker();
    private static final SymbolLookup LIBC = LINKER.defaultLookup();
    static final MemoryLayout ERRNO_LAYOUT = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO = ERRNO_LAYOUT.varHandle(MemoryLayout.PathElement.groupElement("errno"));
    private static final AddressLayout POINTER = ADDRESS;

    private static final MethodHandle MH$memfd_create =
            bind("memfd_create", FunctionDescriptor.of(JAVA_INT, POINTER, JAVA_INT));
    private static final MethodHandle MH$madvise =
            bind("madvise", FunctionDescriptor.of(JAVA_INT, POINTER, JAVA_LONG, JAVA_INT));
    private static final MethodHandle MH$fallocate =
            bind("fallocate", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle MH$ftruncate =
            bind("ftruncate", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG));
    private static final MethodHandle MH$fcntl = bind(
            "fcntl", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT), Linker.Option.firstVariadicArg(2));
    private static final MethodHandle MH$mmap = bind(
            "mmap", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG));
    private static final MethodHandle MH$munmap = bind("munmap", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle MH$geteuid = bind("geteuid", FunctionDescriptor.of(JAVA_INT));
    private static final MethodHandle MH$close = bind("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
    private static final MethodHandle MH$getrlimit =
            bind("getrlimit", FunctionDescriptor.of(JAVA_INT, JAVA_INT, POINTER));
    private static final MethodHandle MH$sched_getaffinity =
            bind("sched_getaffinity", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, POINTER));
    private static final MethodHandle MH$sched_setaffinity =
            bind("sched_setaffinity", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, POINTER));
    private static final MethodHandle MH$sched_getcpu = bind("sched_getcpu", FunctionDescriptor.of(JAVA_INT));
    private static final FunctionDescriptor MEMBARRIER =
            FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT);
    /** Allocates nothing, also while it is not compiled, as a call that reports its error number does. */
    private static final MethodHandle MH$membarrier =
            bindPlain("syscall", MEMBARRIER, Linker.Option.firstVariadicArg(1));

    private static final MethodHandle MH$membarrier_errno =
            bind("syscall", MEMBARRIER, Linker.Option.firstVariadicArg(1));
    private static final MethodHandle MH$prctl = bind(
            "prctl",
            FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG),
            Linker.Option.firstVariadicArg(1));

    private Posix() {}

    private static Linker linker() {
        try {
            return Linker.nativeLinker();
        } catch (IllegalCallerException e) {
            throw new UnsupportedOperationException(NATIVE_ACCESS_HELP, e);
        }
    }

    static MethodHandle bind(String name, FunctionDescriptor descriptor, Linker.Option... options) {
        return bindPlain(name, descriptor, withErrno(options));
    }

    private static Linker.Option[] withErrno(Linker.Option... options) {
        Linker.Option[] all = new Linker.Option[options.length + 1];
        all[0] = Linker.Option.captureCallState("errno");
        System.arraycopy(options, 0, all, 1, options.length);
        return all;
    }

    /** Binds a function whose errno is not needed. */
    static MethodHandle bindPlain(String name, FunctionDescriptor descriptor, Linker.Option... options) {
        MemorySegment symbol = LIBC.find(name)
                .orElseThrow(() -> new UnsupportedOperationException(
                        "the C library has no " + name + "; Farheap needs " + OLDEST_GLIBC + " or newer"));
        try {
            return LINKER.downcallHandle(symbol, descriptor, options);
        } catch (IllegalCallerException e) {
            throw new UnsupportedOperationException(NATIVE_ACCESS_HELP, e);
        }
    }

    /**
     * Creates an anonymous file that other processes may map. {@link #truncateAndSeal} seals it.
     *
     * @param hugePages whether it must consist of huge pages; fails if the machine has none
     * @return a descriptor, closed on exec; the caller closes it
     */
    public static int memfd(String name, boolean hugePages) {
        int flags = MFD_CLOEXEC | MFD_ALLOW_SEALING | (hugePages ? MFD_HUGETLB : 0);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(ERRNO_LAYOUT);
            MemorySegment text = arena.allocateFrom(name);
            int fd = (int) MH$memfd_create.invokeExact(state, text, flags);
            if (fd < 0 && errno(state) == Errno.EACCES) {
                // The sysctl vm.memfd_noexec is 2. Kernels before 6.3 do not know the flag.
                flags |= MFD_NOEXEC_SEAL;
                fd = (int) MH$memfd_create.invokeExact(state, text, flags);
            }
            return check(fd, state, "memfd_create(%s, %#x)", name, flags);
        } catch (Throwable e) {
            throw rethrow(e);
        }
    }

    /** Gives the file its size and seals it, so that no peer's truncate can raise SIGBUS in a process that maps it. */
    public static void truncateAndSeal(int fd, long bytes) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(ERRNO_LAYOUT);
            check((int) MH$ftruncate.invokeExact(state, fd, bytes), state, "ftruncate(%d, %d)", fd, bytes);
            int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
            check(
                    (int) MH$fcntl.invokeExact(state, fd, F_ADD_SEALS, seals),
                    state,
                    "fcntl(%d, F_ADD_SEALS, %#x)",
                    fd,
                    seals);
        } catch (Throwable e) {
            throw rethrow(e);
        }
    }

    /**
     * Maps the whole file, shared, readable and writable, with its pages populated. The caller unmaps it.
     *
     * @param prefersHugePages whether to advise the kernel to make huge pages, or to make none. Most kernels follow
     *     only if {@code /sys/kernel/mm/transparent_hugepage/shmem_enabled} allows it
     * @throws PosixException if the machine, or a limit, has not enough pages of the file's kind; without this check an
     *     access would end the process
     */
    public static long map(int fd, long bytes, boolean prefersHugePages) {
        int wish = prefersHugePages ? MADV_HUGEPAGE : MADV_NOHUGEPAGE;
        MemorySegment mapped = map(fd, bytes, MAP_SHARED);
        try {
            wish(mapped, wish);
            if (populated(mapped)) {
                return mapped.address();
            }
            // A kernel before 5.14: if it populates at mmap, it does not report pages that it could not get.
            takePages(fd, 0, bytes);
        } catch (Throwable e) {
            unmap(mapped.address(), bytes);
            throw e;
        }
        unmap(mapped.address(), bytes);
        MemorySegment again = map(fd, bytes, MAP_SHARED | MAP_POPULATE);
        wish(again, wish);
        return again.address();
    }

    /**
     * Maps memory of this process's own, zeroed and populated, in huge pages if the kernel allows it. The caller unmaps
     * it.
     */
    public static long mapPrivate(long bytes) {
        return mapPrivate(bytes, true);
    }

    /** The same. @param populate whether to populate it now, and not page by page at the first accesses */
    public static long mapPrivate(long bytes, boolean populate) {
        MemorySegment mapped = map(-1, bytes, MAP_PRIVATE | MAP_ANONYMOUS);
        try {
            wish(mapped, MADV_HUGEPAGE);
            if (populate) {
                // A kernel before 5.14 does not populate here, but at the first access.
                boolean _ = populated(mapped);
            }
            return mapped.address();
        } catch (Throwable e) {
            unmap(mapped.address(), bytes);
            throw e;
        }
    }

    private static MemorySegment map(int fd, long bytes, int flags) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(ERRNO_LAYOUT);
            long address = (long) MH$mmap.invokeExact(state, 0L, bytes, PROT_READ_WRITE, flags, fd, 0L);
            check(address == -1 ? -1 : 0, state, "mmap of %d bytes", bytes);
            return MemorySegment.ofAddress(address).reinterpret(bytes);
        } catch (Throwable e) {
            throw rethrow(e);
        }
    }

    private static void wish(MemorySegment mapped, int advice) {
        try (Arena arena = Arena.ofConfined()) {
            int _ = (int) MH$madvise.invokeExact(arena.allocate(ERRNO_LAYOUT), mapped, mapped.byteSize(), advice);
        } catch (Throwable e) {
            throw rethrow(e);
        }
    }

    /**
     * Populates a part of a file that is mapped shared.
     *
     * @param offset of the part in the file; the part must be of whole pages
     * @throws PosixException if the machine, or a limit, has not enough pages: some may be populated
     */
    public static void populate(int fd, long offset, MemorySegment part) {
        if (!populated(part)) {
            takePages(fd, offset, part.byteSize());
        }
    }

    /** @return false if the kernel does not support it */
    private static boolean populated(MemorySegment mapped) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(ERRNO_LAYOUT);
            for (long done = 0; done < mapped.byteSize(); ) {
                long piece = Math.min(POPULATED_AT_ONCE, mapped.byteSize() - done);
                MemorySegment at = mapped.asSlice(done, piece);
                if ((int) MH$madvise.invokeExact(state, at, piece, MADV_POPULATE_WRITE) == 0) {
                    done += piece;
                } else if (done == 0 && errno(state) == Errno.EINVAL) {
                    return false;
                } else if (errno(state) != Errno.EINTR) {
                    check(-1, state, "madvise(%#x, %d, MADV_POPULATE_WRITE)", at.address(), piece);
                }
            }
            return true;
        } catch (Throwable e) {
            throw rethrow(e);
        }
    }

    /** Allocates the file's pages. */
    private static void takePages(int fd, long offset, long bytes) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(ERRNO_LAYOUT);
            for (long done = 0; done < bytes; ) {
                long at = offset + done;
                long piece = Math.min(POPULATED_AT_ONCE, bytes - done);
                if ((int) MH$fallocate.invokeExact(state, fd, 0, at, piece) == 0) {
                    done += piece;
                } else if (errno(state) != Errno.EINTR) {
                    check(-1, state, "fallocate(%d, %d, %d)", fd, at, piece);
                }
            }
        } catch (Throwable e) {
            throw rethrow(e);
        }
    }

    /**
     * Gives the pages of shared memory back to the kernel, for all processes that have it mapped. Afterwards they read
     * as zeros, and a write allocates them again.
     *
     * @param part of whole pages of its file: for less the kernel gives nothing back
     */
    public static void discard(MemorySegment part) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(ERRNO_LAYOUT);
            check(
                    (int) MH$madvise.invokeExact(state, part, part.byteSize(), MADV_REMOVE),
                    state,
                    "madvise(%#x, %d, MADV_REMOVE)",
                    part.address(),
                    part.byteSize());
        } catch (Throwable e) {
            throw rethrow(e);
        }
    }

    /** How many file descriptors this process may have ({@code ulimit -n}). This call uses none. */
    public static long mostDescriptors() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(ERRNO_LAYOUT);
            MemorySegment limit = arena.allocate(RLIMIT_BYTES, Long.BYTES);
            check((int) MH$getrlimit.invokeExact(state, RLIMIT_NOFILE, limit), state, "getrlimit(%d)", RLIMIT_NOFILE);
            return limit.get(JAVA_LONG, 0);
        } catch (Throwable e) {
            throw rethrow(e);
        }
    }

    public static void unmap(long address, long bytes) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(ERRNO_LAYOUT);
            check((int) MH$munmap.invokeExact(state, address, bytes), state, "munmap(%#x, %d)", address, bytes);
        } catch (Throwable e) {
            throw rethrow(e);
        }
    }

    public static void close(int fd) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(ERRNO_LAYOUT);
            int result = (int) MH$close.invokeExact(state, fd);
            if (!interrupted(result, state)) {
                check(result, state, "close(%d)", fd);
            }
            // After EINTR Linux has closed it all the same.
        } catch (Throwable e) {
            throw rethrow(e);
        }
    }

    /**
     * The cores that a thread may run on.
     *
     * @param thread its kernel thread id; 0 for the calling thread
     */
    public static BitSet affinity(int thread) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(ERRNO_LAYOUT);
            MemorySegment mask = arena.allocate(MASK_BYTES, 8);
            check(
                    (int) MH$sched_getaffinity.invokeExact(state, thread, (long) MASK_BYTES, mask),
                    state,
                    "sched_getaffinity(%d)",
                    thread);
            return BitSet.valueOf(mask.toArray(JAVA_BYTE));
        } catch (Throwable e) {
            throw rethrow(e);
        }
    }

    /** The core that the calling thread is running on. */
    public static int currentCore() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(ERRNO_LAYOUT);
            return check((int) MH$sched_getcpu.invokeExact(state), state, "sched_getcpu()");
        } catch (Throwable e) {
            throw rethrow(e);
        }
    }

    /** Makes the calling thread run on these cores only. */
    public static void setAffinity(BitSet cores) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(ERRNO_LAYOUT);
            MemorySegment mask = arena.allocate(MASK_BYTES, 8);
            byte[] bytes = cores.toByteArray();
            MemorySegment.copy(bytes, 0, mask, JAVA_BYTE, 0, Math.min(bytes.length, MASK_BYTES));
            check(
                    (int) MH$sched_setaffinity.invokeExact(state, 0, (long) MASK_BYTES, mask),
                    state,
                    "sched_setaffinity(%s)",
                    cores);
        } catch (Throwable e) {
            throw rethrow(e);
        }
    }

    /** How much later than requested the kernel may wake the calling thread, in ns. */
    static long timerSlack() {
        return prctl(PR_GET_TIMERSLACK, 0);
    }

    static void timerSlack(long nanos) {
        prctl(PR_SET_TIMERSLACK, nanos);
    }

    /** The effective user id of this process. */
    public static int effectiveUser() {
        try (Arena arena = Arena.ofConfined()) {
            return (int) MH$geteuid.invokeExact(arena.allocate(ERRNO_LAYOUT));
        } catch (Throwable e) {
            throw rethrow(e);
        }
    }

    private static int prctl(int option, long argument) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(ERRNO_LAYOUT);
            return check(
                    (int) MH$prctl.invokeExact(state, option, argument, 0L, 0L, 0L),
                    state,
                    "prctl(%d, %d)",
                    option,
                    argument);
        } catch (Throwable e) {
            throw rethrow(e);
        }
    }

    /**
     * Calls membarrier(2).
     *
     * @return 0, or minus the error number
     */
    static int membarrier(int command) {
        try {
            if ((long) MH$membarrier.invokeExact((long) SYS_MEMBARRIER, command, 0, 0) == 0) {
                return 0;
            }
            // A second call returns the error number, or succeeds.
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment state = arena.allocate(ERRNO_LAYOUT);
                long result = (long) MH$membarrier_errno.invokeExact(state, (long) SYS_MEMBARRIER, command, 0, 0);
                return result == 0 ? 0 : -errno(state);
            }
        } catch (Throwable e) {
            throw rethrow(e);
        }
    }

    static int check(int result, MemorySegment state, String call, Object... arguments) {
        if (result < 0) {
            throw new PosixException(String.format(Locale.ROOT, call, arguments), errno(state));
        }
        return result;
    }

    /** Whether a signal interrupted a call. */
    static boolean interrupted(int result, MemorySegment state) {
        return result < 0 && errno(state) == Errno.EINTR;
    }

    /**
     * Repeats a call for as long as it fails with one particular error.
     *
     * @param call returns 0, or minus the error number
     */
    static int unless(int error, IntSupplier call) {
        int result = call.getAsInt();
        while (result == -error) {
            Thread.onSpinWait();
            result = call.getAsInt();
        }
        return result;
    }

    static int errno(MemorySegment state) {
        return (int) ERRNO.get(state, 0L);
    }

    static RuntimeException rethrow(Throwable e) {
        if (e instanceof RuntimeException runtime) {
            return runtime;
        }
        if (e instanceof Error error) {
            throw error;
        }
        return new IllegalStateException(e);
    }
}
