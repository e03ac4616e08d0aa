package io.farheap.kv;

import static io.farheap.kv.TestServers.LEASE_NANOS;
import static io.farheap.kv.TestServers.TOKEN;
import static io.farheap.kv.TestServers.VALUE_BYTES;
import static io.farheap.kv.TestServers.assertSound;
import static io.farheap.kv.TestServers.fill;
import static io.farheap.kv.TestServers.found;
import static io.farheap.kv.TestServers.key;
import static io.farheap.kv.TestServers.value;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.ControlException;
import io.farheap.control.SpaceKey;
import io.farheap.control.plane.SpacePlane;
import io.farheap.kv.contract.MapDrain;
import io.farheap.kv.contract.MapException;
import io.farheap.kv.elastic.ServerDrain;
import io.farheap.kv.format.MapDescriptor;
import io.farheap.lifetime.CloseStack;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.RemoteSpace;
import io.farheap.testing.ControlCable;
import io.farheap.testing.Effort;
import io.farheap.testing.Fields;
import io.farheap.testing.TestDevice;
import io.farheap.testing.Wait;
import io.farheap.thread.ThreadJoiner;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Servers that join a map, and leave it, while it is used. */
class JoinDrainTest {

    private static final long REGION_BYTES = 256 << 10;
    private static final String NAME = "elastic";
    private static final Duration LONG = Duration.ofSeconds(TestDevice.patience(60));

    private final TestServers servers = new TestServers(NAME);

    private String start(int regions) {
        return servers.start(regions, REGION_BYTES, LEASE_NANOS);
    }

    @AfterEach
    void close() {
        servers.close();
    }

    @Test
    void aServerJoinsIsUsedByAllProcessesAndLeaves() {
        String first = start(8);
        String second = start(8);
        try (FarMap map = servers.named(first)
                        .memory(4 * REGION_BYTES)
                        .objects(4000)
                        .create();
                MapSession session = map.openSession();
                FarMap other = servers.named(first).open();
                MapSession theirs = other.openSession()) {
            fill(session, 0, 2000);
            int before = found(theirs, 0, 2000);
            map.addServer(second, 4 * REGION_BYTES);
            assertEquals(List.of(first, second), map.servers());
            assertEquals(List.of(first, second), other.servers());
            assertEquals(8, other.stats().regions());
            assertEquals(4, servers.freeRegions(1));
            fill(session, 0, 1000);
            fill(theirs, 1000, 2000);
            int more = found(session, 0, 2000);
            assertTrue(more > before * 3 / 2, before + " objects, then " + more);
            // A process that opens the map later finds the server, whether it names the server or not.
            for (String[] addresses : new String[][] {{first}, {second, first}}) {
                try (FarMap late = servers.named(addresses).open();
                        MapSession lates = late.openSession()) {
                    assertEquals(8, late.stats().regions());
                    assertEquals(more, found(lates, 0, 2000));
                }
            }
            assertSound(map);
            // Three of four objects are deleted, so that there is room for the others.
            for (int i = 0; i < 2000; i++) {
                if (i % 4 != 0) {
                    session.delete(key(i));
                }
            }
            int left = found(theirs, 0, 2000);
            MapDrain drained = other.drain(second, Duration.ofSeconds(Long.MAX_VALUE));
            assertEquals(0, drained.evicted(), drained::toString);
            assertTrue(drained.moved() > 50, drained::toString);
            assertEquals(drained.objects(), drained.moved());
            assertEquals(left, found(session, 0, 2000));
            assertEquals(left, found(theirs, 0, 2000));
            assertEquals(List.of(first), map.servers());
            assertEquals(4, map.stats().regions());
            servers.awaitFree(1, 8);
            assertSound(map);
            // The server may join again.
            map.addServer(second, 1);
            assertEquals(5, other.stats().regions());
            fill(theirs, 0, 2000);
            map.grow(2 * REGION_BYTES);
            assertEquals(7, other.stats().regions());
            try (FarMap late = servers.named(first).open();
                    MapSession lates = late.openSession()) {
                assertEquals(found(theirs, 0, 2000), found(lates, 0, 2000));
            }
            assertSound(other);
        }
    }

