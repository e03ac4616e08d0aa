package io.farheap.manager.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import com.google.protobuf.ByteString;
import io.farheap.control.SignedGrant;
import io.farheap.manager.CacheManager;
import io.farheap.manager.ReportReply;
import io.farheap.manager.ServerReport;
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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a server learns of the regions that are promised there, from a manager that answers when the test says so. */
@Timeout(60)
class PromisedRegionsTest {

    private final BlockingQueue<ReportedServer> reports = new LinkedBlockingQueue<>();
    private final BlockingQueue<Integer> promised = new LinkedBlockingQueue<>();
    private volatile StreamObserver<ReportReceipt> receipts;
    private volatile int wanted = 2;
    private Server manager;
    private ByteString key;
    private ServerRegistration server;

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
                    public StreamObserver<ReportedServer> report(StreamObserver<ReportReceipt> answers) {
                        receipts = answers;
                        return new StreamObserver<>() {
                            @Override
                            public void onNext(ReportedServer report) {
                                reports.add(report);
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
        server = new ServerRegistration(
                List.of("127.0.0.1:" + manager.getPort()), this::report, _ -> {}, _ -> {}, promised::add, () -> {});
    }

    @AfterEach
    void close() {
        server.close();
        manager.shutdownNow();
    }

    private ServerReport report() {
        return TestCluster.server(1, "t", false, 4, Map.of()).wanting(wanted, 0);
    }

    private static <T> T next(BlockingQueue<T> queue) throws InterruptedException {
        T next = queue.poll(30, TimeUnit.SECONDS);
        assertNotNull(next);
        return next;
    }

    private void answer(long epoch, int regions) {
        receipts.onNext(ReportReceipt.newBuilder()
                .setEpoch(epoch)
                .setKey(key)
                .setMillis(1)
                .setPromisedRegions(regions)
                .build());
    }

    /** The manager may have promised regions since it knows that none are wanted. */
    @Test
    void anAnswerToAReportBeforeOneThatWantsNothingDoesNotCount() throws Exception {
        assertEquals(2, next(reports).getWantedRegions());
        answer(1, 3);
        assertEquals(3, next(promised));
        next(reports);
        wanted = 0;
        ReportedServer calm = next(reports);
        while (calm.getWantedRegions() != 0) {
            answer(1, 3);
            assertEquals(3, next(promised));
            calm = next(reports);
        }
        answer(1, 3);
        assertEquals(ReportReply.UNKNOWN, next(promised), "to the report before");
    }

    @Test
    void aManagerThatWasFollowedDoesNotCount() throws Exception {
        next(reports);
        answer(2, 1);
        assertEquals(1, next(promised));
        next(reports);
        answer(1, 0);
        assertEquals(ReportReply.UNKNOWN, next(promised));
    }
}
