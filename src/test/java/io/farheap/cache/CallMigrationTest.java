package io.farheap.cache;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.contract.CacheConfiguration;
import io.farheap.cache.contract.CallResult;
import io.farheap.migration.MigrationOptions;
import io.farheap.procedure.CallStatus;
import io.farheap.server.budget.Budget;
import io.farheap.server.contract.ServedCode;
import io.farheap.testing.Effort;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/**
 * Calls that write to regions that move. Sessions add to words of all regions, by atomics to shared words, and by loads
 * and stores to words of their own, while regions go from server to server. Nothing is lost, and nothing is done twice.
 */
class CallMigrationTest {

    private static final long REGION = Cluster.REGION_BYTES;
    private static final int REGIONS = 4;
    private static final int SESSIONS = 3;
    private static final int MOVES = Effort.either(15, 40);
    /** The offset in a region at which the sessions' own words begin; the first word is shared. */
    private static final long OWN = 64;

    private final Cluster cluster = new Cluster().serving(ServedCode.JAVA);
    private final long seed = System.nanoTime();

    /** A session that adds to words of all regions, and counts its additions. */
    private final class Adder implements Runnable {

        private final Cache cache;
        private final Procedure add;
        private final Procedure increment;
        private final Procedure sum;
        private final int number;
        private final AtomicBoolean stop;
        final long[] everybodys = new long[REGIONS];
        long rounds;
        volatile long calls;

        Adder(Cache cache, Procedure add, Procedure increment, Procedure sum, int number, AtomicBoolean stop) {
            this.cache = cache;
            this.add = add;
            this.increment = increment;
            this.sum = sum;
            this.number = number;
            this.stop = stop;
        }

        @Override
        public void run() {
            SplittableRandom random = new SplittableRandom(seed + number);
            try (CacheSession session = cache.openSession();
                    Buffer buffer = cache.allocate(4096)) {
                while (!stop.get()) {
                    int region = random.nextInt(REGIONS);
                    call(session, buffer, add, region * REGION, region * REGION, 1);
                    everybodys[region]++;
                    // This call begins in any region, and increments the session's own word of each region in turn.
                    call(session, buffer, increment, random.nextInt(REGIONS) * REGION, own(), REGIONS, REGION);
                    rounds++;
                    session.readBlocking(own() + region * REGION, buffer, 1024, 8);
                    assertEquals(rounds, buffer.segment().get(JAVA_LONG, 1024), "a word of session " + number);
                    calls = rounds;
                    if (random.nextInt(4) == 0) {
                        call(session, buffer, sum, 0, own(), REGIONS, REGION);
                        assertEquals(REGIONS * rounds, buffer.segment().get(JAVA_LONG, 64), "what a call reads");
                    }
                }
            }
        }

        private long own() {
            return OWN + 8L * number;
        }

        private static void call(
                CacheSession session, Buffer buffer, Procedure procedure, long address, long... arguments) {
            for (int i = 0; i < arguments.length; i++) {
                buffer.segment().set(JAVA_LONG, 8L * i, arguments[i]);
            }
            CallResult result = session.callBlocking(procedure, address, buffer, 0, 8 * arguments.length, 64, 8);
            while (result.status() == CallStatus.STOPPED) {
                result = session.resumeBlocking(result.handle(), buffer, 64);
            }
            assertEquals(CallStatus.describe(CallStatus.DONE), CallStatus.describe(result.status()));
        }
    }

