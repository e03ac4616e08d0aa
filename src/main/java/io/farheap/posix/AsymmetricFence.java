package io.farheap.posix;

import java.lang.invoke.VarHandle;
import java.util.function.IntSupplier;

/**
 * A full fence between a side that runs often and a side that runs rarely, at the cost of the rare one: membarrier(2)
 * with {@code MEMBARRIER_CMD_PRIVATE_EXPEDITED} makes every running thread of the process execute a full barrier. If
 * the kernel refuses it, both sides execute an ordinary fence.
 *
 * <p>The frequent side must make its two accesses with at least opaque mode, so that the compiler keeps their order.
 */
public final class AsymmetricFence {

    private static final int PRIVATE_EXPEDITED = 1 << 3;
    private static final int REGISTER_PRIVATE_EXPEDITED = 1 << 4;

    private static final boolean ASYMMETRIC = Posix.membarrier(REGISTER_PRIVATE_EXPEDITED) == 0;

    private AsymmetricFence() {}

    /** The frequent side: with membarrier it only prevents the compiler from moving a store behind a load. */
    public static void light() {
        if (ASYMMETRIC) {
            VarHandle.releaseFence();
        } else {
            VarHandle.fullFence();
        }
    }

    /** The rare side: a system call of some microseconds, longer while the kernel has no memory for it. */
    public static void heavy() {
        VarHandle.fullFence();
        if (ASYMMETRIC) {
            barrier(() -> Posix.membarrier(PRIVATE_EXPEDITED));
        }
    }

    /** @param membarrier returns 0, or minus the error number */
    static void barrier(IntSupplier membarrier) {
        int result = Posix.unless(Errno.ENOMEM, membarrier);
        if (result != 0) {
            throw new IllegalStateException("membarrier was registered and now fails with " + Errno.describe(-result)
                    + "; a system call filter must let all its commands through or none");
        }
    }
}
