package io.farheap.posix;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

/**
 * Linux's io_uring by system calls (io_uring(7)): operations are put into a ring that the kernel reads, and it writes
 * their results into another ring, so one call, or none, begins or ends many operations. One thread at a time; only
 * {@link #open} allocates.
 *
 * <p>In the submission ring the kernel reads entries below the tail, which {@link #submit} stores with release, and
 * stores the head with release once it has read them. In the completion ring the kernel stores the tail, and
 * {@link #take} the head.
 */
public final class IoUring implements AutoCloseable {

    private static final long SYS_SETUP = 425;
    private static final long SYS_ENTER = 426;
    private static final int PROT_READ_WRITE = 3;
    private static final int MAP_SHARED_POPULATE = 0x8001;
    private static final long OFFSET_RINGS = 0;
    private static final long OFFSET_ENTRIES = 0x10000000L;

    private static final int FEATURE_SINGLE_MMAP = 1;
    private static final int FEATURE_NODROP = 1 << 1;
    private static final int FEATURE_EXT_ARG = 1 << 8;
    private static final int FEATURES = FEATURE_SINGLE_MMAP | FEATURE_NODROP | FEATURE_EXT_ARG;
    private static final int ENTER_GETEVENTS = 1;
    private static final int ENTER_EXT_ARG = 1 << 3;

    private static final byte OP_FSYNC = 3;
    private static final byte OP_READ = 22;
    private static final byte OP_WRITE = 23;
    private static final int FSYNC_DATASYNC = 1;

    /** struct io_uring_params: it has the offsets of the fields of both rings. */
    private static final int PARAMS_BYTES = 120;

    private static final int FEATURES_AT = 20;
    private static final int SUBMISSIONS_AT = 40;
    private static final int COMPLETIONS_AT = 80;
    private static final int HEAD_AT = 0;
    private static final int TAIL_AT = 4;
    private static final int MASK_AT = 8;
    private static final int ARRAY_AT = 24;
    private static final int RESULTS_AT = 20;

    private static final int ENTRY_BYTES = 64;
    private static final int RESULT_BYTES = 16;
    private static final int WAIT_BYTES = 24;
    private static final int TIMESPEC_BYTES = 16;

    private static final VarHandle WORD = JAVA_INT.varHandle();

