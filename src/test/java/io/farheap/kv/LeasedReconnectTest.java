package io.farheap.kv;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.ControlException;
import io.farheap.kv.contract.KvHandler;
import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.contract.MapException;
import io.farheap.testing.Fields;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.PlaneProxy;
import io.farheap.testing.Softverbs;
import io.farheap.testing.TestDevice;
import io.farheap.testing.Wait;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** If queue pairs fail, or leases are lost, sessions of a leased map continue, and each change is made once. */
class LeasedReconnectTest {

    private static final int REQUESTS = 200;
    private static final int KEYS = 12;
    private static final long REGION = 1 << 20;

    private static FarMap map(TestServers servers, String... addresses) {
        return servers.named(addresses)
                .engine(FarMapBuilder.LEASED)
                .memory(2 * REGION)
                .objects(2000)
                .create();
    }

    /** The map has one session, which knows what each request must find: none is lost, and none is made twice. */
    @Needs(Need.SOFTVERBS)
    @ParameterizedTest
    @ValueSource(ints = {200, 500})
    void noRequestIsLostAndNoneIsMadeTwice(int operations) {
        try {
            requests(operations);
        } finally {
            Softverbs.set("qp_error_after=0");
        }
    }

    private static void requests(int operations) {
        long seed = System.nanoTime();
        SplittableRandom random = new SplittableRandom(seed);
        Map<Integer, byte[]> expected = new HashMap<>();
        try (TestServers servers = new TestServers("reconnect");
                FarMap map = map(servers, servers.startAll(2, 1, REGION));
                MapSession session = map.openSession()) {
            byte[] counter = TestServers.key(-1);
            session.set(counter, new byte[8]);
            Softverbs.set("qp_error_after=" + operations);
            int counted = 0;
            for (int i = 0; i < REQUESTS; i++) {
                String where = "step " + i + ", seed " + seed;
                int number = random.nextInt(KEYS);
                byte[] key = TestServers.key(number);
                byte[] value = new byte[random.nextInt(20) == 0 ? 5000 : random.nextInt(100)];
                random.nextBytes(value);
                boolean there = expected.containsKey(number);
                switch (random.nextInt(6)) {
                    case 0 -> {
                        session.set(key, value);
                        expected.put(number, value);
                    }
                    case 1 -> {
                        assertEquals(!there, session.add(key, value, 0), where);
                        expected.putIfAbsent(number, value);
                    }
                    case 2 -> {
                        assertEquals(there, session.replace(key, value, 0), where);
                        expected.replace(number, value);
                    }
                    case 3 -> {
                        assertEquals(there, session.delete(key), where);
                        expected.remove(number);
                    }
                    case 4 -> assertEquals(OptionalLong.of(3L * ++counted), session.increment(counter, 3), where);
                    default -> assertArrayEquals(expected.get(number), session.get(key), where);
                }
            }
            Softverbs.set("qp_error_after=0");
            for (int number = 0; number < KEYS; number++) {
                assertArrayEquals(expected.get(number), session.get(TestServers.key(number)), "seed " + seed);
            }
        }
    }

    /** An attempt to make a connection again may fail, as at a server that is busy: the request waits for the next. */
    @Needs(Need.SOFTVERBS)
    @Test
    void aRequestWaitsForASecondAttempt() {
        AtomicBoolean refuses = new AtomicBoolean();
        try (TestServers servers = new TestServers(
                        "attempts",
                        plane -> PlaneProxy.around(plane, (method, arguments, rest) -> {
                            if (method.equals("connectRing") && refuses.getAndSet(false)) {
                                Softverbs.set("qp_error_after=0");
                                throw new ControlException(ControlException.Code.DEADLINE_EXCEEDED, "it is busy");
                            }
                            return rest.call();
                        }));
                FarMap map = map(servers, servers.startAll(1, 2, REGION));
                MapSession session = map.openSession()) {
            for (int i = 0; i < 5; i++) {
                refuses.set(true);
                Softverbs.set("qp_error_after=1");
                for (int sets = 0; refuses.get(); sets++) {
                    assertTrue(sets < 1000, "no connection has failed");
                    session.set(TestServers.key(i), TestServers.value(i, 100));
                }
                assertArrayEquals(TestServers.value(i, 100), session.get(TestServers.key(i)));
            }
        } finally {
            Softverbs.set("qp_error_after=0");
        }
    }

    /** A process loses its leases, and opens the map again: without its pointers, and with all objects. */
    @Test
    void sessionsContinueUnderNewLeases() {
        long lease = TestDevice.patience(1_500_000_000L);
        try (TestServers servers = new TestServers("reopen")) {
            String[] one = {servers.start(2, REGION, lease)};
            try (FarMap map = map(servers, one);
                    MapSession session = map.openSession()) {
                TestServers.fill(session, 0, 100);
                assertEquals(100, TestServers.found(session, 0, 100));
                assertEquals(100, TestServers.found(session, 0, 100));
                servers.silence(0);
                await(() -> !works(session));
                // A connection to a server that is lost is not waited for.
                await(session::isConnected);
                servers.answer(0, one[0]);
                await(() -> works(session));
                session.set(TestServers.key(500), TestServers.value(500, 100));
                assertNotNull(session.get(TestServers.key(500)));
            }
        }
    }

    /** Until then its call may be carried out, after a later request under the new leases. */
    @Needs(Need.SOFTVERBS)
    @Test
    void aRequestInFlightEndsWhenTheOldLeasesHaveEnded() throws Exception {
        AtomicBoolean holds = new AtomicBoolean();
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch goesOn = new CountDownLatch(1);
        List<Integer> ended = new ArrayList<>();
        KvHandler handler = (tag, status, found, at, bytes) -> ended.add(status);
        try (TestServers servers = new TestServers(
                        "ending",
                        plane -> PlaneProxy.around(plane, (method, arguments, rest) -> {
                            if (method.equals("closeLease") && holds.get()) {
                                asked.countDown();
                                goesOn.await();
                            }
                            return rest.call();
                        }));
                FarMap map = map(servers, servers.startAll(1, 2, REGION));
                MapSession session = map.openSession()) {
            byte[] key = TestServers.key(1);
            session.set(key, key);
            Softverbs.set("link=down");
            assertTrue(session.set(MemorySegment.ofArray(key), MemorySegment.ofArray(key), 0));
            session.poll(handler);
            EngineConnection connection = Fields.get(map, "now", EngineConnection.class);
            holds.set(true);
            CompletableFuture<Void> end = CompletableFuture.runAsync(connection::end);
            assertTrue(asked.await(TestDevice.patience(60), TimeUnit.SECONDS));
            for (int poll = 0; poll < 100; poll++) {
                session.poll(handler);
            }
            int before = ended.size();
            goesOn.countDown();
            end.join();
            assertEquals(0, before, "its lease has not ended");
            Softverbs.set("link=up");
            await(() -> session.poll(handler) > 0);
            assertEquals(List.of(KvStatus.LOST), ended);
        } finally {
            goesOn.countDown();
            Softverbs.set("link=up");
        }
    }

    private static boolean works(MapSession session) {
        try {
            return TestServers.found(session, 0, 100) == 100;
        } catch (MapException e) {
            return false;
        }
    }

    private static void await(BooleanSupplier condition) {
        Wait.until(condition, 60_000_000_000L, "it has not come to that");
    }
}
