package io.farheap.control.grpc;

import io.farheap.control.wire.AllocateReply;
import io.farheap.control.wire.AllocateRequest;
import io.farheap.control.wire.ConnectReply;
import io.farheap.control.wire.ConnectRequest;
import io.farheap.control.wire.ConnectRingReply;
import io.farheap.control.wire.ConnectRingRequest;
import io.farheap.control.wire.ControlGrpc;
import io.farheap.control.wire.DescribeReply;
import io.farheap.control.wire.Empty;
import io.farheap.control.wire.ExportReply;
import io.farheap.control.wire.ExportRequest;
import io.farheap.control.wire.HelloReply;
import io.farheap.control.wire.HelloRequest;
import io.farheap.control.wire.OpenLeaseReply;
import io.farheap.control.wire.OpenLeaseRequest;
import io.farheap.control.wire.OpenPullReply;
import io.farheap.control.wire.OpenPullRequest;
import io.farheap.control.wire.PreparePullReply;
import io.farheap.control.wire.PreparePullRequest;
import io.farheap.control.wire.PrepareRebuildRequest;
import io.farheap.control.wire.PullReply;
import io.farheap.control.wire.PullRequest;
import io.farheap.control.wire.RenewLeaseRequest;
import io.farheap.control.wire.ReportUseReply;
import io.farheap.control.wire.ReportUseRequest;
import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;

/** A control server without a plane behind it: it answers each call with the message that is set here. */
final class HostileControl extends ControlGrpc.ControlImplBase implements AutoCloseable {

    volatile HelloReply hello;
    volatile ReportUseReply wanted;
    volatile DescribeReply described;
    volatile OpenLeaseReply lease;
    volatile ConnectReply connect;
    volatile ConnectRingReply ring;
    volatile AllocateReply granted;
    volatile ExportReply exported;
    volatile OpenPullReply opened;
    volatile PreparePullReply prepared;
    volatile PullReply pulled;
    /** The deadline of the last allocation, as it arrived. */
    volatile Deadline deadline;
    /** The status with which renewals are refused. */
    volatile Status refusal;

    private final Server server;

    HostileControl() {
        try {
            server = NettyServerBuilder.forAddress(new InetSocketAddress("127.0.0.1", 0))
                    .directExecutor()
                    .addService(this)
                    .build()
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    String address() {
        return "127.0.0.1:" + server.getPort();
    }

    private static <T> void answer(StreamObserver<T> reply, T message) {
        reply.onNext(message);
        reply.onCompleted();
    }

    @Override
    public void hello(HelloRequest request, StreamObserver<HelloReply> reply) {
        answer(reply, hello);
    }

    @Override
    public void openLease(OpenLeaseRequest request, StreamObserver<OpenLeaseReply> reply) {
        answer(reply, lease);
    }

    @Override
    public void renewLease(RenewLeaseRequest request, StreamObserver<Empty> reply) {
        reply.onError(refusal.asRuntimeException());
    }

    @Override
    public void connect(ConnectRequest request, StreamObserver<ConnectReply> reply) {
        answer(reply, connect);
    }

    @Override
    public void connectRing(ConnectRingRequest request, StreamObserver<ConnectRingReply> reply) {
        answer(reply, ring);
    }

    @Override
    public void allocate(AllocateRequest request, StreamObserver<AllocateReply> reply) {
        deadline = Context.current().getDeadline();
        answer(reply, granted);
    }

    @Override
    public void export(ExportRequest request, StreamObserver<ExportReply> reply) {
        answer(reply, exported);
    }

    @Override
    public void openPull(OpenPullRequest request, StreamObserver<OpenPullReply> reply) {
        answer(reply, opened);
    }

    @Override
    public void reportUse(ReportUseRequest request, StreamObserver<ReportUseReply> reply) {
        answer(reply, wanted);
    }

    @Override
    public void describe(Empty request, StreamObserver<DescribeReply> reply) {
        answer(reply, described);
    }

    @Override
    public void preparePull(PreparePullRequest request, StreamObserver<PreparePullReply> reply) {
        answer(reply, prepared);
    }

    @Override
    public void prepareRebuild(PrepareRebuildRequest request, StreamObserver<PreparePullReply> reply) {
        answer(reply, prepared);
    }

    @Override
    public void pull(PullRequest request, StreamObserver<PullReply> reply) {
        answer(reply, pulled);
    }

    @Override
    public void close() {
        server.shutdownNow();
    }
}
