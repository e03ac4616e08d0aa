package io.farheap.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.command.ChildJvm;
import io.farheap.command.ServerProcess;
import io.farheap.control.ControlException;
import io.farheap.kv.FarMap;
import io.farheap.kv.FarMapBuilder;
import io.farheap.kv.MapAudit;
import io.farheap.kv.MapSession;
import io.farheap.kv.contract.MapException;
import io.farheap.testing.Effort;
import io.farheap.testing.TestDevice;
import io.farheap.verbs.Devices;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Processes are killed or stopped while they use a map: the memory that they had taken comes back. */
class KilledMapClientTest {

    private static final long MIB = 1 << 20;
    private static final String NAME = "prices";
    private static final String TOKEN = "not a secret";
    /** Also the lease of this process, which must not lose it. */
    private static final long LEASE_MILLIS = TestDevice.patience(1000);

    private static final String LEASE = LEASE_MILLIS + "ms";
    /** The number of kills of each test; {@code ./farheap test --kills N} sets it. */
    private static final int KILLS = Effort.asked("farheap.kills", 2, 20);

    private static final int REQUESTS = Effort.either(5_000, 20_000);

    private final List<ServerProcess> servers = new ArrayList<>();

    private FarMap start(int count) {
        for (int i = 0; i < count; i++) {
            servers.add(TestServer.start(2 * MIB, MIB, "--lease", LEASE));
        }
        return builder().memory(count * 2 * MIB).objects(MapLoad.KEYS).create();
    }

    private FarMapBuilder builder() {
        return FarMap.builder()
                .name(NAME)
                .token(TOKEN)
                .device(TestDevice.client())
                .servers(servers.stream().map(ServerProcess::address).toArray(String[]::new));
    }

    private ChildJvm load(int sessions) throws Exception {
        return child(MapLoad.class.getName(), NAME, TOKEN, Integer.toString(sessions));
    }

    private ChildJvm child(String... begin) throws Exception {
        List<String> command = new ArrayList<>(List.of(begin));
        servers.forEach(server -> command.add(server.address()));
        ChildJvm jvm = ChildJvm.start(Devices.library(), Map.of(), List.of("-XX:TieredStopAtLevel=1"), command);
        jvm.awaitAddress("the child");
        return jvm;
    }

    @AfterEach
    void stop() {
        servers.forEach(ServerProcess::close);
    }

    /** Audits the map while all its sessions are idle. */
    private static MapAudit sound(FarMap map) {
        MapAudit audit = map.audit();
        assertTrue(audit.quiet() && audit.sound(), audit::toString);
        return audit;
    }

    @Test
    void whatKilledProcessesHadComesBack() throws Exception {
        killProcesses(2);
    }

    @Test
    @Tag("full")
    void whatKilledProcessesHadComesBackOnOneServer() throws Exception {
        killProcesses(1);
    }

    private void killProcesses(int serverCount) throws Exception {
        try (FarMap map = start(serverCount)) {
            AtomicBoolean ends = new AtomicBoolean();
            AtomicLong done = new AtomicLong();
            // This session makes requests all the time: none is lost or finds no room. It sets no large values, which
            // may wait until segments change their class, and a killed process delays that.
            CompletableFuture<Void> other = CompletableFuture.runAsync(() -> {
                SplittableRandom random = new SplittableRandom(1);
                try (MapSession session = map.openSession()) {
                    while (!ends.get()) {
                        MapLoad.small(session, random);
                        done.incrementAndGet();
                        // The test waits for leases most of the time, so this thread must not take a processor.
                        LockSupport.parkNanos(100_000);
                    }
                }
            });
            long collected = 0;
            for (int i = 0; i < KILLS; i++) {
                load(2).kill();
                long before = done.get();
                MapAudit audit = map.audit();
                assertTrue(audit.sound(), audit::toString);
                collected += audit.lost();
                if (other.isDone()) {
                    // Reports the session's own exception, and not only that it stands still.
                    other.join();
                }
                assertTrue(done.get() > before, () -> "the other session stands still: " + map.stats());
            }
            ends.set(true);
            other.join();
            MapAudit audit = sound(map);
            assertEquals(0, audit.held() + audit.lost(), audit::toString);
            // The killed processes' memory was collected, or is free in the pool.
            assertTrue(collected > 0 || audit.pooled() > 0, audit::toString);
            try (MapSession session = map.openSession()) {
                for (int key = 0; key < MapLoad.KEYS; key++) {
                    MapLoad.request(session, new SplittableRandom(key));
                }
            }
        }
    }

