package io.farheap.kv;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.ControlException;
import io.farheap.kv.contract.MapDrain;
import io.farheap.kv.contract.MapException;
import io.farheap.kv.format.CallingProcess;
import io.farheap.kv.format.MapCalls;
import io.farheap.kv.leased.format.ShardCalls;
import io.farheap.kv.leased.format.ShardDirectory;
import io.farheap.testing.Effort;
import io.farheap.testing.TestDevice;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A leased map that was made on three servers continues without one of them. */
class LostLeasedServerTest {

    private static final long LEASE_NANOS = TestDevice.patience(1_500_000_000L);
    private static final long PAUSE_NANOS = 20_000_000;
    private static final long REGION_BYTES = 1 << 20;
    private static final int OBJECTS = 150;
    private static final int SERVER_REGIONS = 2;
    private static final int CLIENT_KEYS = 40;
    private static final int VALUE_BYTES = 500;

    private static String[] start(TestServers servers, int count) {
        String[] addresses = new String[count];
        for (int i = 0; i < count; i++) {
            addresses[i] = servers.start(SERVER_REGIONS, REGION_BYTES, LEASE_NANOS);
        }
        return addresses;
    }

    private static FarMapBuilder map(TestServers servers, String... addresses) {
        return servers.named(addresses)
                .engine(FarMapBuilder.LEASED)
                .memory(addresses.length * REGION_BYTES)
                .objects(2000)
                .replaceAfter(Duration.ofMillis(100));
    }

    private static void await(BooleanSupplier condition) {
        long deadline = System.nanoTime() + TestDevice.patience(60_000_000_000L);
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - deadline < 0, "it has not come to that");
            // Until a lease is lost this fails many times, and each look may be many requests.
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    private interface Check {
        void run();
    }

    /** @return false if a server was lost */
    private static boolean holds(Check check) {
        try {
            check.run();
            return true;
        } catch (MapException e) {
            return false;
        }
    }

    /** The keys that are found now. */
    private static Set<Integer> found(MapSession session) {
        Set<Integer> found = new HashSet<>();
        for (int i = 0; i < OBJECTS; i++) {
            int key = i;
            boolean[] there = new boolean[1];
            if (holds(() -> there[0] = session.get(TestServers.key(key)) != null) && there[0]) {
                found.add(i);
            }
        }
        return found;
    }

    private static void setAll(MapSession session) {
        for (int i = 0; i < OBJECTS; i++) {
            session.set(TestServers.key(i), TestServers.value(i, VALUE_BYTES));
        }
    }

    private static void openAndUse(TestServers servers, String... addresses) {
        try (FarMap map = servers.named(addresses).open();
                MapSession session = map.openSession()) {
            setAll(session);
            assertEquals(OBJECTS, found(session).size());
        } catch (ControlException e) {
            throw new MapException("not yet: " + e.getMessage());
        }
    }

    static Stream<Integer> anyServer() {
        return Effort.variants(1, 0, 1, 2);
    }

    /** @param lost the server that is killed */
    @ParameterizedTest
    @MethodSource("anyServer")
    void itsKeysAreMissesAndTheOthersStay(int lost) {
        try (TestServers servers = new TestServers("lost")) {
            String[] addresses = start(servers, 3);
            try (FarMap map = map(servers, addresses).create();
                    FarMap other = servers.named(addresses).open();
                    MapSession session = map.openSession();
                    MapSession second = other.openSession()) {
                setAll(session);
                // Pointers to all objects, with leases.
                assertEquals(OBJECTS, found(second).size());
                assertEquals(OBJECTS, found(second).size());
                servers.stop(lost);
                Set<Integer> left = found(session);
                assertTrue(left.size() > OBJECTS / 3 && left.size() < OBJECTS * 5 / 6, left.size() + " are left");
                await(() -> map.servers().size() == 2 && other.servers().size() == 2);
                await(() -> holds(() -> session.get(TestServers.key(-1))));
                assertEquals(left, found(session));
                assertEquals(left, found(second));
                setAll(session);
                assertEquals(OBJECTS, found(second).size());
                for (int i = 0; i < OBJECTS; i++) {
                    assertTrue(second.delete(TestServers.key(i)));
                    assertNull(session.get(TestServers.key(i)));
                }
            }
            // A process that opens the map again finds it without the lost server, named or not.
            List<String> present = new ArrayList<>(List.of(addresses));
            present.remove(lost);
            openAndUse(servers, addresses);
            openAndUse(servers, present.toArray(String[]::new));
        }
    }

