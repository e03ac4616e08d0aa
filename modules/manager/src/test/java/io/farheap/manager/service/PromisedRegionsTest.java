package io.farheap.manager.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import com.google.protobuf.ByteString;
import io.farheap.control.SignedGrant;
import io.farheap.manager.CacheManager;
import io.farheap.manager.ReportReply;
import io.farheap.manager.client.ServerRegistration;
import io.farheap.manager.wire.HelloManager;
import io.farheap.manager.wire.ManagerGrpc;
import io.farheap.manager.wire.ManagerIntroduction;
import io.farheap.manager.wire.ReportReceipt;
import io.farheap.manager.wire.ReportedServer;
import io.grpc.Server;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.security.KeyPairGenerator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.IntSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What a server learns of the regions that are promised there, from a manager that answers when the test says so. Which
 * report wants regions, and when an answer comes, follows from what was received before, and not from the time.
 */
@Timeout(60)
class PromisedRegionsTest {

    private final BlockingQueue<Integer> promised = new LinkedBlockingQueue<>();
    /** Whether the server has received an answer. */
    private volatile boolean heard;
    /** Receives where the answers to a stream of reports go, and returns the receiver of these reports. */
    private volatile Function<StreamObserver<ReportReceipt>, Consumer<ReportedServer>> answers = _ -> _ -> {};

    private Server manager;
    private ByteString key;

    @BeforeEach
    void start() throws Exception {
        key = ByteString.copyFrom(KeyPairGenerator.getInstance(SignedGrant.ALGORITHM)
                .generateKeyPair()
                .getPublic()
                .getEncoded());
        manager = NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .addService(new ManagerGrpc.ManagerImplBase() {
                    @Override
                    public void hello(HelloManager request, StreamObserver<ManagerIntroduction> reply) {
                        reply.onNext(ManagerIntroduction.newBuilder()
                                .setProtocolVersion(CacheManager.PROTOCOL_VERSION)
                                .build());
                        reply.onCompleted();
                    }

                    @Override
                    public StreamObserver<ReportedServer> report(StreamObserver<ReportReceipt> receipts) {
                        Consumer<ReportedServer> reports = answers.apply(receipts);
                        return new StreamObserver<>() {
                            @Override
                            public void onNext(ReportedServer report) {
                                reports.accept(report);
                            }

                            @Override
                            public void onError(Throwable e) {}

                            @Override
                            public void onCompleted() {}
                        };
                    }
                })
                .build()
                .start();
    }

    @AfterEach
    void close() {
        manager.shutdownNow();
    }

    /** @param wanted returns how many regions the next report wants */
    private ServerRegistration register(IntSupplier wanted) {
        return new ServerRegistration(
                List.of("127.0.0.1:" + manager.getPort()),
                () -> TestCluster.server(1, "t", false, 4, Map.of()).wanting(wanted.getAsInt(), 0),
                _ -> {},
                _ -> {},
                this::hears,
                () -> {});
    }

    private void hears(int regions) {
        promised.add(regions);
        heard = true;
    }

    private int next() throws InterruptedException {
        Integer next = promised.poll(30, TimeUnit.SECONDS);
        assertNotNull(next);
        return next;
    }

    private ReportReceipt receipt(long epoch, int regions) {
        return ReportReceipt.newBuilder()
                .setEpoch(epoch)
                .setKey(key)
                .setMillis(1)
                .setPromisedRegions(regions)
                .build();
    }

    /** The manager may have promised regions since it knows that none are wanted. */
    @Test
    void anAnswerToAReportBeforeOneThatWantsNothingDoesNotCount() throws Exception {
        AtomicInteger wanting = new AtomicInteger();
        AtomicInteger unanswered = new AtomicInteger();
        answers = receipts -> report -> {
            if (report.getWantedRegions() == 0) {
                // The reports before this one have their answers only now.
                for (int late = unanswered.getAndSet(0); late > 0; late--) {
                    receipts.onNext(receipt(1, 3));
                }
            } else if (wanting.getAndIncrement() == 0) {
                receipts.onNext(receipt(1, 3));
            } else {
                unanswered.incrementAndGet();
            }
        };
        try (ServerRegistration _ = register(() -> heard && unanswered.get() > 0 ? 0 : 2)) {
            assertEquals(3, next());
            assertEquals(ReportReply.UNKNOWN, next(), "to the report before");
        }
    }

    @Test
    void aManagerThatWasFollowedDoesNotCount() throws Exception {
        AtomicInteger reports = new AtomicInteger();
        answers = receipts -> _ -> receipts.onNext(reports.getAndIncrement() == 0 ? receipt(2, 1) : receipt(1, 0));
        try (ServerRegistration _ = register(() -> 2)) {
            assertEquals(1, next());
            assertEquals(ReportReply.UNKNOWN, next());
        }
    }
}
