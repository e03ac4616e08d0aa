package io.farheap.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.command.ChildJvm;
import io.farheap.command.ServerProcess;
import io.farheap.kv.FarMap;
import io.farheap.kv.FarMapBuilder;
import io.farheap.kv.MapSession;
import io.farheap.kv.contract.MapException;
import io.farheap.testing.Effort;
import io.farheap.testing.TestDevice;
import io.farheap.verbs.Devices;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Clients and servers of a leased map are killed, or stopped and continued: no client gets a wrong value, and all
 * memory that was leased or marked comes back within the longest term.
 */
class KilledLeasedMapTest {

    private static final long MIB = 1 << 20;
    private static final String NAME = "prices";
    private static final String TOKEN = "not a secret";
    private static final long LEASE_MILLIS = TestDevice.patience(1000);
    private static final Duration LONGEST = Duration.ofMillis(400);
    /** The number of kills and stops; {@code ./farheap test --kills N} sets it. */
    private static final int KILLS = Effort.asked("farheap.kills", 3, 30);

    private final List<ServerProcess> servers = new ArrayList<>();

    private FarMap start(int count) {
        for (int i = 0; i < count; i++) {
            // More than the map takes, for areas of clients.
            servers.add(TestServer.start(32 * MIB, 4 * MIB, "--lease", LEASE_MILLIS + "ms"));
        }
        return FarMap.builder()
                .name(NAME)
                .token(TOKEN)
                .device(TestDevice.client())
                .servers(servers.stream().map(ServerProcess::address).toArray(String[]::new))
                .engine(FarMapBuilder.LEASED)
                .leaseTerms(Duration.ofMillis(100), LONGEST)
                .memory(count * 16 * MIB)
                .objects(4000)
                .create();
    }

    private ChildJvm load(int writer) throws Exception {
        List<String> command =
                new ArrayList<>(List.of(LeasedLoad.class.getName(), NAME, TOKEN, Integer.toString(writer)));
        servers.forEach(server -> command.add(server.address()));
        ChildJvm jvm = ChildJvm.start(Devices.library(), Map.of(), List.of("-XX:TieredStopAtLevel=1"), command);
        jvm.awaitAddress("the child");
        return jvm;
    }

    @AfterEach
    void stop() {
        servers.forEach(ServerProcess::close);
    }

    @Test
    void noneIsWrongAndNothingIsLost() throws Exception {
        long seed = System.nanoTime();
        SplittableRandom random = new SplittableRandom(seed);
        try (FarMap map = start(2);
                MapSession session = map.openSession()) {
            LeasedLoad own = new LeasedLoad(map.openSession(), 0, random.split());
            CompletableFuture<Void> running = CompletableFuture.runAsync(() -> own.run(() -> {}));
            for (int i = 0; i < KILLS && !running.isDone(); i++) {
                try (ChildJvm child = load(1 + i % (LeasedLoad.WRITERS - 1))) {
                    LockSupport.parkNanos(random.nextLong(TestDevice.patience(100_000_000L)));
                    disturb(i % 3, child, random, seed);
                }
                clear(session, 1 + i % (LeasedLoad.WRITERS - 1));
            }
            own.end();
            running.join();
            assertTrue(own.done() > 1000, own.done() + " requests");
            awaitMemory(map, session);
        }
    }

    private void disturb(int how, ChildJvm child, SplittableRandom random, long seed) throws Exception {
        if (how == 0) {
            child.kill();
            return;
        }
        long nanos = random.nextLong(LEASE_MILLIS * 1_000_000);
        if (how == 1) {
            // Now and then beyond its lease.
            child.suspend();
            LockSupport.parkNanos(nanos * 2);
            child.resume();
        } else {
            ServerProcess server = servers.get(random.nextInt(servers.size()));
            server.suspend();
            LockSupport.parkNanos(nanos / 2);
            server.resume();
        }
        LockSupport.parkNanos(TestDevice.patience(100_000_000L));
        child.input().close();
        assertTrue(child.await(TestDevice.patience(60)), "the child does not end, seed " + seed);
        assertEquals(0, child.exitValue(), "a wrong value, seed " + seed);
    }

    /** Deletes the keys of a writer that has ended. */
    private static void clear(MapSession session, int writer) {
        long deadline = System.nanoTime() + TestDevice.patience(30_000_000_000L);
        for (int deleted = 0; deleted < LeasedLoad.KEYS_OF_EACH; ) {
            try {
                session.delete(LeasedLoad.key(writer * LeasedLoad.KEYS_OF_EACH + deleted));
                deleted++;
            } catch (MapException e) {
                assertTrue(System.nanoTime() - deadline < 0, e::toString);
                LockSupport.parkNanos(1_000_000);
            }
        }
    }

    /**
     * Calls take marked blocks back as leases end: in the end no segment has a block. These calls delete all keys once
     * more, as a set that a killed writer had sent can come after the first deletes.
     */
    private static void awaitMemory(FarMap map, MapSession session) {
        long deadline = System.nanoTime() + LONGEST.toNanos() + TestDevice.patience(10_000_000_000L);
        do {
            for (int writer = 0; writer < LeasedLoad.WRITERS; writer++) {
                clear(session, writer);
            }
            assertTrue(System.nanoTime() - deadline < 0, () -> "memory is lost: " + map.stats());
        } while (map.stats().segmentBytesTaken() > 0);
        assertEquals(0, map.stats().objects());
    }

    /** The other server's keys are as they were, and those of the killed one end as lost. */
    @Test
    void aKilledServerCostsItsKeysAlone() {
        int keys = 300;
        try (FarMap map = start(2);
                MapSession session = map.openSession()) {
            for (int i = 0; i < keys; i++) {
                session.set(LeasedLoad.key(i), LeasedLoad.key(i));
                session.get(LeasedLoad.key(i));
            }
            servers.getLast().kill();
            int found = 0;
            int lost = 0;
            for (int i = 0; i < keys; i++) {
                try {
                    byte[] value = session.get(LeasedLoad.key(i));
                    assertEquals(i, value == null ? -1 : ByteBuffer.wrap(value).getInt());
                    // Some are long, and need connections that the session has not made yet.
                    session.set(LeasedLoad.key(i), i % 10 == 0 ? new byte[10_000] : LeasedLoad.key(i));
                    found++;
                } catch (MapException e) {
                    lost++;
                }
            }
            assertTrue(found > keys / 4 && lost > keys / 4, found + " found, " + lost + " lost");
        }
    }
}