    /**
     * A process that sets and deletes its own keys, of rising numbers, and reads another's: no older number comes back,
     * whether keys are lost or not.
     */
    private static final class Client implements Runnable {

        private final FarMap map;
        private final int own;
        private final BooleanSupplier ends;
        private final int[] last = new int[CLIENT_KEYS];
        private final int[] seen = new int[2 * CLIENT_KEYS];
        /** How many of its last sets were done, one after the other. */
        private volatile int done;

        Client(FarMap map, int own, BooleanSupplier ends) {
            this.map = map;
            this.own = own;
            this.ends = ends;
        }

        @Override
        public void run() {
            SplittableRandom random = new SplittableRandom(own);
            try (MapSession session = map.openSession()) {
                for (int number = 1; !ends.getAsBoolean(); number++) {
                    int key = number % CLIENT_KEYS;
                    int value = number;
                    boolean stored =
                            holds(() -> session.set(TestServers.key(own + key), TestServers.value(value, VALUE_BYTES)));
                    done = stored ? done + 1 : 0;
                    if (!stored) {
                        // Until the lost server has been replaced, most of the time, this leaves the processor alone.
                        LockSupport.parkNanos(PAUSE_NANOS / 10);
                    }
                    last[key] = number;
                    // Twice, so that it is leased and READ.
                    int read = random.nextInt(2 * CLIENT_KEYS);
                    holds(() -> look(session, read));
                    holds(() -> look(session, read));
                    if (number % 7 == 0) {
                        holds(() -> session.delete(TestServers.key(own + key)));
                    }
                }
            }
        }

        private void look(MapSession session, int key) {
            byte[] found = session.get(TestServers.key(key));
            if (found != null) {
                int number = ByteBuffer.wrap(found).getInt();
                assertTrue(number >= seen[key], "an older value is back");
                seen[key] = number;
                int ofOwn = key - own;
                if (ofOwn >= 0 && ofOwn < CLIENT_KEYS) {
                    assertTrue(number <= last[ofOwn]);
                }
            }
        }
    }

    static Stream<Integer> oneServer() {
        return Effort.variants(1, 2, 0);
    }

    @ParameterizedTest
    @MethodSource("oneServer")
    void clientsThatContinueFindNoOlderValue(int lost) throws Exception {
        try (TestServers servers = new TestServers("clients")) {
            String[] addresses = start(servers, 3);
            AtomicBoolean ends = new AtomicBoolean();
            try (FarMap map = map(servers, addresses).create();
                    FarMap other = servers.named(addresses).open()) {
                List<Client> clients =
                        List.of(new Client(map, 0, ends::get), new Client(other, CLIENT_KEYS, ends::get));
                List<CompletableFuture<Void>> running = clients.stream()
                        .map(client -> CompletableFuture.runAsync(
                                client, task -> Thread.ofPlatform().start(task)))
                        .toList();
                await(() -> clients.stream().allMatch(client -> client.done > 2 * CLIENT_KEYS));
                servers.stop(lost);
                await(() -> running.stream().anyMatch(CompletableFuture::isDone)
                        || map.servers().size() == 2 && other.servers().size() == 2);
                await(() -> running.stream().anyMatch(CompletableFuture::isDone)
                        || clients.stream().allMatch(client -> client.done > 2 * CLIENT_KEYS));
                ends.set(true);
                for (CompletableFuture<Void> each : running) {
                    each.get();
                }
            }
        }
    }

    /** Its process was stopped: it answers again, with the old objects, when the map has continued without it. */
    @Test
    void aServerThatComesBackIsNotUsed() {
        try (TestServers servers = new TestServers("back")) {
            String[] addresses = start(servers, 3);
            try (FarMap map = map(servers, addresses).create();
                    MapSession session = map.openSession()) {
                setAll(session);
                servers.silence(1);
                await(() -> map.servers().size() == 2 && holds(() -> setAll(session)));
                servers.answer(1, addresses[1]);
                for (int i = 0; i < OBJECTS; i++) {
                    session.delete(TestServers.key(i));
                }
                try (FarMap second = servers.named(addresses).open();
                        MapSession other = second.openSession()) {
                    assertEquals(2, second.servers().size());
                    assertEquals(Set.of(), found(other));
                    servers.awaitFree(1, SERVER_REGIONS);
                }
            }
        }
    }

