package io.farheap.control.grpc;

import com.google.protobuf.ByteString;
import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.SignedGrant;
import io.farheap.control.plane.ControlPlane;
import io.farheap.control.plane.RegionUse;
import io.farheap.control.plane.RingRequest;
import io.farheap.control.plane.WatermarkEndpoint;
import io.farheap.control.text.PrintableText;
import io.farheap.control.threads.CallKind;
import io.farheap.control.threads.CallThreads;
import io.farheap.control.wire.AbandonRequest;
import io.farheap.control.wire.AllocateReply;
import io.farheap.control.wire.AllocateRequest;
import io.farheap.control.wire.CloseLeaseRequest;
import io.farheap.control.wire.ClosePullRequest;
import io.farheap.control.wire.ConnectReply;
import io.farheap.control.wire.ConnectRequest;
import io.farheap.control.wire.ConnectRingReply;
import io.farheap.control.wire.ConnectRingRequest;
import io.farheap.control.wire.ControlGrpc;
import io.farheap.control.wire.DescribeReply;
import io.farheap.control.wire.DisconnectRequest;
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
import io.farheap.control.wire.ReleaseRequest;
import io.farheap.control.wire.RenewLeaseRequest;
import io.farheap.control.wire.ReportUseReply;
import io.farheap.control.wire.ReportUseRequest;
import io.farheap.control.wire.ShowGrantRequest;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Receives messages on the I/O thread, calls the {@link ControlPlane} on call threads, and sends its results as
 * messages.
 */
final class ControlService extends ControlGrpc.ControlImplBase {

    private static final Empty DONE = Empty.getDefaultInstance();

    private final ControlPlane plane;
    private final CallThreads threads;

    ControlService(ControlPlane plane, CallThreads threads) {
        this.plane = plane;
        this.threads = threads;
    }

    @Override
    public void hello(HelloRequest request, StreamObserver<HelloReply> reply) {
        answer(
                CallKind.RENEW,
                null,
                reply,
                () -> plane.hello(request.getProtocolVersion()),
                ServerStatusMessages::hello,
                null);
    }

    @Override
    public void openLease(OpenLeaseRequest request, StreamObserver<OpenLeaseReply> reply) {
        answer(
                CallKind.GRANT,
                null,
                reply,
                () -> plane.openLease(clientName(request), request.getCacheId(), grant(request.getGrant())),
                lease -> OpenLeaseReply.newBuilder()
                        .setLeaseId(lease.id())
                        .setDurationNanos(lease.durationNanos())
                        .build(),
                lease -> plane.closeLease(lease.id()));
    }

    @Override
    public void showGrant(ShowGrantRequest request, StreamObserver<Empty> reply) {
        answer(
                CallKind.GRANT,
                request.getLeaseId(),
                reply,
                () -> plane.showGrant(request.getLeaseId(), grant(request.getGrant())));
    }

    @Override
    public void renewLease(RenewLeaseRequest request, StreamObserver<Empty> reply) {
        answer(CallKind.RENEW, request.getLeaseId(), reply, () -> plane.renewLease(request.getLeaseId()));
    }

    @Override
    public void closeLease(CloseLeaseRequest request, StreamObserver<Empty> reply) {
        answer(CallKind.GIVE_BACK, request.getLeaseId(), reply, () -> plane.closeLease(request.getLeaseId()));
    }

    @Override
    public void connect(ConnectRequest request, StreamObserver<ConnectReply> reply) {
        answer(
                CallKind.GRANT,
                request.getLeaseId(),
                reply,
                () -> plane.connect(request.getLeaseId(), ControlMessages.endpoint(request.getClient())),
                connected -> ConnectReply.newBuilder()
                        .setConnectionId(connected.connectionId())
                        .setServer(ControlMessages.message(connected.server()))
                        .build(),
                connected -> plane.disconnect(request.getLeaseId(), connected.connectionId()));
    }

    @Override
    public void connectRing(ConnectRingRequest request, StreamObserver<ConnectRingReply> reply) {
        answer(
                CallKind.GRANT,
                request.getLeaseId(),
                reply,
                () -> plane.connectRing(
                        request.getLeaseId(),
                        new RingRequest(
                                ControlMessages.endpoint(request.getClient()),
                                request.getQueueDepth(),
                                request.getBatch(),
                                request.getRecordBytes(),
                                request.getCalls(),
                                request.getThreads(),
                                request.getResponseAddress(),
                                request.getResponseRkey())),
                connected -> ConnectRingReply.newBuilder()
                        .setConnectionId(connected.connectionId())
                        .setServer(ControlMessages.message(connected.server()))
                        .setRingAddress(connected.ringAddress())
                        .setRingRkey(connected.ringKey())
                        .build(),
                connected -> plane.disconnect(request.getLeaseId(), connected.connectionId()));
    }

    @Override
    public void disconnect(DisconnectRequest request, StreamObserver<Empty> reply) {
        answer(
                CallKind.GIVE_BACK,
                request.getLeaseId(),
                reply,
                () -> plane.disconnect(request.getLeaseId(), request.getConnectionId()));
    }

    @Override
    public void allocate(AllocateRequest request, StreamObserver<AllocateReply> reply) {
        long lease = request.getLeaseId();
        long allocation = request.getAllocationId();
        answer(
                CallKind.GRANT,
                lease,
                reply,
                () -> plane.allocate(lease, request.getRegions(), allocation),
                granted -> AllocateReply.newBuilder()
                        .addAllRegions(
                                granted.stream().map(ControlMessages::message).toList())
                        .build(),
                granted -> {
                    if (allocation != ControlPlane.ANY_ALLOCATION) {
                        plane.abandon(lease, allocation);
                    } else {
                        granted.forEach(grant -> plane.release(lease, grant.regionId()));
                    }
                });
    }