    @Test
    void whereThereIsNoRoomForAllTheLatestUsedStay() {
        String first = start(8);
        String second = start(8);
        try (FarMap map = servers.named(first)
                        .memory(8 * REGION_BYTES)
                        .objects(8000)
                        .policy("lru")
                        .create();
                MapSession session = map.openSession()) {
            map.addServer(second, 8 * REGION_BYTES);
            int objects = 3800;
            fill(session, 0, objects);
            int from = objects / 2;
            int to = from + objects / 10;
            int hot = found(session, from, to);
            assertTrue(hot > 200, hot + " of those used");
            found(session, from, to);
            MapDrain drained = map.drain(second, LONG);
            assertTrue(drained.evicted() > 0, drained::toString);
            assertTrue(drained.moved() > 0, drained::toString);
            int kept = found(session, from, to);
            assertTrue(kept >= hot * 9 / 10, kept + " of " + hot + ": " + drained);
            assertSound(map);
        }
    }

    @Test
    void withoutTimeWhatIsThereIsEvictedAndNothingElse() {
        String first = start(8);
        String second = start(8);
        try (FarMap map = servers.named(first)
                        .memory(8 * REGION_BYTES)
                        .objects(8000)
                        .create();
                MapSession session = map.openSession()) {
            map.addServer(second, 8 * REGION_BYTES);
            fill(session, 0, 1500);
            int there = found(session, 0, 1500);
            MapDrain drained = map.drain(second, Duration.ZERO);
            assertTrue(drained.evicted() > 100, drained::toString);
            assertEquals(there - drained.evicted(), found(session, 0, 1500), drained::toString);
            servers.awaitFree(1, 8);
            assertSound(map);
        }
    }

    /** If a drain is given up, sessions get the blocks back that they had on the server. */
    @Test
    void aServerThatStaysAfterAllHasItsBlocksAgain() {
        String first = start(32);
        String second = start(8);
        int objects = 30_000;
        try (FarMap map = servers.named(first)
                        .memory(32 * REGION_BYTES)
                        .objects(2 * objects)
                        .create();
                MapSession session = map.openSession();
                FarMap other = servers.named(first).open()) {
            map.addServer(second, 8 * REGION_BYTES);
            storeSmall(session, objects);
            assertThrows(
                    IllegalStateException.class,
                    () -> other.drain(second, LONG, drain -> {
                        // The session's blocks on that server are set aside: more than a mailbox has room for.
                        storeSmall(session, objects);
                        throw new IllegalStateException("given up");
                    }));
            // Until these blocks are back, there is room for fewer objects.
            long deadline = System.nanoTime() + TestDevice.patience(20_000_000_000L);
            int stored;
            do {
                storeSmall(session, objects);
                stored = found(session, 0, objects);
            } while (stored < objects * 9 / 10 && System.nanoTime() - deadline < 0);
            assertTrue(stored >= objects * 9 / 10, stored + " have room");
            awaitQuiet(map, session);
            MapDrain drained = other.drain(second, LONG);
            assertTrue(drained.objects() > objects / 8, drained::toString);
            assertSound(map);
        }
    }

    /** Waits until the audit finds each block of the map in exactly one place. */
    private static void awaitQuiet(FarMap map, MapSession session) {
        long deadline = System.nanoTime() + TestDevice.patience(20_000_000_000L);
        MapAudit audit = map.audit();
        while (!audit.quiet() && System.nanoTime() - deadline < 0) {
            found(session, 0, 1);
            audit = map.audit();
        }
        assertTrue(audit.quiet(), audit::toString);
    }

    /** The process that drains the server does not ask again which processes have to know. */
    @Test
    void whoOpensAMapKnowsAtOnceWhichServerIsToLeave() {
        String first = start(8);
        String second = start(8);
        try (FarMap map = mapOfSmall(first, second)) {
            List<Boolean> known = new ArrayList<>();
            map.drain(second, LONG, soFar -> {
                try (FarMap late = servers.named(first).open()) {
                    known.add(late.knowsOfLeaving());
                }
            });
            assertTrue(!known.isEmpty() && !known.contains(false), known::toString);
        }
    }

