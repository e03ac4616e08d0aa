package io.farheap.testing;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.farheap.posix.Errno;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.stream.LongStream;

/**
 * Has the kernel refuse system calls to a thread, and to those that it starts, by a seccomp filter: as a container
 * does, or a kernel that does not know the call. On x86-64.
 */
public final class RefusedCalls {

    /**
     * @param number of the call
     * @param argument index, from 0, of the argument that selects the calls; below 0 for calls with any arguments
     * @param value of that argument's lower half
     * @param errno with which the calls fail
     */
    public record Call(int number, int argument, int value, int errno) {

        /** A call that fails, whatever its arguments are. */
        public static Call of(int number, int errno) {
            return new Call(number, -1, 0, errno);
        }

        /** The call madvise, with MADV_POPULATE_WRITE. */
        public static Call populate(int errno) {
            return new Call(28, 2, 23, errno);
        }

        /** The call fallocate. */
        public static Call takePages(int errno) {
            return of(285, errno);
        }

        private LongStream instructions() {
            long refuse = instruction(RETURN, 0, 0x50000 | errno);
            if (argument < 0) {
                return LongStream.of(instruction(LOAD, 0, 0), instruction(IF_EQUAL, 1, number), refuse);
            }
            return LongStream.of(
                    instruction(LOAD, 0, 0),
                    instruction(IF_EQUAL, 3, number),
                    instruction(LOAD, 0, 16 + Long.BYTES * argument),
                    instruction(IF_EQUAL, 1, value),
                    refuse);
        }
    }

    /** As a kernel before 5.14, which does not know MADV_POPULATE_WRITE. */
    public static final Call NO_POPULATE = Call.populate(Errno.EINVAL);

    private static final int LOAD = 0x20;
    private static final int IF_EQUAL = 0x15;
    private static final int RETURN = 0x06;
    private static final int ALLOW = 0x7fff0000;

    private RefusedCalls() {}

    /** @param skipped the number of instructions to skip if the comparison fails */
    private static long instruction(int code, int skipped, int operand) {
        return code | (long) skipped << 24 | (long) operand << 32;
    }

    /**
     * Runs an action on a thread of its own to which calls are refused, unless this machine has no seccomp. It must
     * start no threads that outlive it.
     *
     * @return the action's result
     * @throws Exception that the action threw
     */
    public static <T> T during(List<Call> calls, Callable<T> action) throws Exception {
        FutureTask<T> task = new FutureTask<>(() -> {
            assumeTrue(refuse(calls), "no seccomp here");
            return action.call();
        });
        Thread.ofPlatform().start(task);
        try {
            return task.get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof Exception thrown) {
                throw thrown;
            }
            if (e.getCause() instanceof Error error) {
                throw error;
            }
            throw e;
        }
    }

    /**
     * From now on the kernel refuses these calls to the calling thread, and to threads that it starts.
     *
     * @return false if this machine has no such filters
     */
    public static boolean refuse(List<Call> calls) {
        Linker linker = Linker.nativeLinker();
        MethodHandle prctl = linker.downcallHandle(
                linker.defaultLookup().findOrThrow("prctl"),
                FunctionDescriptor.of(
                        ValueLayout.JAVA_INT,
                        ValueLayout.JAVA_INT,
                        ValueLayout.JAVA_LONG,
                        ValueLayout.JAVA_LONG,
                        ValueLayout.JAVA_LONG,
                        ValueLayout.JAVA_LONG),
                Linker.Option.firstVariadicArg(1));
        long[] program = LongStream.concat(
                        calls.stream().flatMapToLong(Call::instructions), LongStream.of(instruction(RETURN, 0, ALLOW)))
                .toArray();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment filter = arena.allocateFrom(ValueLayout.JAVA_LONG, program);
            MemorySegment header = arena.allocate(16, 8);
            header.set(ValueLayout.JAVA_SHORT, 0, (short) program.length);
            header.set(ValueLayout.JAVA_LONG, 8, filter.address());
            int privileges = (int) prctl.invokeWithArguments(38, 1L, 0L, 0L, 0L);
            int installed = (int) prctl.invokeWithArguments(22, 2L, header.address(), 0L, 0L);
            return privileges == 0 && installed == 0;
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }
}
