package io.farheap.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.verbs.binding.ibverbs;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import org.bytedeco.javacpp.Pointer;

/**
 * One READ or WRITE at a time on a queue pair, from post to completion in one native call: one call instead of two, and
 * no stores from Java into a work request. One thread at a time. Nothing here allocates.
 */
public final class OneOperation implements AutoCloseable {

    /** Result of {@link #run}: the operation has completed, and no completion of it arrives. */
    public static final int COMPLETED = 0;
    /** Result of {@link #run}: the operation is posted, and its completion will arrive in the completion queue. */
    public static final int IN_FLIGHT = 1;
    /** Result of {@link #run}: the device refused the operation, or it ended with an error. */
    public static final int FAILED = 2;
    /** Result of {@link #run}: as {@link #IN_FLIGHT}, and the completion of another request was taken. */
    public static final int OTHER_COMPLETION = 3;

    private static final FunctionDescriptor RUN =
            FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    // Bound to the function's address, which is known once the shim is loaded: a call then needs no object.
    private static final MethodHandle MH$run = bind();
    private static final MethodHandle MH$run_critical = bind(Linker.Option.critical(false));

    private final Pointer handle;
    private final long criticalBytes;
    /** 0 once closed: checked before native code uses it. */
    private long address;

    /**
     * @param id the id of the completion, if that arrives later
     * @param inlineBytes WRITEs up to this size are posted inline; at most what the queue pair was granted
     * @param polls how often a call polls before it leaves the operation in flight; a poll takes 10 to 100 ns, and the
     *     call delays safepoints
     */
    OneOperation(
            QueuePair queuePair, CompletionQueue completions, long criticalBytes, long id, int inlineBytes, int polls) {
        this.criticalBytes = criticalBytes;
        this.handle = ibverbs.farheap_one_operation_create(
                queuePair.handle(), completions.handle(), completions.completionsAddress(), id, inlineBytes, polls);
        if (handle == null) {
            throw new OutOfMemoryError("no native memory for a work request");
        }
        this.address = handle.address();
    }

    /**
     * Runs an operation. Nothing else should be in flight on the completion queue, and neither it nor the queue pair
     * may be closed.
     *
     * @param localAddress an address in memory registered under {@code localKey}; the caller has checked {@code bytes}
     *     against it
     * @return {@link #COMPLETED}; {@link #IN_FLIGHT}: the completion will arrive in the completion queue, with this
     *     object's id; {@link #OTHER_COMPLETION}: the same, and the completion of another request was taken, which is
     *     now the first that the queue's accessors read; or {@link #FAILED}: the device refused it, or it ended with an
     *     error
     */
    public int run(boolean write, long localAddress, int localKey, long remoteAddress, int remoteKey, int bytes) {
        if (address == 0) {
            throw new IllegalStateException("the connection is closed");
        }
        long lengthAndKey = (long) localKey << 32 | bytes;
        long keyAndWrite = Integer.toUnsignedLong(remoteKey) | (write ? 1L << 32 : 0);
        int result;
        try {
            result = bytes <= criticalBytes
                    ? (int) MH$run_critical.invokeExact(address, localAddress, remoteAddress, lengthAndKey, keyAndWrite)
                    : (int) MH$run.invokeExact(address, localAddress, remoteAddress, lengthAndKey, keyAndWrite);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
        return result < 0 ? FAILED : result;
    }

    private static MethodHandle bind(Linker.Option... options) {
        return Linker.nativeLinker()
                .downcallHandle(MemorySegment.ofAddress(ibverbs.farheap_one_operation_address()), RUN, options);
    }

    @Override
    public void close() {
        if (address != 0) {
            address = 0;
            ibverbs.farheap_one_operation_free(handle);
        }
    }
}