    @Override
    public void release(ReleaseRequest request, StreamObserver<Empty> reply) {
        answer(
                CallKind.GIVE_BACK,
                request.getLeaseId(),
                reply,
                () -> plane.release(request.getLeaseId(), request.getRegionId(), request.getAllocationId()));
    }

    @Override
    public void abandon(AbandonRequest request, StreamObserver<Empty> reply) {
        answer(
                CallKind.GIVE_BACK,
                request.getLeaseId(),
                reply,
                () -> plane.abandon(request.getLeaseId(), request.getAllocationId()));
    }

    @Override
    public void export(ExportRequest request, StreamObserver<ExportReply> reply) {
        answer(
                CallKind.GRANT,
                request.getLeaseId(),
                reply,
                () -> plane.export(request.getLeaseId(), request.getRegionId()),
                ticket -> ExportReply.newBuilder()
                        .setToken(ByteString.copyFrom(ticket.token()))
                        .setValidNanos(ticket.validNanos())
                        .build(),
                null);
    }

    @Override
    public void openPull(OpenPullRequest request, StreamObserver<OpenPullReply> reply) {
        answer(
                CallKind.GRANT,
                null,
                reply,
                () -> plane.openPull(request.getToken().toByteArray(), ControlMessages.endpoint(request.getPuller())),
                source -> OpenPullReply.newBuilder()
                        .setPullId(source.pullId())
                        .setSource(ControlMessages.message(source.source()))
                        .setRemoteAddress(source.remoteAddress())
                        .setRkey(source.rkey())
                        .setLength(source.length())
                        .build(),
                source -> plane.closePull(source.pullId()));
    }

    @Override
    public void closePull(ClosePullRequest request, StreamObserver<Empty> reply) {
        answer(CallKind.GIVE_BACK, null, reply, () -> plane.closePull(request.getPullId()));
    }

    @Override
    public void preparePull(PreparePullRequest request, StreamObserver<PreparePullReply> reply) {
        PullRequest pull = request.getPull();
        answer(
                CallKind.PULL,
                pull.getLeaseId(),
                reply,
                () -> plane.preparePull(
                        pull.getLeaseId(),
                        pull.getRegionId(),
                        pull.getSourceAddress(),
                        pull.getToken().toByteArray(),
                        ControlMessages.pace(request.getPace())),
                ControlService::prepared,
                null);
    }

    @Override
    public void prepareRebuild(PrepareRebuildRequest request, StreamObserver<PreparePullReply> reply) {
        answer(
                CallKind.PULL,
                request.getLeaseId(),
                reply,
                () -> plane.prepareRebuild(
                        request.getLeaseId(),
                        request.getRegionId(),
                        RebuildMessages.plan(request),
                        ControlMessages.pace(request.getPace())),
                ControlService::prepared,
                null);
    }

    private static PreparePullReply prepared(WatermarkEndpoint server) {
        return PreparePullReply.newBuilder()
                .setServer(ControlMessages.message(server))
                .build();
    }

    @Override
    public void pull(PullRequest request, StreamObserver<PullReply> reply) {
        answer(
                CallKind.PULL,
                request.getLeaseId(),
                reply,
                () -> plane.pull(
                        request.getLeaseId(),
                        request.getRegionId(),
                        request.getSourceAddress(),
                        request.getToken().toByteArray()),
                result -> PullReply.newBuilder()
                        .setBytes(result.bytes())
                        .setNanos(result.nanos())
                        .build(),
                null);
    }

    /** The name is written to logs: so it must not contain characters that act on a log or a terminal. */
    private static SignedGrant grant(ByteString bytes) {
        try {
            return SignedGrant.of(bytes.toByteArray());
        } catch (IllegalArgumentException e) {
            throw new ControlException(Code.GRANT_REFUSED, e.getMessage(), e);
        }
    }

    private static String clientName(OpenLeaseRequest request) {
        try {
            return PrintableText.require("a client name", request.getClientName(), ControlPlane.MAX_NAME_LENGTH);
        } catch (IllegalArgumentException e) {
            throw new ControlException(Code.INVALID_ARGUMENT, e.getMessage(), e);
        }
    }

    @Override
    public void reportUse(ReportUseRequest request, StreamObserver<ReportUseReply> reply) {
        answer(
                CallKind.RENEW,
                request.getLeaseId(),
                reply,
                () -> plane.reportUse(
                        request.getLeaseId(),
                        request.getUsesList().stream()
                                .map(use -> new RegionUse(use.getRegionId(), use.getAccesses()))
                                .toList()),
                wanted -> ReportUseReply.newBuilder()
                        .addAllWanted(wanted.regions())
                        .setAgainNanos(wanted.againNanos())
                        .build(),
                null);
    }

    @Override
    public void describe(Empty request, StreamObserver<DescribeReply> reply) {
        answer(CallKind.GRANT, null, reply, plane::describe, ServerStatusMessages::message, null);
    }

    private void answer(CallKind kind, @Nullable Long lease, StreamObserver<Empty> reply, Runnable call) {
        answer(
                kind,
                lease,
                reply,
                () -> {
                    call.run();
                    return DONE;
                },
                Function.identity(),
                null);
    }

    /**
     * @param lease for which the call is; null for none
     * @param takeBack undoes a call whose client does not wait for the answer; null if there is nothing to undo
     */
    private <R, T> void answer(
            CallKind kind,
            @Nullable Long lease,
            StreamObserver<T> reply,
            Supplier<R> call,
            Function<R, T> message,
            @Nullable Consumer<R> takeBack) {
        new CancellableCall<>(threads, kind, lease, (ServerCallStreamObserver<T>) reply, call, message, takeBack)
                .begin();
    }
}
