package io.farheap.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.contract.CallCompletion;
import io.farheap.control.ServerStatus.LeaseStatus;
import io.farheap.procedure.CallStatus;
import io.farheap.server.contract.ServedCode;
import io.farheap.testing.TestDevice;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

/**
 * One client's calls never end by themselves, and as many are under way as the server takes of a lease. Another client
 * of the server's only thread reads, writes and calls nevertheless, and each client gets its part of the thread. The
 * test compares fuel, which a server counts for the code that it executes, and not time.
 */
class HostileNeighbourTest {

    /** Sessions of the neighbour, which together make more calls than a lease may have under way. */
    private static final int SESSIONS = 24;

    private static final int ROUNDS = 100;
    /** One that meets the bound is enough: the neighbour's calls continue while this thread has no processor. */
    private static final int LONG_CALLS = 50;

    /** Nearly the most turns that a call may take. */
    private static final long LONG_TURNS = 500_000;

    /**
     * The bound for the fuel of all calls during a long call, in units of the long call's own. If calls waited behind
     * all of the neighbour's, the fuel would be hundreds of times as much each time.
     */
    private static final long MOST_TIMES = 64;

    private static final long DEADLINE_NANOS = TestDevice.patience(60_000_000_000L);

    /** Keeps endless calls under way until it is closed. Any thread may read its counts. */
    private static final class Neighbour implements AutoCloseable {

        final AtomicLong outOfFuel = new AtomicLong();
        final AtomicLong refused = new AtomicLong();
        final AtomicLong others = new AtomicLong();
        private final Cache cache;
        private final Procedure endless;
        private final List<Caller> callers = new ArrayList<>();
        private final Thread thread;
        private volatile boolean ended;

        private final CallCompletion done = (token, status, code, bytes) -> {
            switch (status) {
                case CallStatus.OUT_OF_FUEL -> outOfFuel.incrementAndGet();
                case CallStatus.REFUSED -> refused.incrementAndGet();
                default -> {
                    if (!stopped()) {
                        others.incrementAndGet();
                    }
                }
            }
        };

        Neighbour(Cache cache) {
            this.cache = cache;
            this.endless =
                    cache.procedures().register(TestProcedures.Spin.class, Procedures.READS | Procedures.UNORDERED);
            this.thread = Thread.ofPlatform().name("neighbour").start(this::run);
        }

        private boolean stopped() {
            return ended;
        }

        private void run() {
            for (int i = 0; i < SESSIONS; i++) {
                Caller caller = new Caller(cache);
                caller.arguments(0, -1);
                callers.add(caller);
            }
            while (!ended) {
                for (Caller caller : callers) {
                    while (caller.session.call(endless, 0, caller.buffer, 0, 16, 64, 8, done, 0)) {
                        // The session gets as many calls as it takes.
                    }
                    caller.session.flush();
                    caller.session.poll();
                }
                // Leaves the core to the server.
                LockSupport.parkNanos(1_000_000);
            }
        }

        @Override
        public void close() throws InterruptedException {
            ended = true;
            thread.join();
            // This ends the neighbour's lease, and with it the calls.
            cache.close();
        }
    }

    private static void await(BooleanSupplier met, String what) {
        long deadline = System.nanoTime() + DEADLINE_NANOS;
        while (!met.getAsBoolean()) {
            assertTrue(System.nanoTime() - deadline < 0, what);
            LockSupport.parkNanos(1_000_000);
        }
    }

    private static Cache cache(Cluster cluster, String name) {
        return Cache.builder()
                .capacity(Cluster.REGION_BYTES)
                .servers(cluster.addresses())
                .name(name)
                .create();
    }

    private static long fuel(Cluster cluster) {
        return cluster.status(0).counters().get("procedures.fuel");
    }

    private static LeaseStatus lease(Cluster cluster, String name) {
        return cluster.status(0).leases().stream()
                .filter(lease -> lease.clientName().equals(name))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void whoCallsWithoutEndTakesNobodysPart() throws InterruptedException {
        try (Cluster cluster = new Cluster().serving(ServedCode.JAVA).threads(1)) {
            cluster.add(2);
            try (Cache good = cache(cluster, "good");
                    Caller caller = new Caller(good)) {
                Procedure load = good.procedures().register(TestProcedures.Load.class, Procedures.READS);
                Procedure spin = good.procedures().register(TestProcedures.Spin.class, Procedures.READS);
                long begun = fuel(cluster);
                assertEquals(
                        CallStatus.DONE, caller.call(spin, 0, 8, LONG_TURNS).status());
                beside(cluster, caller, load, spin, fuel(cluster) - begun);
            }
        }
    }

    /** @param alone the units of fuel that a long call takes without the neighbour */
    private static void beside(Cluster cluster, Caller caller, Procedure load, Procedure spin, long alone)
            throws InterruptedException {
        try (Neighbour neighbour = new Neighbour(cache(cluster, "hostile"))) {
            await(() -> neighbour.refused.get() > 0, "the neighbour has never had as many calls as it may");

            for (int i = 0; i < ROUNDS; i++) {
                caller.write(8, i);
                assertEquals(i, caller.read(8));
                assertEquals(CallStatus.DONE, caller.call(load, 0, 8).status());
                assertEquals(i, caller.result());
            }

            long least = Long.MAX_VALUE;
            for (int i = 0; i < LONG_CALLS && least > MOST_TIMES * alone; i++) {
                long before = fuel(cluster);
                assertEquals(
                        CallStatus.DONE, caller.call(spin, 0, 8, LONG_TURNS).status());
                least = Math.min(least, fuel(cluster) - before);
            }
            assertTrue(
                    least <= MOST_TIMES * alone,
                    "units of fuel for all during a long call: " + least + "; for it alone: " + alone);

            long ended = neighbour.outOfFuel.get();
            await(() -> neighbour.outOfFuel.get() > ended, "the neighbour's calls do not get on");
            assertEquals(0, neighbour.others.get(), "calls of the neighbour ended otherwise");
            assertTrue(lease(cluster, "hostile").callNanos() > 0);
            assertTrue(lease(cluster, "good").callNanos() > 0);
        }
    }
}
