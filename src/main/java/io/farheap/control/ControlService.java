package io.farheap.control;

import com.google.protobuf.ByteString;
import io.farheap.control.ControlException.Code;
import io.farheap.control.wire.AllocateReply;
import io.farheap.control.wire.AllocateRequest;
import io.farheap.control.wire.CloseLeaseRequest;
import io.farheap.control.wire.ClosePullRequest;
import io.farheap.control.wire.ConnectReply;
import io.farheap.control.wire.ConnectRequest;
import io.farheap.control.wire.ConnectRingReply;
import io.farheap.control.wire.ConnectRingRequest;
import io.farheap.control.wire.ControlGrpc;
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
import io.farheap.control.wire.PullReply;
import io.farheap.control.wire.PullRequest;
import io.farheap.control.wire.ReleaseRequest;
import io.farheap.control.wire.RenewLeaseRequest;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.StreamObserver;

import java.util.function.Supplier;

/** Messages in, calls of a {@link ControlPlane}, messages out. */
final class ControlService extends ControlGrpc.ControlImplBase {

    private static final System.Logger LOG = System.getLogger(ControlService.class.getName());
    private static final Empty DONE = Empty.getDefaultInstance();

    private final ControlPlane plane;

    ControlService(ControlPlane plane) {
        this.plane = plane;
    }

    @Override
    public void hello(HelloRequest request, StreamObserver<HelloReply> reply) {
        answer(reply, () -> {
            ServerDescription server = plane.hello(request.getProtocolVersion());
            return HelloReply.newBuilder()
                .setProtocolVersion(server.protocolVersion())
                .setServerId(server.serverId())
                .setName(server.name())
                .setRegionBytes(server.regionBytes())
                .setTotalRegions(server.totalRegions())
                .setFreeRegions(server.freeRegions())
                .build();
        });
    }

    @Override
    public void openLease(OpenLeaseRequest request, StreamObserver<OpenLeaseReply> reply) {
        answer(reply, () -> {
            Lease lease = plane.openLease(request.getClientName());
            return OpenLeaseReply.newBuilder().setLeaseId(lease.id()).setDurationNanos(lease.durationNanos()).build();
        });
    }

    @Override
    public void renewLease(RenewLeaseRequest request, StreamObserver<Empty> reply) {
        answer(reply, () -> {
            plane.renewLease(request.getLeaseId());
            return DONE;
        });
    }

    @Override
    public void closeLease(CloseLeaseRequest request, StreamObserver<Empty> reply) {
        answer(reply, () -> {
            plane.closeLease(request.getLeaseId());
            return DONE;
        });
    }

    @Override
    public void connect(ConnectRequest request, StreamObserver<ConnectReply> reply) {
        answer(reply, () -> {
            Connected connected = plane.connect(request.getLeaseId(), Wire.endpoint(request.getClient()));
            return ConnectReply.newBuilder()
                .setConnectionId(connected.connectionId())
                .setServer(Wire.message(connected.server()))
                .build();
        });
    }

    @Override
    public void connectRing(ConnectRingRequest request, StreamObserver<ConnectRingReply> reply) {
        answer(reply, () -> {
            RingRequest ring = new RingRequest(Wire.endpoint(request.getClient()), request.getQueueDepth(), request.getBatch(),
                request.getThreads(), request.getResponseAddress(), request.getResponseRkey());
            ConnectedRing connected = plane.connectRing(request.getLeaseId(), ring);
            return ConnectRingReply.newBuilder()
                .setConnectionId(connected.connectionId())
                .setServer(Wire.message(connected.server()))
                .setRingAddress(connected.ringAddress())
                .setRingRkey(connected.ringKey())
                .build();
        });
    }

    @Override
    public void disconnect(DisconnectRequest request, StreamObserver<Empty> reply) {
        answer(reply, () -> {
            plane.disconnect(request.getLeaseId(), request.getConnectionId());
            return DONE;
        });
    }

    @Override
    public void allocate(AllocateRequest request, StreamObserver<AllocateReply> reply) {
        answer(reply, () -> {
            AllocateReply.Builder granted = AllocateReply.newBuilder();
            for (RegionGrant grant : plane.allocate(request.getLeaseId(), request.getRegions())) {
                granted.addRegions(Wire.message(grant));
            }
            return granted.build();
        });
    }

    @Override
    public void release(ReleaseRequest request, StreamObserver<Empty> reply) {
        answer(reply, () -> {
            plane.release(request.getLeaseId(), request.getRegionId());
            return DONE;
        });
    }

    @Override
    public void export(ExportRequest request, StreamObserver<ExportReply> reply) {
        answer(reply, () -> {
            Ticket ticket = plane.export(request.getLeaseId(), request.getRegionId());
            return ExportReply.newBuilder()
                .setToken(ByteString.copyFrom(ticket.token()))
                .setValidNanos(ticket.validNanos())
                .build();
        });
    }

    @Override
    public void openPull(OpenPullRequest request, StreamObserver<OpenPullReply> reply) {
        answer(reply, () -> {
            PullSource source = plane.openPull(request.getToken().toByteArray(), Wire.endpoint(request.getPuller()));
            return OpenPullReply.newBuilder()
                .setPullId(source.pullId())
                .setSource(Wire.message(source.source()))
                .setRemoteAddress(source.remoteAddress())
                .setRkey(source.rkey())
                .setLength(source.length())
                .build();
        });
    }

    @Override
    public void closePull(ClosePullRequest request, StreamObserver<Empty> reply) {
        answer(reply, () -> {
            plane.closePull(request.getPullId());
            return DONE;
        });
    }

    @Override
    public void preparePull(PreparePullRequest request, StreamObserver<PreparePullReply> reply) {
        answer(reply, () -> {
            PullRequest pull = request.getPull();
            Mark server = plane.preparePull(pull.getLeaseId(), pull.getRegionId(), pull.getSourceAddress(), pull.getToken().toByteArray(),
                new PullPace(Wire.mark(request.getClient()), request.getOffset(), request.getEnd(), request.getPieceBytes()));
            return PreparePullReply.newBuilder().setServer(Wire.message(server)).build();
        });
    }

    @Override
    public void pull(PullRequest request, StreamObserver<PullReply> reply) {
        answer(reply, () -> {
            PullResult result = plane.pull(request.getLeaseId(), request.getRegionId(), request.getSourceAddress(),
                request.getToken().toByteArray());
            return PullReply.newBuilder().setBytes(result.bytes()).setNanos(result.nanos()).build();
        });
    }

    private static <T> void answer(StreamObserver<T> reply, Supplier<T> call) {
        T message;
        try {
            message = call.get();
        } catch (Throwable e) {
            reply.onError(failure(e));
            return;
        }
        reply.onNext(message);
        reply.onCompleted();
    }

    private static StatusRuntimeException failure(Throwable e) {
        if (e instanceof ControlException refused) {
            if (refused.code() == Code.PROTOCOL_MISMATCH) {
                LOG.log(System.Logger.Level.WARNING, "refused a client: " + refused.getMessage());
            }
            return Codes.status(refused.code()).toStatus().withDescription(refused.getMessage()).asRuntimeException();
        }
        LOG.log(System.Logger.Level.ERROR, "a call of the control plane failed", e);
        return Codes.status(Code.INTERNAL).toStatus().withDescription("the server failed: " + e).asRuntimeException();
    }
}
