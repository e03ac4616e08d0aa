package io.farheap.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;

/**
 * Repeats one operation from C: the baseline of benchmarks for Java, on the same queue pair, in the same process and
 * thread. No other code may use the queue pair and the completion queue meanwhile. The loop,
 * {@code src/bench/native/raw_loop.c}, is in a library of its own beside this class; a call is many operations, and the
 * loop reads the clock itself.
 */
public final class RawLoop implements AutoCloseable {

    private static final String LIBRARY = "libfarheap_raw_loop.so";
    private static final SymbolLookup LOOKUP = SymbolLookup.libraryLookup(library(), Arena.global());
    private static final MethodHandle MH$create =
            bind("farheap_raw_plan_create", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT));
    private static final MethodHandle MH$free = bind("farheap_raw_plan_free", FunctionDescriptor.ofVoid(JAVA_LONG));
    private static final MethodHandle MH$aim = bind(
            "farheap_raw_plan_aim",
            FunctionDescriptor.ofVoid(
                    JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_INT));
    private static final MethodHandle MH$loop =
            bind("farheap_raw_loop", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT));
    private static final MethodHandle MH$samples = bind(
            "farheap_raw_samples",
            FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_LONG));

    private final QueuePair queuePair;
    private final CompletionQueue completions;
    private final SendRequests requests;
    private final long plan;

    /**
     * @param depth operations in flight; the queue pair has room for them
     * @param list operations that are posted as one list, of which the last is signaled; a divisor of {@code depth}
     */
    public RawLoop(QueuePair queuePair, CompletionQueue completions, int depth, int list) {
        if (depth < 1 || depth > queuePair.depth() || list < 1 || depth % list != 0) {
            throw new IllegalArgumentException("lists of " + list + " at queue depth " + depth
                    + "; the depth must be from 1 to " + queuePair.depth() + " and a multiple of the list's length");
        }
        this.queuePair = queuePair;
        this.completions = completions;
        this.requests = new SendRequests(depth);
        for (int i = 0; i < depth; i++) {
            if ((i + 1) % list != 0) {
                requests.link(i, i + 1);
            }
        }
        try {
            this.plan = (long) MH$create.invokeExact(requests.address(0), requests.stride(), depth, list);
        } catch (Throwable e) {
            requests.close();
            throw new AssertionError(e);
        }
        if (plan == 0) {
            requests.close();
            throw new OutOfMemoryError("no memory for the C loop's plan");
        }
    }

    /**
     * Sets the operation.
     *
     * @param opcode one of {@link SendRequests}' opcodes
     * @param flags of {@link SendRequests}, without {@link SendRequests#SIGNALED}
     */
    public void aim(
            int opcode, int flags, long localAddress, int bytes, int localKey, long remoteAddress, int remoteKey) {
        try {
            MH$aim.invokeExact(plan, opcode, flags, bytes, localAddress, localKey, remoteAddress, remoteKey);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /**
     * Runs so many operations.
     *
     * @return the time that they took, in ns
     * @throws VerbsException if one of them fails
     */
    public long run(int operations) {
        long nanos;
        try {
            nanos = (long) MH$loop.invokeExact(
                    queuePair.handle().address(), completions.handle().address(), plan, operations);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
        return check(nanos);
    }

    /**
     * Times single operations, one after the other, one in {@code every}.
     *
     * @param nanos receives the times
     */
    public void sample(int every, long[] nanos) {
        try (Arena samples = Arena.ofConfined()) {
            MemorySegment times = samples.allocate(JAVA_LONG, nanos.length);
            check(samples(every, nanos.length, times.address()));
            MemorySegment.copy(times, JAVA_LONG, 0, nanos, 0, nanos.length);
        }
    }

    private long samples(int every, int count, long nanosAddress) {
        try {
            return (long) MH$samples.invokeExact(
                    queuePair.handle().address(), completions.handle().address(), plan, every, count, nanosAddress);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    private static Path library() {
        Path file = VerbsLibrary.extract(RawLoop.class, "io/farheap/verbs/", LIBRARY);
        if (file == null) {
            throw new VerbsException(
                    "there is no " + LIBRARY + " beside " + RawLoop.class.getName() + "; ./farheap build makes it");
        }
        return file;
    }

    private static MethodHandle bind(String name, FunctionDescriptor descriptor) {
        return Linker.nativeLinker().downcallHandle(LOOKUP.findOrThrow(name), descriptor);
    }

    private static long check(long result) {
        if (result < 0) {
            throw new VerbsException("the C loop failed", (int) -result);
        }
        return result;
    }

    @Override
    public void close() {
        try {
            MH$free.invokeExact(plan);
        } catch (Throwable e) {
            throw new AssertionError(e);
        } finally {
            requests.close();
        }
    }
}
