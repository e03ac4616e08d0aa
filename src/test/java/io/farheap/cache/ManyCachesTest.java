package io.farheap.cache;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.ControlException;
import io.farheap.control.grpc.ControlServer;
import io.farheap.control.plane.ControlPlane;
import io.farheap.control.plane.Lease;
import io.farheap.lifetime.Closeables;
import io.farheap.server.MemoryServer;
import io.farheap.server.Planes;
import io.farheap.server.contract.ServerOptions;
import io.farheap.testing.PlaneProxy;
import io.farheap.testing.TestDevice;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Many caches of one process on the same servers. */
class ManyCachesTest {

    private static final int CACHES = 8;
    private static final long REGION_BYTES = 64 << 10;
    /** Long enough for renewals on a busy machine; short, since the test waits for renewals and for a lease's end. */
    private static final long LEASE_NANOS = TestDevice.patience(3_000_000_000L);

    private static final long PATIENCE_SECONDS = TestDevice.patience(120);
    private static final List<String> SHARED = List.of("farheap-control-client", "farheap-lease-keeper");

    /** A memory server that answers, for some of its leases, that it does not know them. */
    private static final class Server implements AutoCloseable {

        private final MemoryServer memory = MemoryServer.open(
                new ServerOptions(2 * CACHES * REGION_BYTES, REGION_BYTES, LEASE_NANOS, TestDevice.server(), "test"));
        private final ControlServer control = ControlServer.start("127.0.0.1:0", plane());
        /** The ids of all leases, in the order in which they were opened. */
        private final List<Long> leases = new CopyOnWriteArrayList<>();

        private final Set<Long> refused = ConcurrentHashMap.newKeySet();
        private final Set<Long> renewed = ConcurrentHashMap.newKeySet();

        private ControlPlane plane() {
            return PlaneProxy.around(Planes.of(memory), (method, arguments, rest) -> {
                boolean renewal = method.equals("renewLease");
                if (renewal && refused.contains((Long) arguments[0])) {
                    throw new ControlException(ControlException.Code.LEASE_EXPIRED, "gone");
                }
                Object result = rest.call();
                if (result instanceof Lease lease) {
                    leases.add(lease.id());
                }
                if (renewal) {
                    renewed.add((Long) arguments[0]);
                }
                return result;
            });
        }

        int freeRegions() {
            return memory.description().freeRegions();
        }

        @Override
        public void close() {
            Closeables.all(control, memory);
        }
    }

    private final List<Server> servers = List.of(new Server(), new Server());
    private final List<Cache> caches = new ArrayList<>();
    private final List<Integer> losses = new CopyOnWriteArrayList<>();

    @AfterEach
    void close() {
        Closeables.all(caches);
        Closeables.all(servers);
    }

    private static long threads(String name) {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals(name))
                .count();
    }

    private static void await(BooleanSupplier condition) throws InterruptedException {
        for (int i = 0; !condition.getAsBoolean(); i++) {
            assertTrue(i < 100 * PATIENCE_SECONDS, "this does not come about");
            Thread.sleep(10);
        }
    }

    private void create(int number) {
        caches.add(Cache.builder()
                .capacity(2 * REGION_BYTES)
                .servers(
                        servers.stream().map(server -> server.control.address()).toArray(String[]::new))
                .device(TestDevice.client())
                .configuration(Configurations.DIRECT)
                .onLost((server, why, regions) -> losses.add(number))
                .create());
    }

    /** Asserts that a value that is written to each region can be read. */
    private static void use(Cache cache, long value) {
        try (CacheSession session = cache.openSession();
                Buffer buffer = cache.allocate(16)) {
            for (long offset = 0; offset < 2 * REGION_BYTES; offset += REGION_BYTES) {
                buffer.segment().set(JAVA_LONG, 0, value);
                session.writeBlocking(offset, buffer, 0, 8);
                session.readBlocking(offset, buffer, 8, 8);
                assertEquals(value, buffer.segment().get(JAVA_LONG, 8));
            }
        }
    }

    @Test
    void theyHaveTwoThreadsForEachServerAndOnesLossIsItsOwn() throws Exception {
        List<Long> before = SHARED.stream().map(ManyCachesTest::threads).toList();
        for (int i = 0; i < CACHES; i++) {
            create(i);
        }
        for (int i = 0; i < CACHES; i++) {
            use(caches.get(i), i);
        }
        await(() -> servers.stream().allMatch(server -> server.renewed.containsAll(server.leases)));
        for (int i = 0; i < SHARED.size(); i++) {
            assertEquals(before.get(i) + servers.size(), threads(SHARED.get(i)), SHARED.get(i));
        }

        Server server = servers.getFirst();
        assertEquals(CACHES, server.leases.size());
        int unlucky = 3;
        server.refused.add(server.leases.get(unlucky));
        await(() -> !losses.isEmpty());
        server.renewed.clear();
        List<Long> others = new ArrayList<>(server.leases);
        others.remove(unlucky);
        await(() -> server.renewed.containsAll(others));
        assertEquals(List.of(unlucky), losses);
        for (int i = 0; i < CACHES; i++) {
            if (i != unlucky) {
                use(caches.get(i), 100 + i);
            }
        }

        // A cache that is created later shares the threads, and a cache that is closed leaves them to the others.
        create(CACHES);
        use(caches.getLast(), 7);
        caches.getFirst().close();
        use(caches.getLast(), 8);
        for (int i = 0; i < SHARED.size(); i++) {
            assertEquals(before.get(i) + servers.size(), threads(SHARED.get(i)), SHARED.get(i));
        }

        Closeables.all(caches);
        await(() -> SHARED.stream().map(ManyCachesTest::threads).toList().equals(before));
        // The region of the lost lease is free when the lease has expired at the server; the others are free before.
        Server other = servers.getLast();
        await(() -> other.freeRegions() == 2 * CACHES && server.freeRegions() == 2 * CACHES);
    }
}
