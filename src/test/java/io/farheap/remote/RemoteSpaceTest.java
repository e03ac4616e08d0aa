package io.farheap.remote;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.SpaceInfo;
import io.farheap.control.SpaceKey;
import io.farheap.control.plane.SpacePlane;
import io.farheap.remote.contract.Outcome;
import io.farheap.remote.contract.PostResult;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.rpc.RpcHandler;
import io.farheap.server.contract.ServedSpace;
import io.farheap.testing.Effort;
import io.farheap.testing.TestDevice;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Shared spaces of remote memory: each client has a lease and a device of its own, as processes have. */
class RemoteSpaceTest {

    private static final int REGIONS = 8;
    private static final int ADDS = Effort.count(2_000);
    private static final long PATIENCE_NANOS = TestDevice.patience(60_000_000_000L);
    private static final SpaceKey KEY = SpaceKey.of("words", "0123456789abcdef");
    private static final byte[] DESCRIPTOR = {4, 5};

    private final TestServers servers = new TestServers(REGIONS, REGIONS);
    private final List<Client> clients = new ArrayList<>();

    /** Stands for one process, which executes one operation at a time. */
    private final class Client implements AutoCloseable {
        private final RemoteMemory memory = RemoteMemory.open(TestDevice.client(), "client");
        private final RemoteServer server = memory.attach(servers.address(0));
        private final RemoteServer other = memory.attach(servers.address(1));
        private final RemoteQueue queue = memory.openQueue(QueueOptions.DEFAULT);
        private final RegisteredBuffer page = memory.register(4096);
        private int outcome;

        Client() {
            clients.add(this);
        }

        RemoteSpace create(int regions) {
            return memory.createSpace(server, KEY, regions, SpacePlane.FOR_EVER, DESCRIPTOR);
        }

        RemoteSpace open() {
            return memory.openSpace(server, KEY);
        }

        int run(int posting) {
            assertEquals(PostResult.OK, posting, () -> PostResult.describe(posting));
            while (queue.poll((tag, how) -> outcome = how) == 0) {
                queue.await(1_000_000);
            }
            return outcome;
        }

        void done(int posting) {
            int how = run(posting);
            assertEquals(Outcome.DONE, how, () -> Outcome.describe(how));
        }

        void reconnect() {
            queue.reconnect(server, 0);
            done(PostResult.OK);
        }

        void write(RemoteRegion region, long offset, long value) {
            page.segment().set(JAVA_LONG, 0, value);
            done(queue.write(region, offset, page, 0, 8, 0));
        }

        long read(RemoteRegion region, long offset) {
            done(queue.read(region, offset, page, 0, 8, 0));
            return page.segment().get(JAVA_LONG, 0);
        }

        boolean swap(RemoteRegion region, long offset, long expected, long value) {
            done(queue.compareAndSwap(region, offset, expected, value, page, 0, 0));
            return page.segment().get(JAVA_LONG, 0) == expected;
        }

        @Override
        public void close() {
            memory.close();
        }
    }

    @AfterEach
    void close() {
        clients.forEach(Client::close);
        servers.close();
    }