    /** What two servers say to a process that reaches one alone may have been replaced by now. */
    @Test
    void aProcessThatReachesFewServersStops() {
        try (TestServers servers = new TestServers("few")) {
            String[] addresses = start(servers, 3);
            try (FarMap map = map(servers, addresses).create();
                    MapSession session = map.openSession()) {
                setAll(session);
                servers.silence(0);
                servers.silence(2);
                await(() -> found(session).isEmpty());
                String message = assertThrows(MapException.class, () -> session.get(TestServers.key(0)))
                        .getMessage();
                assertTrue(message.contains("less than half"), message);
                servers.answer(0, addresses[0]);
                servers.answer(2, addresses[2]);
            }
        }
    }

    /** No process has the map open, so none says that a server is lost; an operator does. */
    @Test
    void anOperatorTakesALostServerOut() {
        try (TestServers servers = new TestServers("operator")) {
            String[] addresses = start(servers, 3);
            map(servers, addresses).replaceAfter(Duration.ofHours(1)).create().close();
            FarMapBuilder without = servers.named(addresses).withoutServer(addresses[2]);
            String refused = assertThrows(MapException.class, without::open).getMessage();
            assertTrue(refused.contains("it is not lost"), refused);
            servers.stop(2);
            assertThrows(ControlException.class, () -> servers.named(addresses).open());
            try (FarMap map = without.open()) {
                assertEquals(new MapDrain(0, 0, 0, 0), map.drain(addresses[2], Duration.ofSeconds(1)));
                assertEquals(2, map.servers().size());
                assertThrows(IllegalArgumentException.class, () -> map.drain("10.0.0.9:7400", Duration.ofSeconds(1)));
            }
            openAndUse(servers, addresses[0], addresses[1]);
        }
    }

    /** It has told one server of the next edition and not the other; then the third answers again. */
    @Test
    void aReplacementWhoseProcessDiesIsFollowedByAnother() {
        try (TestServers servers = new TestServers("dies")) {
            String[] addresses = start(servers, 3);
            map(servers, addresses).create().close();
            long leaves = new ShardDirectory.Change(2, 0).word();
            try (CallingProcess dies = new CallingProcess("dies")) {
                for (int i = 0; i < 2; i++) {
                    assertEquals(MapCalls.OK, dies.call(addresses[i], ShardCalls.SEAL, 1L << 2, 1, 0, 0)[0]);
                }
                assertThrows(MapException.class, () -> servers.named(addresses).open(), "it is sealed");
                for (int i = 0; i < 2; i++) {
                    // That may have taken so long that the seals have ended.
                    assertEquals(MapCalls.OK, dies.call(addresses[i], ShardCalls.SEAL, 1L << 2, 1, 0, 0)[0]);
                }
                long[] next = {1, 4711, 1, 0, leaves};
                assertEquals(MapCalls.STALE, dies.call(addresses[0], ShardCalls.INSTALL, next)[0], "not released");
                assertEquals(MapCalls.OK, dies.call(addresses[0], ShardCalls.RELEASE, next)[0]);
                assertEquals(MapCalls.OK, dies.call(addresses[0], ShardCalls.INSTALL, next)[0]);
                assertEquals(
                        MapCalls.WRONG,
                        dies.call(addresses[1], ShardCalls.RELEASE, 1, 4711, 2, 0, leaves, leaves)[0],
                        "it cannot leave twice");
            }
            await(() -> holds(() -> openAndUse(servers, addresses)));
            openAndUse(servers, addresses[0], addresses[1]);
            servers.awaitFree(2, SERVER_REGIONS);
        }
    }

    @Test
    void ofTwoServersNoneIsReplaced() {
        try (TestServers servers = new TestServers("two")) {
            String[] addresses = start(servers, 2);
            try (FarMap map = map(servers, addresses).create();
                    MapSession session = map.openSession()) {
                setAll(session);
                servers.stop(1);
                await(() -> !holds(() -> setAll(session)));
                assertTrue(found(session).size() > OBJECTS / 8, "the other's keys");
                assertThrows(RuntimeException.class, () -> servers.named(addresses)
                        .withoutServer(addresses[1])
                        .open());
            }
        }
    }
}
