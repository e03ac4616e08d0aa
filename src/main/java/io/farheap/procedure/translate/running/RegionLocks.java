package io.farheap.procedure.translate.running;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Spin locks by region, held for nanoseconds by atomics of procedures, so that a set of several words is all or nothing
 * among them. All contexts of the process share them, as they share the regions.
 */
final class RegionLocks {

    private static final int COUNT = 64;
    /** Ints from one lock to the next: two cache lines. */
    private static final int STRIDE = 32;

    private static final int SPINS = 200;
    private static final int[] LOCKS = new int[(COUNT + 1) * STRIDE];
    private static final VarHandle LOCK = MethodHandles.arrayElementVarHandle(int[].class);

    private RegionLocks() {}

    /**
     * @param region native address
     * @return for {@link #unlock}
     */
    static int lock(long region) {
        int lock = (int) ((region * 0x9E3779B97F4A7C15L) >>> 58) * STRIDE + STRIDE / 2;
        for (int spins = 0; !LOCK.compareAndSet(LOCKS, lock, 0, 1); spins++) {
            if (spins < SPINS) {
                Thread.onSpinWait();
            } else {
                // Its holder may not be running.
                Thread.yield();
            }
        }
        return lock;
    }

    static void unlock(int lock) {
        LOCK.setRelease(LOCKS, lock, 0);
    }
}