    private static void await(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - deadline < 0, what + " has not come about");
            LockSupport.parkNanos(100_000);
        }
    }

    /** Of a space that was created to be read, the device refuses all else, also after it has grown. */
    @Test
    void aSpaceToBeReadCanBeNeitherWrittenNorSwapped() {
        Client creator = new Client();
        RemoteSpace made = creator.memory.createSpace(creator.server, KEY, 1, SpacePlane.FOR_EVER, DESCRIPTOR, true);
        made.grow(1);
        Client other = new Client();
        List<RemoteRegion> opened = other.open().regions();
        for (int region = 0; region < 2; region++) {
            for (Client client : List.of(creator, other)) {
                RemoteRegion own =
                        client == other ? opened.get(region) : made.regions().get(region);
                assertEquals(0, client.read(own, 64));
                assertEquals(Outcome.REFUSED, client.run(client.queue.write(own, 64, client.page, 0, 8, 0)));
                client.reconnect();
                int swapped = client.queue.compareAndSwap(own, 64, 0, 1, client.page, 0, 0);
                assertEquals(Outcome.REFUSED, client.run(swapped));
                client.reconnect();
                int added = client.queue.fetchAndAdd(own, 64, 1, client.page, 0, 0);
                assertEquals(Outcome.REFUSED, client.run(added));
                client.reconnect();
                assertEquals(0, client.read(own, 64));
            }
        }
    }

    private static void refused(Code code, Runnable call) {
        ControlException e = assertThrows(ControlException.class, call::run);
        assertEquals(code, e.code(), e::getMessage);
    }

    @Test
    void whatOneWritesTheOthersReadWhenItIsGone() {
        Client one = new Client();
        Client two = new Client();
        RemoteSpace created = one.create(3);
        assertEquals(3, created.regions().size());
        RemoteSpace opened = two.open();
        assertEquals(created.id(), opened.id());
        assertArrayEquals(DESCRIPTOR, opened.descriptor());
        for (int i = 0; i < 3; i++) {
            assertEquals(0, two.read(opened.regions().get(i), 8));
            one.write(created.regions().get(i), 8, i + 1);
            assertEquals(i + 1, two.read(opened.regions().get(i), 8));
        }
        assertEquals(List.of(new SpaceInfo("words", 3, SpacePlane.FOR_EVER, 2)), two.memory.spaces(two.server));
        one.close();
        two.close();
        Client three = new Client();
        assertEquals(3, three.read(three.open().regions().get(2), 8));
        refused(Code.NOT_FOUND, () -> three.memory.openSpace(three.server, SpaceKey.of("words", "fedcba9876543210")));
        refused(Code.NOT_FOUND, () -> three.memory.openSpace(three.other, KEY));
    }

    /** Clients of three leases count with compare-and-swap, and no increment is lost. */
    @Test
    void threeClientsCountInOneWord() throws Exception {
        new Client().create(1);
        CountDownLatch ready = new CountDownLatch(3);
        try (ExecutorService threads = Executors.newFixedThreadPool(3)) {
            List<Future<Integer>> counting = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                Client client = new Client();
                counting.add(threads.submit(() -> count(client, ready)));
            }
            for (Future<Integer> each : counting) {
                assertEquals(ADDS, each.get());
            }
        }
        Client last = new Client();
        assertEquals(3L * ADDS, last.read(last.open().regions().getFirst(), 64));
    }

    private static int count(Client client, CountDownLatch ready) throws InterruptedException {
        RemoteRegion region = client.open().regions().getFirst();
        ready.countDown();
        ready.await();
        int added = 0;
        for (long seen = client.read(region, 64); added < ADDS; ) {
            if (client.swap(region, 64, seen, seen + 1)) {
                added++;
                seen++;
            } else {
                seen = client.page.segment().get(JAVA_LONG, 0);
            }
        }
        return added;
    }

    @Test
    void aSpaceThatIsDroppedInUseFailsItsServersConnectionAlone() throws Exception {
        Client one = new Client();
        RemoteRegion own = one.memory.allocate(one.server, 1).getFirst();
        RemoteRegion elsewhere = one.memory.allocate(one.other, 1).getFirst();
        one.write(own, 0, 11);
        one.write(elsewhere, 0, 12);
        RemoteSpace space = one.create(2);
        Client two = new Client();
        two.open();

        CountDownLatch using = new CountDownLatch(1);
        try (ExecutorService threads = Executors.newSingleThreadExecutor()) {
            Future<Integer> ended = threads.submit(() -> {
                int outcome = Outcome.DONE;
                for (int i = 0; outcome == Outcome.DONE; i++) {
                    outcome = one.run(one.queue.write(space.regions().get(i % 2), 0, one.page, 0, 4096, i));
                    if (i == 10) {
                        using.countDown();
                    }
                }
                return outcome;
            });
            using.await();
            two.memory.dropSpace(two.server, KEY);
            int outcome = ended.get();
            assertTrue(outcome == Outcome.REFUSED || outcome == Outcome.UNKNOWN, () -> Outcome.describe(outcome));
        }
        assertEquals(12, one.read(elsewhere, 0));
        assertEquals(PostResult.LOST, one.queue.read(own, 0, one.page, 0, 8, 0));
        assertEquals(Outcome.DONE, reconnected(one));
        assertEquals(11, one.read(own, 0));
        assertNotEquals(Outcome.DONE, one.run(one.queue.read(space.regions().getFirst(), 0, one.page, 0, 8, 0)));
        assertEquals(Outcome.DONE, reconnected(one));
        refused(Code.NOT_FOUND, space::refresh);
        refused(Code.NOT_FOUND, () -> space.grow(1));
        space.close();
        assertEquals(List.of(), space.regions());

        await("the return of the regions", () -> servers.freeRegions(0) == REGIONS - 1);
        RemoteSpace next = two.create(REGIONS - 1);
        assertNotEquals(space.id(), next.id());
        two.page.segment().fill((byte) -1);
        for (RemoteRegion region : next.regions()) {
            for (long at = 0; at < TestServers.REGION_BYTES; at += 4096) {
                two.done(two.queue.read(region, at, two.page, 0, 4096, 0));
                assertEquals(-1, two.page.segment().mismatch(MemorySegment.ofArray(new byte[4096])));
            }
        }
    }

    private static int reconnected(Client client) {
        client.queue.reconnect(client.server, 1000);
        int[] outcome = {-1};
        while (outcome[0] < 0) {
            client.queue.poll((tag, how) -> outcome[0] = tag == 1000 ? how : outcome[0]);
            client.queue.await(1_000_000);
        }
        return outcome[0];
    }

    @Test
    void itGrowsAndIsExtended() {
        Client one = new Client();
        Client two = new Client();
        RemoteSpace first = one.memory.createSpace(one.server, KEY, 1, 3_600_000, DESCRIPTOR);
        RemoteSpace second = two.open();
        assertEquals(2, first.grow(2).size());
        RemoteRegion third = second.grow(1).getFirst();
        assertEquals(4, second.regions().size());
        assertEquals(third, second.regions().get(3));
        two.write(third, 0, 9);
        assertEquals(9, one.read(first.refresh().get(3), 0));
        refused(Code.OUT_OF_MEMORY, () -> first.grow(REGIONS));
        assertEquals(4, first.regions().size());
        assertTrue(first.extend(7_200_000) > 3_600_000);
        assertEquals(SpacePlane.FOR_EVER, second.extend(SpacePlane.FOR_EVER));
    }

    @Test
    void closingEndsThisProcessesUseAlone() {
        Client one = new Client();
        Client two = new Client();
        RemoteSpace first = one.create(2);
        RemoteSpace second = two.open();
        RemoteRegion region = first.regions().getFirst();
        assertThrows(IllegalArgumentException.class, () -> one.memory.release(region));
        one.write(region, 0, 5);
        // The READ waits in the list to be posted, so it has not ended.
        one.queue.beginList();
        assertEquals(PostResult.OK, one.queue.read(region, 0, one.page, 0, 8, 1));
        assertThrows(IllegalStateException.class, first::close);
        assertEquals(2, first.regions().size());
        one.queue.postList();
        one.run(PostResult.OK);
        first.close();
        first.close();
        assertEquals(PostResult.INVALID, one.queue.read(region, 0, one.page, 0, 8, 1));
        assertThrows(IllegalStateException.class, () -> first.grow(1));
        assertEquals(1, two.memory.spaces(two.server).getFirst().leases());
        assertEquals(5, two.read(second.regions().getFirst(), 0));
        try (RemoteSpace again = one.open()) {
            assertEquals(5, one.read(again.regions().getFirst(), 0));
        }
        second.drop();
        second.drop();
        refused(Code.NOT_FOUND, one::open);
        await("all regions", () -> servers.freeRegions(0) == REGIONS);
    }

    /** A service's handler knows its caller's lease, and changes the space only if the caller has opened it. */
    @Test
    void aHandlerReachesTheSpaceOfItsCaller() {
        int operation = 77;
        RpcHandler stores = (held, arguments, reply) -> {
            ServedSpace space = servers.spaces(0).find(arguments.getLong(0));
            if (space == null || !space.openedBy(held.lease())) {
                throw new IllegalStateException("not open");
            }
            space.region(space.regions() - 1).set(JAVA_LONG, 16, arguments.getLong(8));
            reply.setLong(0, held.lease());
            return Long.BYTES;
        };
        servers.register(operation, stores);
        Client one = new Client();
        Client two = new Client();
        RemoteSpace space = one.create(2);
        assertEquals(Outcome.DONE, call(one, operation, space.id(), 42));
        assertEquals(42, one.read(space.regions().get(1), 16));
        assertEquals(Outcome.FAILED, call(two, operation, space.id(), 43));
        two.open();
        assertEquals(Outcome.DONE, call(two, operation, space.id(), 44));
        assertEquals(44, one.read(space.regions().get(1), 16));
        space.drop();
        assertEquals(Outcome.FAILED, call(one, operation, space.id(), 45));
        servers.unregister(operation);
    }

    private static int call(Client client, int operation, long space, long value) {
        try (RpcQueue calls = client.memory.openRpcQueue(RpcOptions.DEFAULT)) {
            client.page.segment().set(JAVA_LONG, 0, space);
            client.page.segment().set(JAVA_LONG, 8, value);
            assertEquals(PostResult.OK, calls.call(client.server, operation, client.page, 0, 16, 64, 8, 0));
            calls.send();
            int[] outcome = {-1};
            while (outcome[0] < 0) {
                calls.poll((tag, how, bytes) -> outcome[0] = how);
                calls.await(1_000_000);
            }
            return outcome[0];
        }
    }
}
