package io.farheap.kv;

import static io.farheap.kv.ServerLoss.await;
import static io.farheap.kv.ServerLoss.holds;
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
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A leased map that was made on three servers continues without one of them. */
class LostLeasedServerTest {

    private static final long LEASE_NANOS = TestDevice.patience(1_500_000_000L);
    private static final long REGION_BYTES = 1 << 20;
    private static final int OBJECTS = 150;
    private static final int SERVER_REGIONS = 2;
    private static final int VALUE_BYTES = 500;
    /** A key is read twice, so that it is leased and READ. */
    private static final MonotonicClient.Load CLIENT_LOAD = new MonotonicClient.Load(40, VALUE_BYTES, 2);

    private static String[] start(TestServers servers, int count) {
        return servers.startAll(count, SERVER_REGIONS, REGION_BYTES, LEASE_NANOS);
    }

    private static FarMapBuilder map(TestServers servers, String... addresses) {
        return servers.named(addresses)
                .engine(FarMapBuilder.LEASED)
                .memory(addresses.length * REGION_BYTES)
                .objects(2000)
                .replaceAfter(Duration.ofMillis(100));
    }

    /** The keys that are found now. */
    private static Set<Integer> found(MapSession session) {
        return ServerLoss.found(session, OBJECTS);
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

    static Stream<Integer> oneServer() {
        return Effort.variants(1, 2, 0);
    }

    @ParameterizedTest
    @MethodSource("oneServer")
    void clientsThatContinueFindNoOlderValue(int lost) throws Exception {
        try (TestServers servers = new TestServers("clients")) {
            String[] addresses = start(servers, 3);
            try (FarMap map = map(servers, addresses).create();
                    FarMap other = servers.named(addresses).open()) {
                MonotonicClient.outlive(() -> servers.stop(lost), map, other, CLIENT_LOAD);
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

    /** It has installed the next edition at one server and not at the other; then the third answers again. */
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
