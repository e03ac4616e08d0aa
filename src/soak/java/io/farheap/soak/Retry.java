package io.farheap.soak;

import io.farheap.cache.contract.CacheException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/** Again and again, for what faults or a busy machine may make fail, but not for ever. */
final class Retry {

    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private Retry() {}

    /** @param deadline of System.nanoTime(), from which on a {@link CacheException} is not caught */
    static <T> T until(long deadline, Supplier<T> action) {
        while (true) {
            try {
                return action.get();
            } catch (CacheException e) {
                if (System.nanoTime() - deadline > 0) {
                    throw e;
                }
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        }
    }
}
