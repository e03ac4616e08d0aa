package io.farheap.control.grpc;

import com.google.protobuf.ByteString;
import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.ServerDescription;
import io.farheap.control.SpaceInfo;
import io.farheap.control.SpaceKey;
import io.farheap.control.plane.SpaceGrant;
import io.farheap.control.plane.SpaceGrowth;
import io.farheap.control.plane.SpacePlane;
import io.farheap.control.wire.CloseSpaceRequest;
import io.farheap.control.wire.CreateSpaceRequest;
import io.farheap.control.wire.DropSpaceRequest;
import io.farheap.control.wire.Empty;
import io.farheap.control.wire.ExtendSpaceRequest;
import io.farheap.control.wire.GrowSpaceRequest;
import io.farheap.control.wire.ListSpacesRequest;
import io.farheap.control.wire.OpenSpaceRequest;
import io.farheap.control.wire.SpacesGrpc;
import io.farheap.control.wire.SpacesGrpc.SpacesBlockingStub;
import java.util.List;
import java.util.function.Function;
import java.util.function.IntToLongFunction;

/** The client's end of a connection to a memory server's {@link SpacePlane}. Thread-safe. */
final class SpaceClient implements SpacePlane {

    private final CallChannel channel;
    private final SpacesBlockingStub stub;
    private final ServerDescription server;
    private final IntToLongFunction allocateMillis;

    /** @param allocateMillis time limit of granting so many regions */
    SpaceClient(CallChannel channel, ServerDescription server, IntToLongFunction allocateMillis) {
        this.channel = channel;
        this.stub = SpacesGrpc.newBlockingStub(channel.channel());
        this.server = server;
        this.allocateMillis = allocateMillis;
    }

    @Override
    public SpaceGrant create(
            long leaseId,
            SpaceKey key,
            int regions,
            long millis,
            byte[] descriptor,
            long creationId,
            boolean readOnly) {
        CreateSpaceRequest request = CreateSpaceRequest.newBuilder()
                .setLeaseId(leaseId)
                .setKey(ControlMessages.message(key))
                .setRegions(regions)
                .setMillis(millis)
                .setDescription(ByteString.copyFrom(descriptor))
                .setCreationId(creationId)
                .setReadOnly(readOnly)
                .build();
        return call(regions, within -> within.create(request), reply -> SpaceReplyReader.space(reply, regions, server));
    }

    @Override
    public SpaceGrant open(long leaseId, SpaceKey key) {
        OpenSpaceRequest request = OpenSpaceRequest.newBuilder()
                .setLeaseId(leaseId)
                .setKey(ControlMessages.message(key))
                .build();
        return call(
                server.totalRegions(),
                within -> within.open(request),
                reply -> SpaceReplyReader.space(reply, 0, server));
    }

    @Override
    public SpaceGrowth grow(long leaseId, SpaceKey key, int regions, long growthId) {
        GrowSpaceRequest request = GrowSpaceRequest.newBuilder()
                .setLeaseId(leaseId)
                .setKey(ControlMessages.message(key))
                .setRegions(regions)
                .setGrowthId(growthId)
                .build();
        // It also registers the regions by which other leases have grown the space.
        return call(
                server.totalRegions(),
                within -> within.grow(request),
                reply -> SpaceReplyReader.growth(reply, regions, server));
    }

    @Override
    public long extend(long leaseId, SpaceKey key, long millis) {
        ExtendSpaceRequest request = ExtendSpaceRequest.newBuilder()
                .setLeaseId(leaseId)
                .setKey(ControlMessages.message(key))
                .setMillis(millis)
                .build();
        return call(0, within -> within.extend(request), SpaceReplyReader::extended);
    }

    @Override
    public void close(long leaseId, long openingId) {
        CloseSpaceRequest request = CloseSpaceRequest.newBuilder()
                .setLeaseId(leaseId)
                .setOpeningId(openingId)
                .build();
        call(0, within -> within.close(request), Function.<Empty>identity());
    }

    @Override
    public void drop(long leaseId, SpaceKey key, long spaceId) {
        DropSpaceRequest request = DropSpaceRequest.newBuilder()
                .setLeaseId(leaseId)
                .setKey(ControlMessages.message(key))
                .setSpaceId(spaceId)
                .build();
        call(0, within -> within.drop(request), Function.<Empty>identity());
    }

    @Override
    public List<SpaceInfo> list(long leaseId) {
        ListSpacesRequest request =
                ListSpacesRequest.newBuilder().setLeaseId(leaseId).build();
        return call(0, within -> within.list(request), reply -> SpaceReplyReader.list(reply, server));
    }

    /** @param regions how many regions the server may have to register in the call */
    private <R, T> T call(int regions, Function<SpacesBlockingStub, R> call, Function<R, T> check) {
        R reply;
        try {
            reply = channel.call(stub, allocateMillis.applyAsLong(regions), call);
        } catch (ControlException e) {
            if (e.code() == Code.PROTOCOL_MISMATCH) {
                throw new ControlException(
                        Code.PROTOCOL_MISMATCH,
                        channel.peer() + " has no shared spaces: its release is older; run the same release on both",
                        e);
            }
            throw e;
        }
        return ReplyReader.checked(channel.peer(), reply, check);
    }
}