    @Test
    void whoDrainsIsInterruptedAndItIsDrained() {
        String first = start(8);
        String second = start(8);
        try (FarMap map = mapOfSmall(first, second)) {
            List<MapDrain> told = new ArrayList<>();
            map.drain(second, LONG, soFar -> {
                told.add(soFar);
                Thread.currentThread().interrupt();
            });
            assertTrue(Thread.interrupted());
            assertEquals(List.of(first), map.servers());
            assertTrue(
                    !told.isEmpty()
                            && told.stream().allMatch(soFar -> soFar.moved() + soFar.evicted() <= soFar.objects()),
                    told::toString);
            assertSound(map);
        }
    }

    @Test
    void aDrainWhoseProgressFailsIsGivenUp() {
        String first = start(8);
        String second = start(8);
        try (FarMap map = mapOfSmall(first, second)) {
            IllegalStateException failure = new IllegalStateException("no more");
            assertEquals(
                    failure,
                    assertThrows(
                            IllegalStateException.class,
                            () -> map.drain(second, LONG, soFar -> {
                                throw failure;
                            })));
            assertEquals(List.of(first, second), map.servers());
            map.drain(second, LONG);
            assertEquals(List.of(first), map.servers());
            assertSound(map);
        }
    }

    /** @return a map on the first server, which the second has joined, with small objects on both */
    private FarMap mapOfSmall(String first, String second) {
        try (CloseStack stack = new CloseStack()) {
            FarMap map = stack.add(
                    servers.named(first).memory(4 * REGION_BYTES).objects(8000).create());
            map.addServer(second, 4 * REGION_BYTES);
            try (MapSession session = map.openSession()) {
                storeSmall(session, 8000);
            }
            stack.keep();
            return map;
        }
    }

    private static void storeSmall(MapSession session, int objects) {
        for (int i = 0; i < objects; i++) {
            session.set(key(i), value(i, 60));
        }
    }

    /**
     * The values have few lengths: the last piece of each length takes segments of its own, and a move must not evict
     * an object because it finds no segment.
     */
    @Test
    void valuesInPiecesMoveToo() {
        String first = servers.start(8, 1L << 20, LEASE_NANOS);
        String second = servers.start(8, 1L << 20, LEASE_NANOS);
        try (FarMap map = servers.named(first).memory(6 << 20).objects(1000).create();
                MapSession session = map.openSession()) {
            map.addServer(second, 6 << 20);
            for (int i = 0; i < 80; i++) {
                session.set(key(i), value(i, 20_000 + 5000 * (i % 5)), 100_000_000);
            }
            assertEquals(80, found(session, 0, 80));
            MapDrain drained = map.drain(second, LONG);
            assertTrue(drained.moved() > 10, drained::toString);
            assertEquals(0, drained.evicted(), drained::toString);
            assertEquals(80, found(session, 0, 80));
            assertSound(map);
            map.addServer(second, 6 << 20);
            for (int i = 0; i < 80; i++) {
                session.set(key(i), value(i, 20_000 + 5000 * (i % 5)));
            }
            long unlinked = map.counts().unlinked();
            drained = map.drain(second, Duration.ZERO);
            assertTrue(drained.evicted() > 10, drained::toString);
            // The pieces of the evicted objects on the other server are free, so no request had to unlink an object.
            assertEquals(unlinked, map.counts().unlinked());
            assertEquals(80 - drained.evicted(), found(session, 0, 80));
            assertSound(map);
        }
    }

