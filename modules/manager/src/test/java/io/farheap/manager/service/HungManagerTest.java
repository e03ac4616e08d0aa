package io.farheap.manager.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.grpc.GrpcStatusCodes;
import io.farheap.control.plane.ControlPlane;
import io.farheap.manager.CacheManager;
import io.farheap.manager.ServerReport;
import io.farheap.manager.client.ManagerConnection;
import io.farheap.manager.client.ServerRegistration;
import io.farheap.manager.grpc.ManagerClient;
import io.farheap.manager.wire.Alert;
import io.farheap.manager.wire.Attendance;
import io.farheap.manager.wire.DrainServer;
import io.farheap.manager.wire.HelloManager;
import io.farheap.manager.wire.ListModels;
import io.farheap.manager.wire.ManagerGrpc;
import io.farheap.manager.wire.ManagerIntroduction;
import io.farheap.manager.wire.ModelPage;
import io.farheap.manager.wire.Nothing;
import io.farheap.manager.wire.ReportReceipt;
import io.farheap.manager.wire.ReportedServer;
import io.grpc.Context;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Managers of which one accepts connections and calls, and answers none. */
@Timeout(60)
class HungManagerTest {

    /** A manager that takes reports and answers hello and questions for models, unless it hangs. */
    private static final class PlayedManager extends ManagerGrpc.ManagerImplBase implements AutoCloseable {

        private final AtomicInteger reports = new AtomicInteger();
        private final CountDownLatch greeted = new CountDownLatch(1);
        private final CountDownLatch reported = new CountDownLatch(1);
        private final CountDownLatch asked = new CountDownLatch(1);
        private final Server server;
        private final AtomicInteger greetings = new AtomicInteger();
        /** So many questions it cannot answer at first, as a manager that cannot write. */
        private final AtomicInteger unable = new AtomicInteger();
        /** So many greetings are refused at first, as by a manager that stands by. */
        private volatile int refused;

        private volatile boolean hangs;
        /** Whether it answers greetings alone. */
        private volatile boolean waits;

        private volatile @Nullable Context greeting;

        PlayedManager() throws IOException {
            server = NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                    .addService(this)
                    .build()
                    .start();
        }

        String address() {
            return "127.0.0.1:" + server.getPort();
        }

        private <T> void answer(StreamObserver<T> reply, T message) {
            if (!hangs) {
                reply.onNext(message);
                reply.onCompleted();
            }
        }

        @Override
        public void hello(HelloManager request, StreamObserver<ManagerIntroduction> reply) {
            greeting = Context.current();
            greeted.countDown();
            if (greetings.incrementAndGet() <= refused) {
                reply.onError(Status.UNAVAILABLE.asRuntimeException());
                return;
            }
            answer(
                    reply,
                    ManagerIntroduction.newBuilder()
                            .setProtocolVersion(CacheManager.PROTOCOL_VERSION)
                            .build());
        }

        @Override
        public void models(ListModels request, StreamObserver<ModelPage> reply) {
            asked.countDown();
            if (unable.getAndDecrement() > 0) {
                reply.onError(Status.UNAVAILABLE.asRuntimeException());
            } else if (!waits) {
                answer(reply, ModelPage.getDefaultInstance());
            }
        }

        @Override
        public void drain(DrainServer request, StreamObserver<Nothing> reply) {
            if (unable.getAndDecrement() > 0) {
                reply.onError(GrpcStatusCodes.refusal(
                        Code.UNAVAILABLE, ControlPlane.CANNOT_NOW + ": a write of its state is late"));
            } else {
                answer(reply, Nothing.getDefaultInstance());
            }
        }

        @Override
        public StreamObserver<Attendance> attend(StreamObserver<Alert> alerts) {
            return ignored(() -> {});
        }

        @Override
        public StreamObserver<ReportedServer> report(StreamObserver<ReportReceipt> receipts) {
            return ignored(() -> {
                reports.incrementAndGet();
                reported.countDown();
            });
        }

        private static <T> StreamObserver<T> ignored(Runnable each) {
            return new StreamObserver<>() {
                @Override
                public void onNext(T message) {
                    each.run();
                }

                @Override
                public void onError(Throwable e) {}

                @Override
                public void onCompleted() {}
            };
        }

        @Override
        public void close() {
            server.shutdownNow();
        }
    }

    private final PlayedManager first = new PlayedManager();
    private final PlayedManager second = new PlayedManager();
    private final List<String> both = List.of(first.address(), second.address());