    /** Killed at any step: no segment or block that it emptied, moved or took is lost, and others continue. */
    @Test
    @Tag("full")
    void oneThatIsKilledWhileItEmptiesSegmentsLeavesNothingLost() throws Exception {
        long seed = System.nanoTime();
        SplittableRandom random = new SplittableRandom(seed);
        try (FarMap map = start(2)) {
            for (int i = 0; i < KILLS; i++) {
                try (ChildJvm filler = child(MapSizes.class.getName(), NAME, TOKEN)) {
                    long emptied = map.stats().segmentsEmptied();
                    long deadline = System.nanoTime() + TestDevice.patience(60_000_000_000L);
                    while (map.stats().segmentsEmptied() < emptied + 3) {
                        assertTrue(System.nanoTime() - deadline < 0, "nothing is emptied, seed " + seed);
                        LockSupport.parkNanos(100_000);
                    }
                    LockSupport.parkNanos(random.nextLong(TestDevice.patience(100_000_000L)));
                    filler.kill();
                }
                assertTrue(map.audit().sound(), "seed " + seed);
            }
            try (MapSession session = map.openSession()) {
                MapSizes.fill(session, random, 1000);
                for (int key = 0; key < 1 << 16; key++) {
                    byte[] found = session.get(new byte[] {(byte) (key >> 8), (byte) key});
                    assertTrue(found == null || found[found.length - 1] == (byte) (key >> 8 ^ key), "seed " + seed);
                }
            }
            MapAudit audit = sound(map);
            assertEquals(0, audit.held() + audit.lost(), audit::toString);
        }
    }

    @Test
    void oneThatWasStoppedBeyondItsLeaseHasNothingAnyMore() throws Exception {
        try (FarMap map = start(2);
                MapSession session = map.openSession();
                ChildJvm stopped = load(2)) {
            stopped.suspend();
            SplittableRandom random = new SplittableRandom(2);
            CompletableFuture<MapAudit> auditing = CompletableFuture.supplyAsync(map::audit);
            for (int i = 0; i < REQUESTS; i++) {
                MapLoad.request(session, random);
            }
            try {
                auditing.get(TestDevice.patience(15), TimeUnit.SECONDS);
            } catch (TimeoutException e) {
                // The process was stopped during an operation, and is fenced only when it continues.
            }
            stopped.resume();
            MapAudit audit = auditing.get();
            assertTrue(audit.sound(), audit::toString);
            assertTrue(stopped.await(TestDevice.patience(60)), "it goes on without a lease");
            assertEquals(0, stopped.exitValue());
            for (int i = 0; i < REQUESTS; i++) {
                MapLoad.request(session, random);
            }
            assertEquals(0, sound(map).lost());
        }
    }

    @Test
    @Tag("full")
    void aProcessThatClosesTheMapLeavesNothingToCollect() {
        try (FarMap map = start(2)) {
            try (FarMap second = builder().open();
                    MapSession session = second.openSession()) {
                SplittableRandom random = new SplittableRandom(3);
                for (int i = 0; i < 10_000; i++) {
                    MapLoad.request(session, random);
                }
            }
            MapAudit audit = sound(map);
            assertEquals(0, audit.held() + audit.lost(), audit::toString);
            assertTrue(audit.pooled() > 0, audit::toString);
        }
    }

