package io.farheap.kv;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import io.farheap.kv.contract.MapException;
import io.farheap.kv.space.PointerCache;
import io.farheap.testing.Fields;
import io.farheap.testing.TestDevice;
import io.farheap.testing.Wait;
import java.util.concurrent.ExecutionException;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A process loses its leases, as in a pause that is longer than they are, and its sessions continue. */
class LostLeaseTest {

    private static final long LEASE_NANOS = TestDevice.patience(1_500_000_000L);
    private static final long REGION_BYTES = 1 << 20;
    private static final int OBJECTS = 100;

    /** @param lost how many of the two servers do not answer for longer than a lease */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void sessionsContinueUnderNewLeases(int lost) throws Exception {
        try (TestServers servers = new TestServers("leases")) {
            String[] addresses = {
                servers.start(4, REGION_BYTES, LEASE_NANOS), servers.start(4, REGION_BYTES, LEASE_NANOS)
            };
            try (FarMap map = servers.named(addresses)
                            .memory(4 * REGION_BYTES)
                            .objects(1000)
                            .create();
                    MapSession session = map.openSession();
                    MapSession idle = map.openSession();
                    FutureMapSession futures = map.openFutureSession();
                    TypedMap<String, String> typed = map.openTyped(Codec.STRING, Codec.STRING)) {
                TestServers.fill(session, 0, OBJECTS);
                idle.set(TestServers.key(-1), TestServers.key(1));
                futures.set(TestServers.key(-2), TestServers.key(2), 0).get();
                typed.set("a", "b");
                for (int server = 0; server < lost; server++) {
                    servers.silence(server);
                }
                PointerCache pointers = Fields.get(map, "now", MapConnection.class).pointers;
                await(() -> !works(session));
                await(() -> !pointers.areHeld());
                for (int server = 0; server < lost; server++) {
                    servers.answer(server, addresses[server]);
                }
                // Leases that are this short may be lost again on a busy machine.
                await(() -> works(session)
                        && holds(() -> assertArrayEquals(TestServers.key(1), idle.get(TestServers.key(-1))))
                        && holds(() -> assertArrayEquals(
                                TestServers.key(2),
                                futures.get(TestServers.key(-2)).get()))
                        && holds(() -> assertEquals("b", typed.get("a")))
                        && holds(() -> TestServers.fill(session, 0, 2 * OBJECTS))
                        && holds(() -> assertEquals(2 * OBJECTS, TestServers.found(idle, 0, 2 * OBJECTS)))
                        // The blocks that the sessions held under the old leases are free.
                        && holds(() -> TestServers.assertSound(map))
                        && Fields.get(map, "now", MapConnection.class).pointers.areHeld());
                await(() -> !pointers.holdsMemory());
            }
        }
    }

    private static boolean works(MapSession session) {
        return holds(() -> assertEquals(OBJECTS, TestServers.found(session, 0, OBJECTS)));
    }

    private interface Check {
        void run() throws Exception;
    }

    /** @return false if a server was lost */
    private static boolean holds(Check check) {
        try {
            check.run();
            return true;
        } catch (MapException e) {
            return false;
        } catch (ExecutionException e) {
            assertInstanceOf(MapException.class, e.getCause());
            return false;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static void await(BooleanSupplier condition) {
        Wait.until(condition, 60_000_000_000L, "it has not come to that");
    }
}