    @Test
    void whatIsRefusedLeavesTheMapAsItWas() {
        String first = start(4);
        String second = start(4);
        String small = servers.start(4, REGION_BYTES / 2, LEASE_NANOS);
        try (FarMap map = servers.named(first)
                        .memory(4 * REGION_BYTES)
                        .objects(100)
                        .create();
                MapSession session = map.openSession()) {
            session.set(key(1), value(1, VALUE_BYTES));
            assertThrows(IllegalArgumentException.class, () -> map.addServer(second, 0));
            assertThrows(ControlException.class, () -> map.addServer(second, 5 * REGION_BYTES));
            assertThrows(ControlException.class, () -> map.addServer("127.0.0.1:1", REGION_BYTES));
            assertThrows(IllegalArgumentException.class, () -> map.addServer(small, REGION_BYTES));
            assertThrows(IllegalArgumentException.class, () -> map.addServer(first, REGION_BYTES));
            assertEquals(
                    "server " + first + " has a part of the map's table, so it cannot be drained; only servers that "
                            + "have joined the map can",
                    assertThrows(IllegalArgumentException.class, () -> map.drain(first, LONG))
                            .getMessage());
            assertThrows(IllegalArgumentException.class, () -> map.drain(second, LONG));
            assertEquals(List.of(first), map.servers());
            assertEquals(4, map.stats().regions());
            assertEquals(4, servers.freeRegions(1));
            map.addServer(second, REGION_BYTES);
            assertThrows(IllegalArgumentException.class, () -> map.addServer(second, REGION_BYTES));
            try (FarMap stranger = FarMap.builder()
                    .name("other")
                    .token(TOKEN)
                    .device(TestDevice.client())
                    .servers(small)
                    .memory(REGION_BYTES)
                    .objects(10)
                    .create()) {
                assertThrows(IllegalArgumentException.class, () -> stranger.drain(second, LONG));
            }
            assertEquals(1, found(session, 0, 10));
            assertThrows(MapException.class, () -> servers.named(second).open());
            assertSound(map);
        }
    }

    @Test
    void aServerProcessIsInAMapOnceWhateverItsAddresses() throws Exception {
        String first = start(4);
        String second = start(8);
        try (ControlCable toFirst = new ControlCable(first);
                ControlCable toSecond = new ControlCable(second);
                FarMap map = servers.named(first)
                        .memory(2 * REGION_BYTES)
                        .objects(100)
                        .create()) {
            map.addServer(second, 2 * REGION_BYTES);
            for (ControlCable again : List.of(toFirst, toSecond)) {
                String why = assertThrows(
                                IllegalArgumentException.class, () -> map.addServer(again.address(), REGION_BYTES))
                        .getMessage();
                assertTrue(why.contains(again.address()) && why.contains("already"), why);
            }
            assertEquals(List.of(first, second), map.servers());
            assertEquals(List.of(2, 6), List.of(servers.freeRegions(0), servers.freeRegions(1)));
            map.drain(second, LONG);
            servers.awaitFree(1, 8);
            map.addServer(toSecond.address(), REGION_BYTES);
            assertEquals(List.of(first, toSecond.address()), map.servers());
            map.drain(toSecond.address(), LONG);
        }
    }

    @Test
    void whatAnEarlierAttemptLeftOnTheServerIsReplaced() {
        String first = start(4);
        String second = start(4);
        try (FarMap map = servers.named(first)
                        .memory(4 * REGION_BYTES)
                        .objects(100)
                        .create();
                RemoteMemory remote = RemoteMemory.open(TestDevice.client(), "test")) {
            SpaceKey key = SpaceKey.of(NAME, TOKEN);
            RemoteSpace made = remote.openSpace(remote.attach(first), key);
            MapDescriptor descriptor =
                    MapDescriptor.decode(made.descriptor(), "test").of(1);
            remote.createSpace(remote.attach(second), key, 3, SpacePlane.FOR_EVER, descriptor.encode());
            map.addServer(second, 4 * REGION_BYTES);
            assertEquals(8, map.stats().regions());
            // A space that a map uses is no leftover.
            try (FarMap other = FarMap.builder()
                    .name(NAME)
                    .token(TOKEN)
                    .device(TestDevice.client())
                    .servers(start(4))
                    .memory(REGION_BYTES)
                    .objects(10)
                    .create()) {
                assertThrows(RuntimeException.class, () -> other.addServer(second, REGION_BYTES));
                assertEquals(1, other.servers().size());
            }
            assertEquals(8, map.stats().regions());
            assertSound(map);
        }
    }

