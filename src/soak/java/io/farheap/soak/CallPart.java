package io.farheap.soak;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.cache.Buffer;
import io.farheap.cache.Cache;
import io.farheap.cache.CacheSession;
import io.farheap.cache.LostServerListener;
import io.farheap.cache.Procedure;
import io.farheap.cache.Procedures;
import io.farheap.cache.contract.CacheException;
import io.farheap.procedure.builtin.Chase;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.BooleanSupplier;

/**
 * A cache with procedures on all servers of an episode, and who calls them: counters, each as large as calls of it have
 * ended, and a ring of nodes over all regions, which calls follow.
 */
final class CallPart implements AutoCloseable {

    /** On each server. */
    static final int REGIONS = 8;

    private static final int USERS = 2;
    private static final int CACHE_REGIONS = 4;
    private static final int COUNTERS = 64;
    static final int NODES = 500;

    private final long regionBytes;
    private final BooleanSupplier gone;
    private final BooleanSupplier mayBeLost;
    private final Problems problems;
    private final Cache cache;
    private final Procedure countUp;
    private final Procedure chase;
    /** By counter: calls that have ended well, and those of which nobody knows. */
    private final AtomicLongArray counted = new AtomicLongArray(COUNTERS);

    private final AtomicLongArray unknown = new AtomicLongArray(COUNTERS);
    private final List<CallUser> users = new ArrayList<>();

    /**
     * @param mayBeLost whether a fault excuses a call that is lost
     * @param gone whether a server was killed, or stopped for longer than a lease
     */
    CallPart(
            List<String> servers,
            long regionBytes,
            SplittableRandom random,
            LostServerListener listener,
            BooleanSupplier mayBeLost,
            BooleanSupplier gone,
            WaitTimes waits,
            Problems problems) {
        this.regionBytes = regionBytes;
        this.gone = gone;
        this.mayBeLost = mayBeLost;
        this.problems = problems;
        cache = Retry.until(System.nanoTime() + Worker.PATIENCE_NANOS, () -> Cache.builder()
                .capacity(CACHE_REGIONS * regionBytes)
                .servers(servers)
                .name("soak-calls")
                .configuration(RandomConfigurations.next(random))
                .onLost(listener)
                .create());
        try {
            countUp = cache.procedures().register(IncrementProcedure.class, Procedures.WRITES | Procedures.UNORDERED);
            chase = cache.procedures().register(Chase.class, Procedures.READS);
            writeRing();
        } catch (Throwable e) {
            cache.close();
            throw e;
        }
        for (int number = 0; number < USERS; number++) {
            users.add(new CallUser(this, number, random.split(), mayBeLost, gone, waits, problems));
        }
    }

    private void writeRing() {
        try (CacheSession session = cache.openSession();
                Buffer buffer = cache.allocate(Long.BYTES)) {
            for (int node = 0; node < NODES; node++) {
                buffer.segment().set(JAVA_LONG, 0, node((node + 1) % NODES));
                session.writeBlocking(node(node), buffer, 0, Long.BYTES);
            }
        }
    }

    /** Nodes are in all regions, behind the counters. */
    long node(int node) {
        return node % CACHE_REGIONS * regionBytes + 8192 + (long) node * 64;
    }

    int counters() {
        return COUNTERS;
    }

    long counter(int counter) {
        return counter % CACHE_REGIONS * regionBytes + 64L * counter;
    }

    void counted(int counter) {
        counted.incrementAndGet(counter);
    }

    void unknown(int counter) {
        unknown.incrementAndGet(counter);
    }

    Cache cache() {
        return cache;
    }

    Procedure countUp() {
        return countUp;
    }

    Procedure chase() {
        return chase;
    }

    List<CallUser> users() {
        return users;
    }

    /** Moves a region to another server. */
    void move(SplittableRandom random) {
        List<String> servers = cache.servers();
        try {
            cache.migrate(random.nextInt(CACHE_REGIONS), servers.get(random.nextInt(servers.size())));
        } catch (CacheException e) {
            if (!mayBeLost.getAsBoolean()) {
                problems.add("a cache with procedures: no fault excuses this", e);
            }
        }
    }

    /** When nobody uses it any more. */
    void check() {
        if (gone.getAsBoolean() || problems.any()) {
            return;
        }
        try (CacheSession session = cache.openSession();
                Buffer buffer = cache.allocate(Long.BYTES)) {
            for (int counter = 0; counter < COUNTERS; counter++) {
                session.readBlocking(counter(counter), buffer, 0, Long.BYTES);
                long value = buffer.segment().get(JAVA_LONG, 0);
                long least = counted.get(counter);
                long most = least + unknown.get(counter);
                if (value < least || value > most) {
                    problems.add("counter " + counter + " of the cache with procedures is " + value + "; " + least
                            + " calls have added to it, and " + (most - least) + " may have");
                }
            }
        } catch (CacheException e) {
            if (!mayBeLost.getAsBoolean()) {
                problems.add("the check of the cache with procedures", e);
            }
        }
    }

    @Override
    public void close() {
        cache.close();
    }
}
