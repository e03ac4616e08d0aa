package io.farheap.soak;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.farheap.cache.Buffer;
import io.farheap.cache.Cache;
import io.farheap.cache.CacheSession;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Takes the regions of a client that is stopped or dead once its lease has ended, which must not take long, and has
 * every byte of them looked at again and again: it is zero at first and then what was written here, whatever that
 * client does when it goes on.
 */
final class RegionClaim implements Runnable {

    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
    private static final byte PATTERN = 0x5a;

    private final TenantProcess from;
    private final long regionBytes;
    private final int wanted;
    private final long dueNanos;
    private final long mostNanos;
    private final Problems problems;
    private final int freeBefore;
    private final long start = System.nanoTime();
    private volatile boolean taken;
    private volatile boolean stop;
    private volatile long nanos;

    /**
     * Just after the client was stopped or killed.
     *
     * @param dueNanos that its regions should take to come back. Those of a client that is stopped in the middle of a
     *     write stay withdrawn until it goes on, or is dead
     * @param mostNanos that they may take from then on
     */
    RegionClaim(TenantProcess from, long regionBytes, long dueNanos, long mostNanos, Problems problems) {
        this.from = from;
        this.regionBytes = regionBytes;
        // Others take and free regions too, as they move theirs.
        this.wanted = from.regions() * 3 / 4;
        this.dueNanos = dueNanos;
        this.mostNanos = mostNanos;
        this.problems = problems;
        this.freeBefore = FreeRegionCount.awaitFree(from.servers());
    }

    @Override
    public void run() {
        try {
            awaitFree();
            if (!problems.any()) {
                use();
            }
        } catch (Throwable e) {
            problems.add("who has the regions of a stopped client", e);
        } finally {
            taken = true;
        }
    }

    /** Whether the regions are taken, or something is wrong. */
    boolean isTaken() {
        return taken;
    }

    /** Whether the client is to go on, or to be killed. */
    boolean isDue() {
        return taken || System.nanoTime() - start > dueNanos;
    }

    /** Looks at them once more, and gives them back. */
    void stop() {
        stop = true;
    }

    /** How long the client had its regions after it stopped. */
    long nanos() {
        return nanos;
    }

    private void awaitFree() {
        while (FreeRegionCount.free(from.servers()) < freeBefore + wanted) {
            if (System.nanoTime() - start > dueNanos + mostNanos) {
                problems.add(("%.1f s after a client was stopped or killed, and long after it went on or was dead, its"
                                + " %d regions are not given back: %d are free, and %d were")
                        .formatted(
                                (System.nanoTime() - start) / 1e9,
                                from.regions(),
                                FreeRegionCount.free(from.servers()),
                                freeBefore));
                return;
            }
            LockSupport.parkNanos(LOOK_NANOS);
        }
        nanos = System.nanoTime() - start;
    }

    private void use() {
        try (Cache cache = cache();
                Buffer buffer = cache.allocate(cache.capacity())) {
            check(cache, buffer, (byte) 0);
            again(() -> {
                buffer.segment().fill(PATTERN);
                try (CacheSession session = cache.openSession()) {
                    session.writeBlocking(0, buffer, 0, cache.capacity());
                }
            });
            taken = true;
            while (!stop && !problems.any()) {
                check(cache, buffer, PATTERN);
                LockSupport.parkNanos(LOOK_NANOS);
            }
            check(cache, buffer, PATTERN);
        }
    }

    /** Migrations of others may be quicker to take a region. */
    private Cache cache() {
        return Retry.until(System.nanoTime() + mostNanos, () -> Cache.builder()
                .capacity(wanted * regionBytes)
                .servers(from.servers())
                .name("soak-claim")
                .create());
    }

    private void check(Cache cache, Buffer buffer, byte expected) {
        again(() -> {
            buffer.segment().fill((byte) ~expected);
            try (CacheSession session = cache.openSession()) {
                session.readBlocking(0, buffer, 0, cache.capacity());
            }
        });
        for (long at = 0; at < cache.capacity(); at++) {
            byte found = buffer.segment().get(JAVA_BYTE, at);
            if (found != expected) {
                problems.add("byte %d of memory that was a stopped client's is 0x%02x and must be 0x%02x: %s"
                        .formatted(
                                at,
                                found,
                                expected,
                                expected == 0
                                        ? "it was not zeroed, or that client still writes there"
                                        : "somebody else wrote there"));
                return;
            }
        }
    }

    /** The device of this process may be one that fails. */
    private void again(Runnable action) {
        Retry.until(System.nanoTime() + mostNanos, () -> {
            action.run();
            return null;
        });
    }
}
