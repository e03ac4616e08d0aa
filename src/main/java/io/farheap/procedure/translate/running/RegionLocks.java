package io.farheap.procedure.translate.running;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Spin locks by region. Atomics of procedures hold them for nanoseconds, so that to each other a set of several words
 * is all or nothing. All contexts of the process share them, as they share the regions. A lock word is 0 if free and 1
 * if held; the compareAndSet that takes it pairs with the release store of 0 that frees it.
 */
final class RegionLocks {

    private static final int COUNT = 64;
    /** Ints from one lock to the next: two cache lines. */
    private static final int STRIDE = 32;

    private static final int SPINS = 200;
    private static final int[] LOCKS = new int[(COUNT + 1) * STRIDE];
    private static final VarHandle LOCK = MethodHandles.arrayElementVarHandle(int[].class);

    private RegionLocks() {}

    /** No lock. */
    static final int NONE = -1;

    /**
     * Takes the region's lock, for which it spins a little.
     *
     * @param region native address
     * @return the lock, for {@link #unlock}; {@link #NONE} if another thread has it for long, as one that does not run
     */
    static int lock(long region) {
        int lock = (int) ((region * 0x9E3779B97F4A7C15L) >>> 58) * STRIDE + STRIDE / 2;
        for (int spins = 0; !LOCK.compareAndSet(LOCKS, lock, 0, 1); spins++) {
            if (spins == SPINS) {
                return NONE;
            }
            Thread.onSpinWait();
        }
        return lock;
    }

    static void unlock(int lock) {
        LOCK.setRelease(LOCKS, lock, 0);
    }
}