    HungManagerTest() throws IOException {}

    @AfterEach
    void close() {
        first.close();
        second.close();
    }

    private static void await(CountDownLatch latch) {
        try {
            assertTrue(latch.await(30, TimeUnit.SECONDS));
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** The second is asked while the call of the first is still open, and not after its time limit. */
    @Test
    void theNextManagerIsAskedWhileOneHangs() {
        first.hangs = true;
        boolean[] ended = new boolean[1];
        Thread look = Thread.ofVirtual().unstarted(() -> {
            await(second.greeted);
            ended[0] = Objects.requireNonNull(first.greeting).isCancelled();
        });
        look.start();
        try (ManagerClient found = ManagerClient.connectFirst(both)) {
            found.confirm();
            assertTrue(join(look));
            assertFalse(ended[0]);
        }
    }

    /** The leader hangs, and the other one stands by until it is elected. */
    @Test
    void whoStandsByIsAskedAgainWhileTheLeaderHangs() {
        first.hangs = true;
        second.refused = 2;
        try (ManagerClient found = ManagerClient.connectFirst(both)) {
            found.confirm();
            assertEquals(4, second.greetings.get());
            assertEquals(1, first.greetings.get());
        }
    }

    /** All wait for one search, and none of them delays the end. */
    @Test
    void allCallersLookForAManagerTogether() {
        first.hangs = true;
        ManagerConnection connection = ManagerConnection.open(List.of(first.address()));
        List<Code> failures = Collections.synchronizedList(new ArrayList<>());
        List<Thread> callers = Stream.generate(() -> Thread.ofVirtual().start(() -> {
                    ControlException failure =
                            assertThrows(ControlException.class, () -> connection.call(manager -> manager.models("")));
                    failures.add(failure.code());
                }))
                .limit(4)
                .toList();
        await(first.greeted);
        connection.close();
        callers.forEach(HungManagerTest::join);
        assertEquals(Collections.nCopies(4, Code.CANCELLED), failures);
        assertEquals(1, first.greetings.get());
    }

    /** It reads its state again. */
    @Test
    void aManagerThatCannotAnswerNowIsAskedAgain() {
        first.unable.set(3);
        try (ManagerConnection connection = ManagerConnection.open(both)) {
            assertEquals(List.of(), connection.call(manager -> manager.models("")));
            assertEquals(0, second.greetings.get());
        }
    }

    /** A command has one connection of its own. */
    @Test
    void aCommandAsksAManagerAgainThatCannotWriteNow() {
        first.unable.set(2);
        try (ManagerClient client = ManagerClient.connect(first.address())) {
            client.drain("host1:1");
            assertEquals(-1, first.unable.get());
        }
    }

    /** It waits for its disk: others' calls over the same connection do, too, and are not ended. */
    @Test
    void aManagerThatAnswersIsNotLeftForOneCall() {
        first.waits = true;
        try (ManagerConnection connection = ManagerConnection.open(both)) {
            ControlException failure =
                    assertThrows(ControlException.class, () -> connection.call(manager -> manager.models("")));
            assertEquals(Code.DEADLINE_EXCEEDED, failure.code());
            first.waits = false;
            assertEquals(List.of(), connection.call(manager -> manager.models("")));
            assertEquals(0, second.greetings.get());
        }
    }

    private static boolean join(Thread thread) {
        try {
            return thread.join(Duration.ofSeconds(30));
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Its call has 5 s, and a manager that does not answer is noticed before. A server leaves it after 3 s. */
    @Test
    void aCallAndAServerThatMeetAHungManagerGoToTheNext() {
        first.hangs = false;
        try (ManagerConnection connection = ManagerConnection.open(both);
                ServerRegistration server =
                        new ServerRegistration(both, HungManagerTest::report, _ -> {}, _ -> {}, () -> {})) {
            assertEquals(List.of(), connection.call(manager -> manager.models("")));
            await(first.reported);
            first.hangs = true;
            // The next one begins to lead, and cannot write at first.
            second.unable.set(2);
            assertEquals(List.of(), connection.call(manager -> manager.models("a")));
            assertEquals(0, second.asked.getCount());
            server.reportSoon();
            await(second.reported);
            assertTrue(first.reports.get() <= 5, first.reports + " reports that were not answered");
        }
    }

    private static ServerReport report() {
        return TestCluster.server(1, "t", false, 4, Map.of());
    }
}
