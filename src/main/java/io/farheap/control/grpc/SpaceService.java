package io.farheap.control.grpc;

import com.google.protobuf.ByteString;
import io.farheap.control.SpaceInfo;
import io.farheap.control.plane.SpaceGrant;
import io.farheap.control.plane.SpacePlane;
import io.farheap.control.threads.CallKind;
import io.farheap.control.threads.CallThreads;
import io.farheap.control.wire.CloseSpaceRequest;
import io.farheap.control.wire.CreateSpaceRequest;
import io.farheap.control.wire.DropSpaceRequest;
import io.farheap.control.wire.Empty;
import io.farheap.control.wire.ExtendSpaceReply;
import io.farheap.control.wire.ExtendSpaceRequest;
import io.farheap.control.wire.GrowSpaceReply;
import io.farheap.control.wire.GrowSpaceRequest;
import io.farheap.control.wire.ListSpacesReply;
import io.farheap.control.wire.ListSpacesRequest;
import io.farheap.control.wire.OpenSpaceRequest;
import io.farheap.control.wire.SpaceReply;
import io.farheap.control.wire.SpacesGrpc;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Receives messages on the I/O thread, calls the {@link SpacePlane} on call threads, and sends its results as messages.
 * If a client stops waiting, nothing is taken back: the client may repeat the call, and the two would conflict.
 */
final class SpaceService extends SpacesGrpc.SpacesImplBase {

    private final SpacePlane plane;
    private final CallThreads threads;

    SpaceService(SpacePlane plane, CallThreads threads) {
        this.plane = plane;
        this.threads = threads;
    }

    @Override
    public void create(CreateSpaceRequest request, StreamObserver<SpaceReply> reply) {
        answer(
                CallKind.GRANT,
                request.getLeaseId(),
                reply,
                () -> plane.create(
                        request.getLeaseId(),
                        ControlMessages.key(request.getKey()),
                        request.getRegions(),
                        request.getMillis(),
                        request.getDescription().toByteArray(),
                        request.getCreationId(),
                        request.getReadOnly()),
                SpaceService::message);
    }

    @Override
    public void open(OpenSpaceRequest request, StreamObserver<SpaceReply> reply) {
        answer(
                CallKind.GRANT,
                request.getLeaseId(),
                reply,
                () -> plane.open(request.getLeaseId(), ControlMessages.key(request.getKey())),
                SpaceService::message);
    }

    @Override
    public void grow(GrowSpaceRequest request, StreamObserver<GrowSpaceReply> reply) {
        answer(
                CallKind.GRANT,
                request.getLeaseId(),
                reply,
                () -> plane.grow(
                        request.getLeaseId(),
                        ControlMessages.key(request.getKey()),
                        request.getRegions(),
                        request.getGrowthId()),
                growth -> GrowSpaceReply.newBuilder()
                        .setFirst(growth.first())
                        .addAllRegions(growth.regions().stream()
                                .map(ControlMessages::message)
                                .toList())
                        .build());
    }

    @Override
    public void extend(ExtendSpaceRequest request, StreamObserver<ExtendSpaceReply> reply) {
        answer(
                CallKind.GRANT,
                request.getLeaseId(),
                reply,
                () -> plane.extend(request.getLeaseId(), ControlMessages.key(request.getKey()), request.getMillis()),
                left -> ExtendSpaceReply.newBuilder().setMillisLeft(left).build());
    }

    @Override
    public void close(CloseSpaceRequest request, StreamObserver<Empty> reply) {
        answer(
                CallKind.GIVE_BACK,
                request.getLeaseId(),
                reply,
                () -> {
                    plane.close(request.getLeaseId(), request.getOpeningId());
                    return Empty.getDefaultInstance();
                },
                Function.identity());
    }

    @Override
    public void drop(DropSpaceRequest request, StreamObserver<Empty> reply) {
        answer(
                CallKind.GIVE_BACK,
                request.getLeaseId(),
                reply,
                () -> {
                    plane.drop(request.getLeaseId(), ControlMessages.key(request.getKey()), request.getSpaceId());
                    return Empty.getDefaultInstance();
                },
                Function.identity());
    }

    @Override
    public void list(ListSpacesRequest request, StreamObserver<ListSpacesReply> reply) {
        answer(
                CallKind.GRANT,
                request.getLeaseId(),
                reply,
                () -> plane.list(request.getLeaseId()),
                spaces -> ListSpacesReply.newBuilder()
                        .addAllSpaces(spaces.stream().map(SpaceService::message).toList())
                        .build());
    }

    private static SpaceReply message(SpaceGrant space) {
        return SpaceReply.newBuilder()
                .setSpaceId(space.spaceId())
                .setOpeningId(space.openingId())
                .setDescription(ByteString.copyFrom(space.descriptor()))
                .setMillisLeft(space.millisLeft())
                .addAllRegions(
                        space.regions().stream().map(ControlMessages::message).toList())
                .build();
    }

    private static io.farheap.control.wire.SpaceInfo message(SpaceInfo space) {
        return io.farheap.control.wire.SpaceInfo.newBuilder()
                .setName(space.name())
                .setRegions(space.regions())
                .setMillisLeft(space.millisLeft())
                .setLeases(space.leases())
                .build();
    }

    private <R, T> void answer(
            CallKind kind, long lease, StreamObserver<T> reply, Supplier<R> call, Function<R, T> message) {
        new CancellableCall<>(threads, kind, lease, (ServerCallStreamObserver<T>) reply, call, message, null).begin();
    }
}