    @Test
    void aServerThatIsLostIsTakenOutWithWhatItHad() {
        long lease = TestDevice.patience(2_000_000_000L);
        String first = servers.start(8, REGION_BYTES, LEASE_NANOS);
        String second = servers.start(8, REGION_BYTES, lease);
        try (FarMap map = servers.named(first)
                        .memory(8 * REGION_BYTES)
                        .objects(4000)
                        .create();
                MapSession session = map.openSession();
                FarMap other = servers.named(first).open();
                MapSession theirs = other.openSession()) {
            map.addServer(second, 8 * REGION_BYTES);
            fill(session, 0, 1500);
            int there = found(theirs, 0, 1500);
            servers.stop(1);
            long deadline = System.nanoTime() + TestDevice.patience(60_000_000_000L);
            while (session.requests().connections().all()
                    || !session.requests().connections().up()) {
                assertTrue(System.nanoTime() - deadline < 0, "the session does not see that the server is lost");
                try {
                    found(session, 0, 1500);
                } catch (MapException e) {
                    // The object was on the lost server.
                    LockSupport.parkNanos(100_000);
                }
            }
            MapDrain drained = drainLost(map, second, deadline);
            assertTrue(drained.evicted() > 100, drained::toString);
            assertEquals(0, drained.moved());
            // An object that cannot be evicted, since its slot is below one of its fingerprint, is a miss, too.
            assertEquals(there - drained.objects(), found(theirs, 0, 1500));
            fill(session, 0, 1500);
            assertTrue(found(theirs, 0, 1500) > 1000);
            assertEquals(List.of(first), other.servers());
            // The server has left, so the session has a connection to each server of the map.
            assertTrue(session.requests().connections().all());
            // Nothing has to be proven about the lost server any more, so requests do not try to.
            found(session, 0, 1);
            assertFalse(session.requests().connections().unproven());
            assertSound(map);
            try (FarMap late = servers.named(first).open();
                    MapSession lates = late.openSession()) {
                assertEquals(found(theirs, 0, 1500), found(lates, 0, 1500));
            }
        }
    }

    /** No process drains it, and none has the time to say so: the map's time alone has passed. */
    @Test
    void aJoinedServerThatIsLostIsTakenOutByItself() {
        long lease = TestDevice.patience(1_000_000_000L);
        String first = servers.start(4, REGION_BYTES, LEASE_NANOS);
        String second = servers.start(4, REGION_BYTES, lease);
        String third = servers.start(4, REGION_BYTES, lease);
        try (FarMap map = servers.named(first)
                        .memory(4 * REGION_BYTES)
                        .objects(2000)
                        .replaceAfter(Duration.ofMillis(10))
                        .create();
                MapSession session = map.openSession();
                FarMap other = servers.named(first).open();
                MapSession theirs = other.openSession()) {
            map.addServer(second, 4 * REGION_BYTES);
            map.addServer(third, 4 * REGION_BYTES);
            fill(session, 0, 300);
            // Some have pointers, so nothing may empty their slots before all processes know.
            for (int round = 0; round < 3; round++) {
                assertEquals(300, found(theirs, 0, 300));
            }
            servers.stop(2);
            servers.stop(1);
            long deadline = System.nanoTime() + TestDevice.patience(60_000_000_000L);
            while (!map.servers().equals(List.of(first))
                    || !other.servers().equals(List.of(first))
                    || !isFilled(session, 300)) {
                assertTrue(System.nanoTime() - deadline < 0, () -> map.servers() + ", " + other.servers());
                LockSupport.parkNanos(1_000_000);
            }
            assertEquals(300, found(theirs, 0, 300));
            assertSound(map);
            // It may come back, under another number.
            map.addServer(servers.start(4, REGION_BYTES, lease), 4 * REGION_BYTES);
            try (FarMap late = servers.named(first).open()) {
                assertEquals(2, late.servers().size());
            }
        }
    }