    /**
     * Killed at any step, or stopped until its lease has expired: the next process can add memory, and the map stays
     * sound.
     */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @Tag("full")
    void oneThatEndsWhileItAddsMemoryKeepsNobodyFromAddingSome(boolean stopped) throws Exception {
        long seed = System.nanoTime();
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < 2; i++) {
            servers.add(TestServer.start(40 * MIB, MIB / 4, "--lease", LEASE));
        }
        try (FarMap map = builder().memory(2 * MIB).objects(MapLoad.KEYS).create();
                MapSession session = map.openSession()) {
            for (int i = 0; i < KILLS; i++) {
                try (ChildJvm grower = child(MapGrower.class.getName(), NAME, TOKEN, "-")) {
                    LockSupport.parkNanos(random.nextLong(TestDevice.patience(300_000_000L)));
                    int before = map.stats().regions();
                    whileItHasEnded(grower, stopped, () -> {
                        map.grow(1);
                        int after = map.stats().regions();
                        assertTrue(after >= before + 2, before + " regions, then " + after + ", seed " + seed);
                        for (int request = 0; request < 5000; request++) {
                            MapLoad.request(session, random);
                        }
                        session.release();
                    });
                    if (stopped) {
                        assertTrue(grower.await(TestDevice.patience(60)), "it grows without a lease, seed " + seed);
                    }
                    assertTrue(map.audit().sound(), "seed " + seed);
                }
            }
        }
    }

    /**
     * Kills a process, or stops it until its lease has expired, and does something, on another thread if it is stopped:
     * that releases the sessions which it has used. If the process was stopped during an operation, it is fenced only
     * when it continues.
     */
    private static void whileItHasEnded(ChildJvm process, boolean stopped, Runnable what) throws Exception {
        if (!stopped) {
            process.kill();
            what.run();
            return;
        }
        process.suspend();
        CompletableFuture<Void> done = CompletableFuture.runAsync(what);
        Thread.sleep(LEASE_MILLIS + 1_000);
        process.resume();
        done.get();
    }

    /** Killed at any step, or stopped until its lease has expired: the next process can do the same. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @Tag("full")
    void oneThatEndsWhileAServerComesOrGoesKeepsNobodyFromEither(boolean stopped) throws Exception {
        long seed = System.nanoTime();
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < 2; i++) {
            servers.add(TestServer.start(8 * MIB, MIB / 4, "--lease", LEASE));
        }
        try (ServerProcess other = TestServer.start(8 * MIB, MIB / 4, "--lease", LEASE);
                FarMap map = builder().memory(2 * MIB).objects(MapLoad.KEYS).create();
                MapSession session = map.openSession()) {
            for (int i = 0; i < KILLS; i++) {
                try (ChildJvm mover = child(MapGrower.class.getName(), NAME, TOKEN, other.address())) {
                    LockSupport.parkNanos(random.nextLong(TestDevice.patience(500_000_000L)));
                    whileItHasEnded(mover, stopped, () -> {
                        for (int request = 0; request < 2000; request++) {
                            MapLoad.request(session, random);
                        }
                        session.release();
                        comeAndGo(map, other.address(), seed);
                    });
                }
                assertTrue(map.audit().sound(), "seed " + seed);
            }
        }
    }

    /** A process that has ended may have added the server in part; its lease must expire before another begins. */
    private static void comeAndGo(FarMap map, String other, long seed) {
        long deadline = System.nanoTime() + TestDevice.patience(60_000_000_000L);
        boolean there = false;
        while (!there) {
            try {
                if (!map.servers().contains(other)) {
                    map.addServer(other, MIB / 2);
                }
                there = true;
            } catch (MapException | ControlException | IllegalArgumentException e) {
                // The other process has added the server, and this process has yet to notice that.
                assertTrue(System.nanoTime() - deadline < 0, "seed " + seed + ": " + e);
            }
        }
        map.drain(other, Duration.ofSeconds(10));
        assertFalse(map.servers().contains(other), "seed " + seed);
    }

    @Test
    void withAServerGoneAuditSaysSo() {
        try (FarMap map = start(2)) {
            servers.get(1).kill();
            assertThrows(MapException.class, map::audit);
        }
    }
}
