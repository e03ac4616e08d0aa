package io.farheap.control.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.plane.ControlPlane;
import io.farheap.control.plane.RingRequest;
import io.farheap.verbs.Endpoint;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Calls that hang or fail do not hold up other calls, and the number of calls is limited. */
class CallThreadsTest {

    private static final Endpoint END = InMemoryPlane.SERVER_END;
    private static final int AT_ONCE = 40;

    private final InMemoryPlane plane = new InMemoryPlane();
    private final ControlServer server = ControlServer.start("127.0.0.1:0", plane);
    private final List<ControlClient> clients = new ArrayList<>();
    private final BlockingQueue<ControlException> failures = new LinkedBlockingQueue<>();

    @AfterEach
    void close() {
        plane.mayGoOn.countDown();
        clients.forEach(ControlClient::close);
        server.close();
    }

    private ControlClient client() {
        ControlClient client = ControlClient.connect(server.address());
        clients.add(client);
        return client;
    }

    private void start(Runnable call) {
        Thread.ofVirtual().start(() -> {
            try {
                call.run();
            } catch (ControlException e) {
                failures.add(e);
            }
        });
    }

    private static void await(BooleanSupplier condition) throws InterruptedException {
        for (int i = 0; !condition.getAsBoolean(); i++) {
            assertTrue(i < 6000, "this does not come about");
            Thread.sleep(10);
        }
    }

    /** Makes calls until the server refuses one. A call that the client has given up still runs at the server. */
    private void exhaust(Runnable call) throws InterruptedException {
        failures.clear();
        long deadline = System.nanoTime() + 60_000_000_000L;
        while (System.nanoTime() - deadline < 0) {
            for (int i = 0; i < AT_ONCE; i++) {
                start(call);
            }
            ControlException failure = failures.poll(200, TimeUnit.MILLISECONDS);
            while (failure != null && failure.code() == Code.DEADLINE_EXCEEDED) {
                failure = failures.poll();
            }
            if (failure != null) {
                assertEquals(Code.BUSY, failure.code(), failure::getMessage);
                assertTrue(failure.getMessage().contains("call again later"), failure.getMessage());
                return;
            }
        }
        fail("however many calls there are, none is refused");
    }

    /** Repeats a call: on a busy machine it may exceed its deadline though it needs no thread that hangs. */
    private static void persist(Runnable call) {
        long deadline = System.nanoTime() + 30_000_000_000L;
        while (true) {
            try {
                call.run();
                return;
            } catch (ControlException e) {
                if (e.code() != Code.DEADLINE_EXCEEDED || System.nanoTime() - deadline > 0) {
                    throw e;
                }
            }
        }
    }

    @Test
    void aClientWithManyPullsUnderWayStillRenewsItsLease() throws Exception {
        plane.hanging = Set.of("pull");
        ControlClient client = client();
        for (int i = 0; i < 64; i++) {
            start(() -> client.pull(1, 1, "h:1", new byte[16]));
        }
        await(() -> plane.count("pull") >= 8);

        persist(() -> client.renewLease(1));
        persist(() -> client.disconnect(1, 2));
        persist(() -> client.closeLease(1));
    }

    @Test
    void everyCallThreadHangsAndLeasesAreRenewedAndThingsGivenBack() throws Exception {
        plane.hanging =
                Set.of("openLease", "connect", "connectRing", "allocate", "export", "openPull", "preparePull", "pull");
        ControlClient busy = client();
        ControlClient other = client();
        exhaust(() -> busy.pull(1, 1, "h:1", new byte[16]));
        exhaust(() -> busy.allocate(1, 1));
        for (ControlClient client : List.of(busy, other)) {
            persist(() -> client.renewLease(1));
            persist(() -> client.disconnect(1, 2));
            persist(() -> client.release(1, 3));
            persist(() -> client.closePull(4));
            persist(() -> client.closeLease(1));
        }
    }

    @Test
    void whatIsGivenBackHangsAndLeasesAreRenewedAndRegionsGranted() throws Exception {
        plane.hanging = Set.of("release", "closeLease", "disconnect", "closePull", "abandon");
        ControlClient busy = client();
        ControlClient other = client();
        exhaust(() -> busy.release(1, 1));
        for (ControlClient client : List.of(busy, other)) {
            persist(() -> client.renewLease(1));
            persist(() -> client.allocate(1, 1));
            persist(() -> client.hello(ControlPlane.PROTOCOL_VERSION));
        }
    }

    @Test
    void oneClientsHangingCallsLeaveThreadsForAnotherOfTheSameHost() throws Exception {
        plane.hanging = Set.of("connect", "disconnect", "pull");
        ControlClient busy = client();
        ControlClient other = client();
        exhaust(() -> busy.connect(1, END));
        exhaust(() -> busy.disconnect(1, 2));
        exhaust(() -> busy.pull(1, 1, "h:1", new byte[16]));
        plane.hanging = Set.of();
        plane.pullMayEnd.countDown();
        persist(() -> other.connect(1, END));
        persist(() -> other.disconnect(1, 2));
        persist(() -> other.pull(1, 1, "h:1", new byte[16]));
    }

