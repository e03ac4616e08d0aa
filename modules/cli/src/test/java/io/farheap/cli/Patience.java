package io.farheap.cli;

import io.farheap.cache.Cache;
import io.farheap.cache.contract.CacheException;
import io.farheap.testing.TestDevice;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** For machines so busy that a server which has just started does not answer in time. */
final class Patience {

    private static final long NANOS = TimeUnit.SECONDS.toNanos(TestDevice.patience(60));

    private Patience() {}

    /** Tries again for a while if a server does not answer. */
    static Cache create(Supplier<Cache> creator) {
        long deadline = System.nanoTime() + NANOS;
        while (true) {
            try {
                return creator.get();
            } catch (CacheException e) {
                if (System.nanoTime() - deadline > 0) {
                    throw e;
                }
            }
        }
    }
}