    /** Calls, here of others, have borrowed all memory of procedures: maps are still replaced, and calls still run. */
    @Test
    void regionsMoveAndCallsRunThoughServersHaveNoMemoryLeft() {
        try (cluster) {
            cluster.add(3);
            cluster.add(3);
            try (Cache cache = Cache.builder()
                            .capacity(4 * REGION)
                            .servers(cluster.addresses())
                            .name("calls")
                            .create();
                    Caller caller = new Caller(cache)) {
                Procedure add = cache.procedures().register(TestProcedures.Add.class, Procedures.WRITES);
                for (int region = 0; region < 4; region++) {
                    assertEquals(
                            1,
                            caller.call(add, region * REGION, region * REGION, 1)
                                    .code());
                }
                try (Budget.Loan _ = cluster.lendAllOfProcedures(0);
                        Budget.Loan _ = cluster.lendAllOfProcedures(1)) {
                    String from = cache.serverOf(0);
                    String to = cluster.addresses().get(from.equals(cluster.address(0)) ? 1 : 0);
                    cache.migrate(0, to);
                    assertEquals(to, cache.serverOf(0));
                    cache.migrate(0, from);
                    for (int region = 0; region < 4; region++) {
                        CallResult result = caller.call(add, region * REGION, region * REGION, 1);
                        assertEquals(
                                CallStatus.describe(CallStatus.DONE),
                                CallStatus.describe(result.status(), result.code()));
                        assertEquals(1, caller.result());
                    }
                }
            }
        }
    }

    @Test
    void nothingIsLostOrDoneTwiceWhileRegionsMove() throws InterruptedException {
        System.out.println("seed " + seed);
        try (cluster) {
            for (int i = 0; i < 3; i++) {
                cluster.add(REGIONS + 1);
            }
            try (Cache cache = Cache.builder()
                    .capacity(REGIONS * REGION)
                    .servers(cluster.addresses())
                    .name("calls")
                    .create()) {
                run(cache);
            }
        }
    }

    private void run(Cache cache) throws InterruptedException {
        Procedures procedures = cache.procedures();
        Procedure add = procedures.register(TestProcedures.Add.class, Procedures.WRITES);
        Procedure increment = procedures.register(TestProcedures.Increment.class, Procedures.WRITES);
        Procedure stops = procedures.register(TestProcedures.Increment.class, Procedures.WRITES | Procedures.STOP);
        Procedure sum = procedures.register(TestProcedures.Sum.class, Procedures.READS);
        AtomicBoolean stop = new AtomicBoolean();
        AtomicReference<Throwable> failed = new AtomicReference<>();
        List<Adder> adders = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < SESSIONS; i++) {
            Adder adder = new Adder(cache, add, i == 0 ? stops : increment, sum, i, stop);
            adders.add(adder);
            threads.add(Thread.ofPlatform().start(() -> {
                try {
                    adder.run();
                } catch (Throwable e) {
                    failed.compareAndSet(null, e);
                    stop.set(true);
                }
            }));
        }
        move(cache, adders, stop);
        stop.set(true);
        for (Thread thread : threads) {
            thread.join();
        }
        if (failed.get() != null) {
            throw new AssertionError("seed " + seed, failed.get());
        }
        try (CacheSession session = cache.openSession();
                Buffer buffer = cache.allocate(4096)) {
            for (int region = 0; region < REGIONS; region++) {
                long added = 0;
                for (Adder adder : adders) {
                    added += adder.everybodys[region];
                }
                session.readBlocking(region * REGION, buffer, 0, 8);
                assertEquals(added, buffer.segment().get(JAVA_LONG, 0), "region " + region + ", seed " + seed);
            }
        }
    }

    private void move(Cache cache, List<Adder> adders, AtomicBoolean stop) throws InterruptedException {
        SplittableRandom random = new SplittableRandom(seed);
        CacheConfiguration[] how = {
            CacheConfiguration.DIRECT,
            CacheConfiguration.DIRECT.with(0, 1, 8, 4),
            CacheConfiguration.DIRECT.with(1, 1, 8, 4)
        };
        for (int i = 0; i < MOVES && !stop.get(); i++) {
            if (i % 10 == 9) {
                Configurations.change(cache, how[random.nextInt(how.length)]);
            } else {
                String to = cluster.address(random.nextInt(3));
                cache.migrate(List.of(random.nextInt(REGIONS)), to, MigrationOptions.DEFAULT);
            }
            // Waits until each session has called again.
            long[] before = adders.stream().mapToLong(adder -> adder.calls).toArray();
            for (int j = 0; j < before.length; j++) {
                while (adders.get(j).calls == before[j] && !stop.get()) {
                    Thread.sleep(1);
                }
            }
        }
        for (Adder adder : adders) {
            assertTrue(adder.calls > 0 || stop.get());
        }
    }
}