    /** Leases of one process share a connection. */
    @Test
    void oneLeasesHangingCallsLeaveThreadsForAnotherOfTheSameConnection() throws Exception {
        plane.hanging = Set.of("connect", "disconnect", "pull");
        ControlClient client = client();
        exhaust(() -> client.connect(1, END));
        exhaust(() -> client.disconnect(1, 2));
        exhaust(() -> client.pull(1, 1, "h:1", new byte[16]));
        plane.hanging = Set.of();
        plane.pullMayEnd.countDown();
        persist(() -> client.connect(2, END));
        persist(() -> client.disconnect(2, 2));
        persist(() -> client.pull(2, 1, "h:1", new byte[16]));
    }

    @Test
    void waitingCallsAreServedOnceThreadsAreFree() throws Exception {
        plane.hanging = Set.of("connect");
        ControlClient client = client();
        List<CompletableFuture<Void>> calls = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            CompletableFuture<Void> done = new CompletableFuture<>();
            calls.add(done);
            start(() -> {
                client.connect(1, END);
                done.complete(null);
            });
        }
        await(() -> plane.count("connect") >= 8);
        plane.mayGoOn.countDown();
        for (CompletableFuture<Void> call : calls) {
            call.get(60, TimeUnit.SECONDS);
        }
        assertEquals(40, plane.count("connect"));
    }

    @Test
    void anErrorEndsItsCallAloneAndIsLogged() throws Exception {
        BlockingQueue<LogRecord> logged = new LinkedBlockingQueue<>();
        Logger log = Logger.getLogger(CancellableCall.class.getName());
        Handler handler = new Handler() {
            @Override
            public void publish(LogRecord record) {
                logged.add(record);
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        log.addHandler(handler);
        log.setUseParentHandlers(false);
        try {
            ControlClient client = client();
            for (Error error : List.of(
                    new OutOfMemoryError("injected"),
                    new StackOverflowError("injected"),
                    new LinkageError("injected"))) {
                plane.failWith = error;
                for (Runnable call : List.<Runnable>of(
                        () -> client.renewLease(1),
                        () -> client.allocate(1, 1),
                        () -> client.disconnect(1, 2),
                        () -> client.pull(1, 1, "h:1", new byte[16]))) {
                    assertEquals(
                            Code.INTERNAL,
                            assertThrows(ControlException.class, call::run).code());
                    assertEquals(error, logged.poll(30, TimeUnit.SECONDS).getThrown());
                }
                plane.failWith = null;
                client.renewLease(1);
            }
        } finally {
            log.removeHandler(handler);
            log.setUseParentHandlers(true);
        }
    }

    @Test
    void aGrantThatNobodyWaitsForAnyMoreIsGivenBack() throws Exception {
        plane.hanging = Set.of("connect", "allocate", "connectRing", "openLease", "openPull");
        ControlClient client = client();
        start(() -> client.connect(1, END));
        start(() -> client.allocate(1, 2, 77));
        start(() -> client.connectRing(1, new RingRequest(END, 16, 64, 1, 4096, 1)));
        start(() -> client.openLease("c"));
        start(() -> client.openPull(new byte[16], END));
        await(() -> plane.hanging.stream().allMatch(name -> plane.count(name) == 1));

        client.close();
        // The server has one I/O thread: once it serves a later connection, it has seen the end of this one.
        client().hello(ControlPlane.PROTOCOL_VERSION);
        plane.mayGoOn.countDown();

        await(() -> plane.calls.contains(List.of("disconnect", 1L, -2L))
                && plane.calls.contains(List.of("disconnect", 1L, -4L))
                && plane.calls.contains(List.of("abandon", 1L, 77L))
                && plane.calls.contains(List.of("closePull", -3L))
                && plane.calls.contains(List.of("closeLease", Long.MIN_VALUE + 1)));
    }

    @Test
    void namesThatALogWouldObeyAreRefused() {
        ControlClient client = client();
        for (String name : List.of(
                "a\nb", "a\rb", "a\u001b[31mb", "\u0000", "a\u007fb", "a\u0085b", "a\u2028b", "a\u202eb", "a\u200fb")) {
            ControlException e = assertThrows(ControlException.class, () -> client.openLease(name));
            assertEquals(Code.INVALID_ARGUMENT, e.code());
            assertTrue(e.getMessage().contains("client name") && e.getMessage().contains("U+"), e.getMessage());
        }
        ControlException e = assertThrows(ControlException.class, () -> client.openLease("x".repeat(257)));
        assertTrue(e.getMessage().contains("257"), e.getMessage());
        assertEquals(0, plane.count("openLease"));
        client.openLease("x".repeat(256));
        client.openLease("Grüße, 東京 \ud83d\ude00");
        client.openLease("");
    }
}