    /** A process that does not reach a server has opened the map without it, and since then another process uses it. */
    @Test
    void aServerThatAnotherProcessUsesIsNotTakenOutByItself() {
        String first = servers.start(4, REGION_BYTES, LEASE_NANOS);
        String second = servers.start(4, REGION_BYTES, LEASE_NANOS);
        try (FarMap map = servers.named(first)
                        .memory(4 * REGION_BYTES)
                        .objects(2000)
                        .replaceAfter(Duration.ofMillis(10))
                        .create();
                MapSession session = map.openSession();
                FarMap other = servers.named(first).open()) {
            map.addServer(second, 4 * REGION_BYTES);
            fill(session, 0, 100);
            MapConnection connection = Fields.get(other, "now", MapConnection.class);
            ServerDrain drain = connection.drain();
            assertTrue(drain.answers(second, 1));
            assertFalse(drain.answers(second, 2), "it may join again, under another number");
            String silent = "127.0.0.1:1";
            assertFalse(drain.answers(silent, 1));
            connection.servers.away().put(1, silent);
            String why = assertThrows(MapException.class, () -> drain.drainUnused(silent, soFar -> {}))
                    .getMessage();
            assertTrue(why.contains("a process that has the map open uses it"), why);
            assertEquals(List.of(first, second), map.servers());
            assertEquals(100, found(session, 0, 100));
            // An operator says that it is lost, and the map takes it out meanwhile.
            AtomicReference<MapDrain> later = new AtomicReference<>();
            Thread operator = new Thread(() -> later.set(drain.drain(silent, Duration.ZERO, soFar -> {})));
            drain.drain(silent, Duration.ZERO, soFar -> {
                if (operator.getState() == Thread.State.NEW) {
                    operator.start();
                    Wait.until(() -> operator.getState() == Thread.State.WAITING, 30_000_000_000L, "it does not wait");
                }
            });
            ThreadJoiner.join(operator);
            assertEquals(new MapDrain(0, 0, 0, 0), later.get());
            assertEquals(List.of(first), map.servers());
        }
    }

    private static boolean isFilled(MapSession session, int objects) {
        try {
            fill(session, 0, objects);
            return true;
        } catch (MapException e) {
            // Not all processes have confirmed that the servers have left.
            return false;
        }
    }

    /** Drains a server once the map knows that it is lost. */
    private static MapDrain drainLost(FarMap map, String server, long deadline) {
        MapDrain drained = null;
        while (drained == null && System.nanoTime() - deadline < 0) {
            try {
                drained = map.drain(server, LONG);
            } catch (MapException e) {
                // The map does not know yet that the server is lost.
                LockSupport.parkNanos(100_000);
            }
        }
        assertNotNull(drained);
        return drained;
    }

    /** Their blocks cannot be marked, and other processes may read them by pointers until they know of it. */
    @Test
    void objectsWithPointersOnALostServerStayUntilAllProcessesKnow() {
        long lease = TestDevice.patience(1_000_000_000L);
        String first = servers.start(4, REGION_BYTES, LEASE_NANOS);
        String second = servers.start(4, REGION_BYTES, lease);
        try (FarMap map = servers.named(first)
                        .memory(4 * REGION_BYTES)
                        .objects(2000)
                        .create();
                MapSession session = map.openSession();
                FarMap other = servers.named(first).open();
                MapSession theirs = other.openSession()) {
            map.addServer(second, 4 * REGION_BYTES);
            fill(session, 0, 300);
            for (int round = 0; round < 3; round++) {
                assertEquals(300, found(theirs, 0, 300));
                theirs.poll((tag, status, memory, at, bytes) -> {});
            }
            servers.stop(1);
            long deadline = System.nanoTime() + TestDevice.patience(60_000_000_000L);
            MapDrain drained = drainLost(map, second, deadline);
            assertTrue(drained.objects() - drained.evicted() > 100, drained::toString);
            boolean filled = false;
            while (!filled && System.nanoTime() - deadline < 0) {
                try {
                    fill(session, 0, 300);
                    filled = true;
                } catch (MapException e) {
                    // Not all processes have confirmed that the server has left.
                    LockSupport.parkNanos(100_000);
                }
            }
            assertTrue(filled);
            assertEquals(300, found(theirs, 0, 300));
            assertSound(map);
        }
    }

    @Test
    void aMapWhoseServerWasLostWhileNobodyHadItOpenIsOpenedWithoutIt() {
        String first = start(8);
        String second = start(8);
        int there;
        try (FarMap map = servers.named(first)
                        .memory(8 * REGION_BYTES)
                        .objects(4000)
                        .create();
                MapSession session = map.openSession()) {
            map.addServer(second, 8 * REGION_BYTES);
            fill(session, 0, 1500);
            there = found(session, 0, 1500);
        }
        servers.stop(1);
        String message = assertThrows(
                        MapException.class, () -> servers.named(first).open())
                .getMessage();
        assertTrue(message.contains(second) && message.contains("farheap kv drain --lost"), message);
        try (FarMap map = servers.named(first).withoutServer(second).open();
                MapSession session = map.openSession()) {
            MapDrain drained = map.drain(second, LONG);
            assertTrue(drained.evicted() > 100, drained::toString);
            assertEquals(there - drained.objects(), found(session, 0, 1500));
            assertThrows(IllegalArgumentException.class, () -> map.drain(second, LONG));
        }
        try (FarMap map = servers.named(first).open();
                MapSession session = map.openSession()) {
            fill(session, 0, 1500);
            assertTrue(found(session, 0, 1500) > 1000);
            assertSound(map);
        }
    }

