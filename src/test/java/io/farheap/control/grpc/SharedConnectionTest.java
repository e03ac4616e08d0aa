package io.farheap.control.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.lease.LeaseKeeper;
import io.farheap.control.plane.Caller;
import io.farheap.control.plane.ControlPlane;
import io.farheap.control.plane.Lease;
import io.farheap.testing.PlaneProxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The clients of one server in one process share a connection and two threads, and nothing else. */
class SharedConnectionTest {

    private static final String IO = "farheap-control-client";
    private static final String KEEPER = "farheap-lease-keeper";
    private static final int CLIENTS = 12;

    private final InMemoryPlane plane = new InMemoryPlane();
    /** The connections from which calls have come. */
    private final Set<String> connections = ConcurrentHashMap.newKeySet();

    private final Set<Long> refused = ConcurrentHashMap.newKeySet();
    private final Set<Long> renewed = ConcurrentHashMap.newKeySet();
    private final List<AutoCloseable> opened = new ArrayList<>();
    private final long ioThreads = threads(IO);
    private final long keeperThreads = threads(KEEPER);

    private static long threads(String name) {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals(name))
                .count();
    }

    @AfterEach
    void nothingIsLeft() throws Exception {
        plane.mayGoOn.countDown();
        plane.pullMayEnd.countDown();
        for (AutoCloseable each : opened.reversed()) {
            each.close();
        }
        await(() -> threads(IO) == ioThreads && threads(KEEPER) == keeperThreads);
    }

    private static void await(BooleanSupplier condition) throws InterruptedException {
        for (int i = 0; !condition.getAsBoolean(); i++) {
            assertTrue(i < 12_000, "this does not come about");
            Thread.sleep(10);
        }
    }

    private <T extends AutoCloseable> T open(T resource) {
        opened.add(resource);
        return resource;
    }

    private ControlServer server(String address) {
        return open(ControlServer.start(address, watched()));
    }

    private ControlServer server() {
        return server("127.0.0.1:0");
    }

    private ControlClient share(String address) {
        return open(ControlClient.share(address));
    }

    /** The plane, with the connections of its calls recorded and the renewals of {@link #refused} leases refused. */
    private ControlPlane watched() {
        return PlaneProxy.around(plane, (method, arguments, rest) -> {
            Caller caller = Caller.current();
            if (caller != null) {
                // A call without a caller is the server's own, which asks for the plane's further services.
                connections.add(caller.connection());
            }
            Object result = rest.call();
            if (method.equals("renewLease")) {
                if (refused.contains((Long) arguments[0])) {
                    throw new ControlException(Code.LEASE_EXPIRED, "gone");
                }
                renewed.add((Long) arguments[0]);
            }
            return result;
        });
    }

    private static CompletableFuture<Code> code(Runnable call) {
        CompletableFuture<Code> code = new CompletableFuture<>();
        Thread.ofPlatform().daemon().start(() -> {
            try {
                call.run();
                code.complete(null);
            } catch (ControlException e) {
                code.complete(e.code());
            } catch (Throwable e) {
                code.completeExceptionally(e);
            }
        });
        return code;
    }

    private static Code get(CompletableFuture<Code> code)
            throws InterruptedException, ExecutionException, TimeoutException {
        return code.get(60, TimeUnit.SECONDS);
    }

    @Test
    void howeverManyThereAreTheyHaveTwoThreadsAndAConnectionForEachServer() throws Exception {
        List<String> addresses = List.of(server().address(), server().address());
        List<Long> leases = new ArrayList<>();
        List<ControlException> losses = new CopyOnWriteArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            for (String address : addresses) {
                ControlClient client = share(address);
                Lease lease = new Lease(leases.size(), 2_000_000_000L);
                leases.add(lease.id());
                open(client.keep(lease, (lost, cause) -> losses.add(cause)));
            }
        }
        await(() -> renewed.containsAll(leases));
        assertEquals(ioThreads + 2, threads(IO));
        assertEquals(keeperThreads + 2, threads(KEEPER));
        assertEquals(2, connections.size(), connections::toString);

        refused.add(leases.getFirst());
        await(() -> losses.size() == 1);
        assertEquals(Code.LEASE_EXPIRED, losses.getFirst().code());
        renewed.clear();
        await(() -> renewed.containsAll(leases.subList(1, leases.size())));
        assertEquals(1, losses.size());
    }

    /** As after a stop of the process, all leases are due at once; the server's limits must not refuse any renewal. */
    @Test
    void asManyLeasesAsCachesAreDueAtOnceAndNoneIsRefused() throws Exception {
        ControlServer server = server();
        List<Object> failures = new CopyOnWriteArrayList<>();
        List<Long> leases = LongStream.range(0, 400).boxed().toList();
        ControlClient client = share(server.address());
        CountDownLatch ended = new CountDownLatch(leases.size());
        for (long lease : leases) {
            client.beginRenewal(lease, 60_000_000_000L, failed -> {
                if (failed != null && failed.code() != Code.DEADLINE_EXCEEDED) {
                    failures.add(failed);
                }
                ended.countDown();
            });
        }
        assertTrue(ended.await(60, TimeUnit.SECONDS));
        assertEquals(List.of(), failures);
        for (long lease : leases) {
            open(client.keep(new Lease(lease, 5_000_000_000L), (lost, cause) -> failures.add(cause)));
        }
        renewed.clear();
        await(() -> renewed.size() == leases.size());
        assertEquals(keeperThreads + 1, threads(KEEPER));
        assertEquals(List.of(), failures);
    }

    @Test
    void oneThatIsAbandonedOrClosedEndsItsCallsAlone() throws Exception {
        ControlServer server = server();
        plane.hanging = Set.of("connect");
        ControlClient one = share(server.address());
        ControlClient two = share(server.address());
        ControlClient three = share(server.address());
        CompletableFuture<Code> ofOne = code(() -> one.pull(1, 1, "h:1", new byte[16]));
        CompletableFuture<Code> ofTwo = code(() -> two.pull(2, 1, "h:1", new byte[16]));
        CompletableFuture<Code> ofThree = code(() -> three.pull(3, 1, "h:1", new byte[16]));
        await(() -> plane.count("pull") == 3);

        one.abandon();
        assertEquals(Code.CANCELLED, get(ofOne));
        assertEquals(Code.CANCELLED, get(code(() -> one.renewLease(1))));
        two.close();
        two.close();
        assertEquals(Code.CANCELLED, get(ofTwo));
        assertEquals(Code.CANCELLED, get(code(() -> two.renewLease(1))));

        assertFalse(ofThree.isDone());
        three.renewLease(3);
        plane.pullMayEnd.countDown();
        assertNull(get(ofThree));
        assertEquals(1, connections.size());
    }

    @Test
    void aServerThatServesAnewIsReachedByThoseThatAreThereAndByNewOnes() throws Exception {
        String address;
        try (ControlServer first = ControlServer.start("127.0.0.1:0", watched())) {
            address = first.address();
            share(address);
        }
        ControlClient old = (ControlClient) opened.getFirst();
        await(() -> get(() -> old.renewLease(1)) == Code.UNAVAILABLE);
        assertEquals(
                Code.UNAVAILABLE,
                assertThrows(ControlException.class, () -> ControlClient.share(address))
                        .code());
        ControlServer second = server(address);
        // A new client tries the server at once, whatever earlier attempts found.
        ControlClient young = share(second.address());
        young.renewLease(2);
        await(() -> get(() -> old.renewLease(1)) == null);
        assertEquals(ioThreads + 1, threads(IO));
        assertEquals(2, connections.size(), "one to the first server and one to the second");
    }

    private static Code get(Runnable call) {
        try {
            call.run();
            return null;
        } catch (ControlException e) {
            return e.code();
        }
    }

    /** As if a machine failed and came back under its address: TCP may not notice that for minutes. */
    @Test
    void aNewOneGetsThroughWhereTheConnectionIsDeadAndDoesNotSayIt() throws Exception {
        ControlServer server = server();
        try (Relay relay = new Relay(server.address())) {
            ControlClient old = share(relay.address());
            old.renewLease(1);
            relay.swallow();
            assertEquals(Code.DEADLINE_EXCEEDED, get(() -> old.renewLease(1)));

            ControlClient young = share(relay.address());
            ControlClient younger = share(relay.address());
            young.renewLease(2);
            younger.renewLease(3);
            assertEquals(ioThreads + 2, threads(IO));
            assertEquals(2, connections.size());
            young.close();
            younger.close();
            // The old connection stays open for its clients, and for new clients once it answers.
            await(() -> threads(IO) == ioThreads + 1);
            old.close();
        }
    }

    @Test
    void anUnansweredRenewalHoldsUpNoOthersAndDeadlinesAreEachOnesOwn() throws Exception {
        ControlServer server = server();
        ControlClient one = share(server.address());
        ControlClient two = share(server.address());
        List<ControlException> losses = new CopyOnWriteArrayList<>();
        plane.hanging = Set.of("renewLease");
        open(one.keep(new Lease(1, 600_000_000L), (lease, cause) -> losses.add(cause)));
        await(() -> losses.size() == 1);
        assertEquals(Code.DEADLINE_EXCEEDED, losses.getFirst().code());
        two.hello(ControlPlane.PROTOCOL_VERSION);
        two.closeLease(2);
        plane.hanging = Set.of();
        plane.mayGoOn.countDown();
        open(two.keep(new Lease(2, 3_000_000_000L), (lease, cause) -> losses.add(cause)));
        await(() -> renewed.contains(2L));
        assertEquals(1, losses.size());
    }

    /** A new client may take the connection while its last client closes it. */
    @Test
    void comingAndGoingAtOnceLeavesNothing() throws Exception {
        ControlServer server = server();
        List<Thread> users = new ArrayList<>();
        List<Throwable> failures = new CopyOnWriteArrayList<>();
        for (int user = 0; user < 6; user++) {
            Random random = new Random(user);
            users.add(Thread.ofPlatform().daemon().start(() -> {
                try {
                    for (int i = 0; i < 25; i++) {
                        try (ControlClient client = ControlClient.share(server.address());
                                LeaseKeeper _ =
                                        client.keep(new Lease(random.nextLong(), 60_000_000_000L), (lost, cause) -> {
                                            failures.add(cause);
                                        })) {
                            client.renewLease(random.nextLong());
                            Thread.sleep(random.nextInt(3));
                        }
                    }
                } catch (Throwable e) {
                    failures.add(e);
                }
            }));
        }
        for (Thread user : users) {
            user.join();
        }
        assertEquals(List.of(), failures);
        await(() -> threads(IO) == ioThreads && threads(KEEPER) == keeperThreads);
    }
}