    private static final MethodHandle MH$setup = Posix.bind(
            "syscall",
            FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG),
            Linker.Option.firstVariadicArg(1));
    private static final MethodHandle MH$enter = Posix.bindPlain(
            "syscall",
            FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG),
            Linker.Option.firstVariadicArg(1));
    private static final MethodHandle MH$mmap = Posix.bind(
            "mmap", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG));

    private final int fd;
    private final int entryCount;
    private final long ringBytes;
    private final Arena arena = Arena.ofShared();
    /** Both rings: words by offset. */
    private final MemorySegment rings;

    private final MemorySegment entries;
    private final MemorySegment wait;
    private final MemorySegment timeout;
    private final int submissionHead;
    private final int submissionTail;
    private final int submissionMask;
    private final int completionHead;
    private final int completionTail;
    private final int completionMask;
    private final int results;

    /** The index of the next entry, and the index up to which the kernel has taken entries. */
    private int tail;

    private int submitted;
    private int head;

    private IoUring(int fd, int entryCount, MemorySegment params) {
        this.fd = fd;
        this.entryCount = entryCount;
        submissionHead = params.get(JAVA_INT, SUBMISSIONS_AT + HEAD_AT);
        submissionTail = params.get(JAVA_INT, SUBMISSIONS_AT + TAIL_AT);
        int array = params.get(JAVA_INT, SUBMISSIONS_AT + ARRAY_AT);
        completionHead = params.get(JAVA_INT, COMPLETIONS_AT + HEAD_AT);
        completionTail = params.get(JAVA_INT, COMPLETIONS_AT + TAIL_AT);
        results = params.get(JAVA_INT, COMPLETIONS_AT + RESULTS_AT);
        int completions = params.get(JAVA_INT, 4);
        ringBytes = Math.max(array + 4L * entryCount, results + (long) RESULT_BYTES * completions);
        rings = map(OFFSET_RINGS, ringBytes);
        try {
            entries = map(OFFSET_ENTRIES, (long) ENTRY_BYTES * entryCount);
        } catch (Throwable e) {
            Posix.unmap(rings.address(), ringBytes);
            throw e;
        }
        submissionMask = rings.get(JAVA_INT, params.get(JAVA_INT, SUBMISSIONS_AT + MASK_AT));
        completionMask = rings.get(JAVA_INT, params.get(JAVA_INT, COMPLETIONS_AT + MASK_AT));
        for (int i = 0; i < entryCount; i++) {
            rings.set(JAVA_INT, array + 4L * i, i);
        }
        wait = arena.allocate(WAIT_BYTES, 8);
        timeout = arena.allocate(TIMESPEC_BYTES, 8);
        wait.set(JAVA_LONG, 16, timeout.address());
    }

    /**
     * Opens a ring.
     *
     * @param operations the most operations between {@link #submit} and {@link #take}; rounded up to a power of two
     * @throws PosixException with {@link Errno#EPERM} or ENOSYS if this process may not use it, as in most containers
     * @throws UnsupportedOperationException if the kernel is older than 5.11
     */
    public static IoUring open(int operations) {
        int count = Integer.highestOneBit(Math.max(1, operations - 1)) << 1;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(Posix.ERRNO_LAYOUT);
            MemorySegment params = arena.allocate(PARAMS_BYTES, 8);
            int fd = (int) (long) MH$setup.invokeExact(state, SYS_SETUP, count, params.address());
            Posix.check(fd, state, "io_uring_setup(%d)", count);
            try {
                if ((params.get(JAVA_INT, FEATURES_AT) & FEATURES) != FEATURES) {
                    throw new UnsupportedOperationException("io_uring needs Linux 5.11 or newer");
                }
                return new IoUring(fd, params.get(JAVA_INT, 0), params);
            } catch (Throwable e) {
                Posix.close(fd);
                throw e;
            }
        } catch (Throwable e) {
            throw Posix.rethrow(e);
        }
    }

    private MemorySegment map(long offset, long bytes) {
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment state = scratch.allocate(Posix.ERRNO_LAYOUT);
            long address =
                    (long) MH$mmap.invokeExact(state, 0L, bytes, PROT_READ_WRITE, MAP_SHARED_POPULATE, fd, offset);
            Posix.check(address == -1 ? -1 : 0, state, "mmap of %d bytes of an io_uring", bytes);
            return MemorySegment.ofAddress(address).reinterpret(bytes, arena, null);
        } catch (Throwable e) {
            throw Posix.rethrow(e);
        }
    }

    /** Whether there is room for one more operation. */
    public boolean hasRoom() {
        return tail - (int) WORD.getAcquire(rings, (long) submissionHead) < entryCount;
    }

    /** How many operations {@link #submit} would pass to the kernel. */
    public int prepared() {
        return tail - submitted;
    }

    /**
     * Prepares a read. There must be {@linkplain #hasRoom room}; the memory must stay mapped until the operation ends.
     */
    public void read(int file, long position, long address, int length, long token) {
        prepare(OP_READ, file, position, address, length, 0, token);
    }

    /**
     * Prepares a write. There must be {@linkplain #hasRoom room}; the memory must stay mapped until the operation ends.
     */
    public void write(int file, long position, long address, int length, long token) {
        prepare(OP_WRITE, file, position, address, length, 0, token);
    }

    /** Prepares an fdatasync(2). There must be {@linkplain #hasRoom room}. */
    public void syncData(int file, long token) {
        prepare(OP_FSYNC, file, 0, 0, 0, FSYNC_DATASYNC, token);
    }

    private void prepare(byte operation, int file, long position, long address, int length, int flags, long token) {
        long at = (long) (tail & submissionMask) * ENTRY_BYTES;
        entries.set(JAVA_LONG, at, operation);
        entries.set(JAVA_INT, at + 4, file);
        entries.set(JAVA_LONG, at + 8, position);
        entries.set(JAVA_LONG, at + 16, address);
        entries.set(JAVA_INT, at + 24, length);
        entries.set(JAVA_INT, at + 28, flags);
        entries.set(JAVA_LONG, at + 32, token);
        entries.set(JAVA_LONG, at + 40, 0);
        entries.set(JAVA_LONG, at + 48, 0);
        entries.set(JAVA_LONG, at + 56, 0);
        tail++;
    }

    /**
     * Passes the prepared operations to the kernel. Those that it does not take now, for lack of memory, are passed
     * again by the next call.
     */
    public void submit() {
        if (tail != submitted) {
            WORD.setRelease(rings, (long) submissionTail, tail);
            enter(tail - submitted, 0, 0, 0, 0);
        }
    }

    /** As {@link #submit}, and waits until there is a result, or some time has passed. */
    public void submitAndWait(long nanos) {
        WORD.setRelease(rings, (long) submissionTail, tail);
        timeout.set(JAVA_LONG, 0, nanos / 1_000_000_000);
        timeout.set(JAVA_LONG, 8, nanos % 1_000_000_000);
        enter(tail - submitted, 1, ENTER_GETEVENTS | ENTER_EXT_ARG, wait.address(), WAIT_BYTES);
    }

    private void enter(int count, int least, int flags, long argument, long bytes) {
        try {
            // If the call also waits, its result does not say how many entries were taken; the ring's head does.
            long _ = (long) MH$enter.invokeExact(SYS_ENTER, fd, count, least, flags, argument, bytes);
        } catch (Throwable e) {
            throw Posix.rethrow(e);
        }
        submitted = (int) WORD.getAcquire(rings, (long) submissionHead);
    }

    /** Whether there is a result. */
    public boolean hasNext() {
        return head != (int) WORD.getAcquire(rings, (long) completionTail);
    }

    /** The token of the oldest result, as given with the operation. There must be a result. */
    public long token() {
        return rings.get(JAVA_LONG, results + (long) (head & completionMask) * RESULT_BYTES);
    }

    /** The oldest result: a number of bytes, or a negative errno. */
    public int result() {
        return rings.get(JAVA_INT, results + (long) (head & completionMask) * RESULT_BYTES + 8);
    }

    /** Removes the oldest result. */
    public void take() {
        head++;
        WORD.setRelease(rings, (long) completionHead, head);
    }

    /** Closes the ring. No operation may be under way. */
    @Override
    public void close() {
        Posix.unmap(entries.address(), (long) ENTRY_BYTES * entryCount);
        Posix.unmap(rings.address(), ringBytes);
        arena.close();
        Posix.close(fd);
    }
}