    /** Processes learn at different times that a server leaves. All objects have room, so none may be missed. */
    @Test
    void whatIsStoredWhileAServerLeavesIsThere() throws Exception {
        String first = start(40);
        String second = start(8);
        try (FarMap map = servers.named(first)
                        .memory(40 * REGION_BYTES)
                        .objects(12_000)
                        .create();
                FarMap other = servers.named(first).open();
                MapSession session = other.openSession()) {
            for (int round = 0; round < Effort.either(2, 4); round++) {
                map.addServer(second, 4 * REGION_BYTES);
                AtomicBoolean over = new AtomicBoolean();
                int begin = 1_000_000 * round;
                CompletableFuture<Integer> storing = CompletableFuture.supplyAsync(() -> {
                    int next = begin;
                    for (; !over.get() && next < begin + 5000; next++) {
                        session.set(key(next), value(next, VALUE_BYTES));
                        // The load is slow, so that there is room for all that it stores during the drain.
                        LockSupport.parkNanos(100_000);
                    }
                    session.release();
                    return next;
                });
                map.drain(second, LONG);
                over.set(true);
                int end = storing.join();
                assertEquals(end - begin, found(session, begin, end));
                for (int key = begin; key < end; key++) {
                    session.delete(key(key));
                }
                session.release();
            }
            assertEquals(0, other.counts().evicted());
            assertSound(map);
        }
    }

    static Stream<Integer> valueBytes() {
        return Effort.variants(1, VALUE_BYTES, 30_000);
    }

    @ParameterizedTest
    @MethodSource("valueBytes")
    void serversComeAndGoUnderLoad(int valueBytes) throws Exception {
        long seed = System.nanoTime();
        long regionBytes = valueBytes > 10_000 ? 1 << 20 : REGION_BYTES;
        String first = servers.start(10, regionBytes, LEASE_NANOS);
        String second = servers.start(10, regionBytes, LEASE_NANOS);
        AtomicBoolean over = new AtomicBoolean();
        AtomicReference<Throwable> failure = new AtomicReference<>();
        try (FarMap map = servers.named(first)
                        .memory(6 * regionBytes)
                        .objects(3000)
                        .create();
                FarMap other = servers.named(first).open()) {
            List<Thread> users = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                FarMap its = i == 0 ? map : other;
                SplittableRandom random = new SplittableRandom(seed + i);
                users.add(Thread.ofPlatform().start(() -> {
                    try (MapSession session = its.openSession()) {
                        while (!over.get()) {
                            request(session, random, valueBytes);
                        }
                    } catch (Throwable e) {
                        failure.compareAndSet(null, e);
                    }
                }));
            }
            SplittableRandom random = new SplittableRandom(seed);
            for (int round = 0; round < Effort.either(2, 4); round++) {
                (round % 2 == 0 ? map : other).addServer(second, 4 * regionBytes);
                Thread.sleep(random.nextInt(200));
                (round % 2 == 0 ? other : map).drain(second, Duration.ofMillis(random.nextInt(1000)));
            }
            over.set(true);
            for (Thread user : users) {
                user.join();
            }
            assertNull(failure.get(), () -> "seed " + seed + ": " + failure.get());
            assertEquals(6, map.stats().regions());
            assertSound(map);
            assertSound(other);
        }
    }

    private static void request(MapSession session, SplittableRandom random, int valueBytes) {
        int number = random.nextInt(3000);
        switch (random.nextInt(5)) {
            case 0 -> session.delete(key(number));
            case 1, 2 -> found(session, number, number + 1);
            case 3 -> session.touch(key(number), 0);
            default -> session.set(key(number), value(number, valueBytes));
        }
    }
}
