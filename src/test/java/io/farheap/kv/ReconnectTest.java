package io.farheap.kv;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.contract.KvHandler;
import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.contract.MapException;
import io.farheap.kv.format.TestKeys;
import io.farheap.kv.keeper.MapServiceClient;
import io.farheap.kv.space.MapSessionCounts;
import io.farheap.kv.space.RequestColumns;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.Softverbs;
import io.farheap.testing.TestDevice;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** If queue pairs fail while their servers and leases live, sessions connect again and continue. */
@Needs(Need.SOFTVERBS)
class ReconnectTest {

    private static final int REQUESTS = 300;
    private static final int KEYS = 12;

    @AfterEach
    void heal() {
        Softverbs.set("qp_error_after=0 link=up");
    }

    private static byte[] key(int number) {
        return TestServers.key(number);
    }

    private static void pollUntil(MapSession session, KvHandler handler, BooleanSupplier condition) {
        long deadline = System.nanoTime() + TestDevice.patience(20_000_000_000L);
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - deadline < 0, "it has not come to that");
            session.poll(handler);
            session.await(100_000);
        }
    }

    /** The map has one session, so the test knows the object that each request finds, and no request is lost. */
    @ParameterizedTest
    @ValueSource(ints = {6, 9, 25})
    void requestsGoOnThatAreNotUnknown(int operations) {
        long seed = System.nanoTime();
        SplittableRandom random = new SplittableRandom(seed);
        Map<Integer, byte[]> expected = new HashMap<>();
        try (TestSpace space = new TestSpace(2, 1, 1 << 20, 1000);
                MapSession session = space.map.openSession()) {
            for (int i = 0; i < KEYS; i++) {
                session.set(key(-1 - i), new byte[8]);
            }
            // These steps give the session free blocks of each size, because the services' rings will fail, too.
            for (int i = 0; i < REQUESTS; i++) {
                step(session, expected, random, "step " + i + " before, seed " + seed);
            }
            Softverbs.set("qp_error_after=" + operations);
            for (int i = 0; i < REQUESTS; i++) {
                step(session, expected, random, "step " + i + ", seed " + seed);
            }
            Softverbs.set("qp_error_after=0");
            assertTrue(session.requests().connections().begun() > 0, "nothing has failed");
            for (int number = 0; number < KEYS; number++) {
                assertArrayEquals(expected.get(number), session.get(key(number)), "seed " + seed);
            }
            MapAudit audit = space.map.audit();
            assertTrue(audit.sound(), audit + ", seed " + seed);
        }
    }

    /** The session evicts if it can get no block from a server, because the services' rings fail for long. */
    private static long evicted(MapSession session) {
        return session.requests().counts().of(MapSessionCounts.EVICTED)
                + session.requests().counts().of(MapSessionCounts.CROWDED_OUT);
    }

    private static void step(MapSession session, Map<Integer, byte[]> expected, SplittableRandom random, String where) {
        long before = evicted(session);
        int number = random.nextInt(KEYS);
        byte[] value = new byte[8 * random.nextInt(1, 12)];
        random.nextBytes(value);
        byte[] key = key(number);
        boolean there = expected.containsKey(number);
        boolean found = there;
        switch (random.nextInt(7)) {
            case 0 -> {
                session.set(key, value);
                expected.put(number, value);
            }
            case 1 -> {
                found = !session.add(key, value, 0);
                if (!found) {
                    expected.put(number, value);
                }
            }
            case 2 -> {
                found = session.replace(key, value, 0);
                expected.replace(number, value);
            }
            case 3 -> {
                found = session.delete(key);
                expected.remove(number);
            }
            case 4 -> found = session.touch(key, 0);
            case 5 -> {
                byte[] counter = key(-1 - number);
                OptionalLong count = session.increment(counter, 0);
                assertEquals(
                        count.getAsLong() + 3, session.increment(counter, 3).getAsLong(), where);
            }
            default -> assertArrayEquals(expected.get(number), session.get(key), where);
        }
        assertTrue(found == there || (there && evicted(session) > before), where);
        while (evicted(session) > before) {
            before = evicted(session);
            forgetEvicted(session, expected, where);
        }
    }

    private static void forgetEvicted(MapSession session, Map<Integer, byte[]> expected, String where) {
        for (int number = 0; number < KEYS; number++) {
            byte[] found = session.get(key(number));
            if (found == null) {
                expected.remove(number);
            }
            assertArrayEquals(expected.get(number), found, where);
            if (session.get(key(-1 - number)) == null) {
                session.set(key(-1 - number), new byte[8]);
            }
        }
    }

    /** The keeper has no connection for a moment, and the map has room. */
    @Test
    void aSessionWaitsForItsKeepersConnection() {
        try (TestSpace space = new TestSpace(1, 1, 1 << 20, 1000);
                MapSession session = space.map.openSession()) {
            for (int i = 0; i < KEYS; i++) {
                session.set(key(i), TestServers.value(i, 100));
            }
            MapServiceClient calls = space.mapServers.first().line();
            KvHandler handler = (tag, status, memory, at, bytes) -> assertEquals(KvStatus.DONE, status);
            byte[] large = TestServers.value(KEYS, 2000);
            Softverbs.set("qp_error_after=1");
            // This object has another size, so it needs another segment.
            assertTrue(session.set(MemorySegment.ofArray(key(KEYS)), MemorySegment.ofArray(large), 0));
            // The keeper's thread writes what this reads.
            pollUntil(session, handler, () -> space.keeper.tasks().ask(calls::inVain) > 0);
            Softverbs.set("qp_error_after=0");
            session.requests().awaitAll(handler);
            assertEquals(0, evicted(session));
            assertArrayEquals(large, session.get(key(KEYS)));
        }
    }

    @Test
    void manyRequestsAtATimeAndValuesInPieces() {
        try (TestSpace space = new TestSpace(2, 2, 2 << 20, 1000);
                MapSession session = space.map.openSession()) {
            byte[] large = new byte[200_000];
            new SplittableRandom(1).nextBytes(large);
            int missing = 0;
            String failure = "";
            for (int round = 0; round < 10; round++) {
                // In the first two rounds nothing fails, so that the session has free blocks afterwards.
                Softverbs.set("qp_error_after=" + (round < 2 ? 0 : 50));
                List<byte[]> keys = new ArrayList<>();
                List<byte[]> values = new ArrayList<>();
                for (int i = 0; i < 40; i++) {
                    keys.add(key(i));
                    values.add(TestServers.value(i + round, 100));
                }
                try {
                    session.setAll(keys, values, 0);
                    session.set(key(-1), large);
                } catch (MapException e) {
                    missing++;
                    failure = "; round " + round + ": " + e.getMessage();
                    continue;
                }
                List<byte[]> found = session.getAll(keys);
                for (int i = 0; i < keys.size(); i++) {
                    byte[] one = found.get(i);
                    missing += one == null ? 1 : 0;
                    assertTrue(one == null || Arrays.equals(values.get(i), one), "key " + i + ", round " + round);
                }
                byte[] one = session.get(key(-1));
                missing += one == null ? 1 : 0;
                assertTrue(one == null || Arrays.equals(large, one), "round " + round);
            }
            // If the services' rings fail too long, the session evicts, and cannot know which session changed a slot.
            long evicted = evicted(session);
            assertTrue(missing <= evicted, missing + " missing of " + evicted + " evicted" + failure);
            assertTrue(session.requests().connections().begun() > 0, "nothing has failed");
            Softverbs.set("qp_error_after=0");
            // A block whose outcome is unknown belongs to the session, but may be live.
            MapAudit audit = space.map.audit();
            assertTrue(audit.sound() || !session.requests().allocator().knowsAll(), audit::toString);
        }
    }

    /** Its blocks go back. */
    @Test
    void aSessionThatIsClosedWithARequestInFlightKeepsNothing() {
        try (TestSpace space = new TestSpace(1, 1, 1 << 20, 1000)) {
            try (MapSession session = space.map.openSession()) {
                session.set(key(1), key(2));
                Softverbs.set("link=down");
                assertTrue(session.set(MemorySegment.ofArray(key(1)), MemorySegment.ofArray(key(3)), 0));
            }
            Softverbs.set("link=up");
            long deadline = System.nanoTime() + TestDevice.patience(20_000_000_000L);
            while (space.map.audit().held() > 0) {
                assertTrue(System.nanoTime() - deadline < 0, "it keeps blocks");
            }
        }
    }

    @Test
    void futuresAndTypedMapsGoOn() throws Exception {
        try (TestSpace space = new TestSpace(1, 1, 1 << 20, 1000);
                FutureMapSession futures = space.map.openFutureSession();
                TypedMap<String, String> typed = space.map.openTyped(Codec.STRING, Codec.STRING)) {
            futures.set(key(1), key(2), 0).get();
            typed.set("a", "b");
            Softverbs.set("qp_error_after=7");
            for (int i = 0; i < 30; i++) {
                futures.set(key(3), key(i), 0).get();
                assertArrayEquals(key(2), futures.get(key(1)).get());
                assertArrayEquals(key(i), futures.get(key(3)).get());
                assertEquals("b", typed.get("a"));
            }
        }
    }

    /** Its server could not be reached when the last request failed; no later request looks for it. */
    @Test
    void anIdleFutureSessionIsConnectedAgain() throws Exception {
        try (TestServers servers = new TestServers("idle")) {
            String address = servers.start(4, 1 << 20, TestServers.LEASE_NANOS);
            try (FarMap map =
                            servers.named(address).memory(4 << 20).objects(1000).create();
                    FutureMapSession futures = map.openFutureSession()) {
                futures.set(key(1), key(2), 0).get();
                servers.silence(0);
                Softverbs.set("qp_error_after=1");
                assertThrows(ExecutionException.class, () -> {
                    while (true) {
                        futures.get(key(1)).get();
                    }
                });
                Softverbs.set("qp_error_after=0");
                servers.answer(0, address);
                long deadline = System.nanoTime() + TestDevice.patience(20_000_000_000L);
                while (!futures.isConnected()) {
                    assertTrue(System.nanoTime() - deadline < 0, "it waits for a request");
                    LockSupport.parkNanos(1_000_000);
                }
                assertArrayEquals(key(2), futures.get(key(1)).get());
            }
        }
    }

    /** A server that does not answer keeps its session's connections from being ended, which other servers do not. */
    @Test
    void aCutThatASilentServerHoldsUpStopsNoRequest() throws Exception {
        try (TestServers servers = new TestServers("cut")) {
            String[] addresses = servers.startAll(2, 4, 1 << 20);
            try (FarMap map = servers.named(addresses)
                            .memory(4 << 20)
                            .objects(1000)
                            .create();
                    MapSession session = map.openSession()) {
                TestServers.fill(session, 0, 20);
                servers.silence(0);
                assertThrows(
                        ExecutionException.class, () -> session.requests().cut().get());
                int[] ended = {0};
                long deadline = System.nanoTime() + TestDevice.patience(20_000_000_000L);
                for (int i = 0; i < 20; i++) {
                    MemorySegment key = MemorySegment.ofArray(TestServers.key(i));
                    while (!session.get(key, 0)) {
                        session.poll((tag, status, memory, at, bytes) -> ended[0]++);
                    }
                }
                while (ended[0] < 20) {
                    assertTrue(System.nanoTime() - deadline < 0, "requests wait for the silent server");
                    session.poll((tag, status, memory, at, bytes) -> ended[0]++);
                }
                servers.answer(0, addresses[0]);
                while (!session.requests().isOver()) {
                    assertTrue(System.nanoTime() - deadline < 0, "the server answers");
                    session.requests().cut().exceptionally(e -> null).get();
                }
                assertEquals(20, TestServers.found(session, 0, 20));
            }
        }
    }

    /** The control plane still works, so the session makes connections, which fail again while the link is down. */
    @Test
    void aLinkThatIsDownForLongerThanAQueuePairTries() {
        try (TestSpace space = new TestSpace(1, 1, 1 << 20, 1000);
                MapSession session = space.map.openSession()) {
            session.set(key(1), key(2));
            Softverbs.set("link=down");
            byte[][] found = new byte[1][];
            assertTrue(session.get(MemorySegment.ofArray(key(1)), 0));
            KvHandler handler = (tag, status, memory, at, bytes) -> {
                assertEquals(KvStatus.DONE, status);
                found[0] = new byte[bytes];
                MemorySegment.copy(memory, at, MemorySegment.ofArray(found[0]), 0, bytes);
            };
            pollUntil(session, handler, () -> session.requests().connections().begun() > 0);
            assertNull(found[0]);
            Softverbs.set("link=up");
            session.requests().awaitAll(handler);
            assertArrayEquals(key(2), found[0]);
            session.set(key(1), key(3));
            assertArrayEquals(key(3), session.get(key(1)));
        }
    }

    /** A connection that fails each time it is made is tried as seldom as if it were the only one. */
    @Test
    void progressAtOneServerSaysNothingOfAnother() {
        try (TestSpace space = new TestSpace(2, 1, 1 << 20, 1000);
                MapSession session = space.map.openSession(8)) {
            List<byte[]> near = new ArrayList<>();
            List<byte[]> far = new ArrayList<>();
            for (int number = 0; near.size() < 3 || far.isEmpty(); number++) {
                byte[] key = key(number);
                int region = space.shape.bucketRegion(TestKeys.hash(key));
                (space.space.layout().serverOf(region) == 0 ? near : far).add(key);
            }
            byte[] key = far.getFirst();
            RequestColumns operations = session.requests().operations();
            int bytes = 0;
            // Looks for a size of which the session has blocks on the other server.
            do {
                bytes += 200;
                session.set(key, new byte[bytes]);
            } while (space.space.serverOf(operations.block[operations.first()]) == 0);
            RemoteServer server = space.spaces.get(1).server();
            KvHandler handler = (tag, status, found, at, length) ->
                    assertEquals(tag == 0 ? KvStatus.DONE : KvStatus.ABSENT, status);
            int place = operations.first();
            // The READ of the bucket is done, and the WRITE of the block is not.
            Softverbs.set("qp_error_after=1");
            assertTrue(session.set(MemorySegment.ofArray(key), MemorySegment.ofArray(new byte[bytes]), 0));
            for (int round = 1; round <= 3; round++) {
                int failures = round;
                pollUntil(session, handler, () -> operations.failures[place] >= failures);
                Softverbs.set("qp_error_after=0");
                assertTrue(session.get(MemorySegment.ofArray(near.get(round - 1)), round));
                assertEquals(round - 1, session.requests().connections().inVain(server));
                Softverbs.set("qp_error_after=1");
            }
            Softverbs.set("qp_error_after=0");
            session.requests().awaitAll(handler);
            assertEquals(0, session.requests().connections().inVain(server));
            assertArrayEquals(new byte[bytes], session.get(key));
        }
    }

    /** Such sets take no block of the other server, and evict no object there. */
    @Test
    void setsThatCannotReachTheirBucketsCostTheOtherServerNothing() {
        try (TestSpace space = new TestSpace(2, 2, 1 << 20, 1000);
                MapSession session = space.map.openSession()) {
            List<byte[]> living = new ArrayList<>();
            List<byte[]> lost = new ArrayList<>();
            for (int number = 0; living.size() < 600 || lost.size() < 600; number++) {
                byte[] key = key(number);
                int region = space.shape.bucketRegion(TestKeys.hash(key));
                (space.space.layout().serverOf(region) == 0 ? living : lost).add(key);
            }
            for (byte[] key : living) {
                session.set(key, new byte[2000]);
            }
            space.stop(1);
            // Some of these objects have their blocks on the stopped server.
            living.removeIf(key -> !has(session, key));
            assertTrue(living.size() > 100, living.size() + " of the living half");
            long evicted = session.requests().counts().of(MapSessionCounts.EVICTED);
            int failed = 0;
            for (int round = 0; round < 5; round++) {
                for (byte[] key : lost) {
                    failed += setIfItCan(session, key) ? 0 : 1;
                }
            }
            assertEquals(5 * lost.size(), failed);
            String why = assertThrows(MapException.class, () -> session.set(lost.getFirst(), new byte[1]))
                    .getMessage();
            String server = space.spaces.get(1).server().address();
            assertTrue(why.contains(server), why);
            assertEquals(evicted, session.requests().counts().of(MapSessionCounts.EVICTED));
            assertTrue(session.requests().allocator().knowsAll());
            living.forEach(key -> assertTrue(has(session, key)));
            long stored =
                    living.stream().filter(key -> setIfItCan(session, key)).count();
            assertTrue(stored > living.size() * 9 / 10, stored + " of " + living.size());
            try (MapSession other = space.map.openSession()) {
                byte[] key = living.getLast();
                other.set(key, key);
                assertArrayEquals(key, other.get(key));
            }
        }
    }

    /** @return false if the set fails, for example since a slot that may have its key names a block on a lost server */
    private static boolean setIfItCan(MapSession session, byte[] key) {
        try {
            session.set(key, new byte[2000]);
            return true;
        } catch (MapException e) {
            return false;
        }
    }

    private static boolean has(MapSession session, byte[] key) {
        try {
            return session.get(key) != null;
        } catch (MapException e) {
            return false;
        }
    }
}
