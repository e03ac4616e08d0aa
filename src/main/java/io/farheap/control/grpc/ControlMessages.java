package io.farheap.control.grpc;

import com.google.protobuf.ByteString;
import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.RegionGrant;
import io.farheap.control.SpaceKey;
import io.farheap.control.plane.PullPace;
import io.farheap.control.plane.WatermarkEndpoint;
import io.farheap.control.wire.Pace;
import io.farheap.control.wire.QueuePairEndpoint;
import io.farheap.control.wire.Region;
import io.farheap.verbs.Endpoint;

/** Converts values to messages and back, for both sides. */
final class ControlMessages {

    private ControlMessages() {}

    static QueuePairEndpoint message(Endpoint endpoint) {
        return QueuePairEndpoint.newBuilder()
                .setQueuePairNumber(endpoint.queuePairNumber())
                .setPacketSequenceNumber(endpoint.packetSequenceNumber())
                .setLid(endpoint.lid())
                .setGid(ByteString.copyFrom(endpoint.gid()))
                .setPathMtu(endpoint.pathMtu())
                .setInitiatorDepth(endpoint.initiatorDepth())
                .setResponderResources(endpoint.responderResources())
                .setSoftverbsUser(endpoint.softverbsUser())
                .setSoftverbsHost(endpoint.softverbsHost())
                .setGids(ByteString.copyFrom(endpoint.gids()))
                .setPeerGid(ByteString.copyFrom(endpoint.peerGid()))
                .build();
    }

    /** @throws IllegalArgumentException if the message is not an endpoint */
    static Endpoint read(QueuePairEndpoint message) {
        return new Endpoint(
                message.getQueuePairNumber(),
                message.getPacketSequenceNumber(),
                message.getLid(),
                message.getGid().toByteArray(),
                message.getPathMtu(),
                message.getInitiatorDepth(),
                message.getResponderResources(),
                message.getSoftverbsUser(),
                message.getSoftverbsHost(),
                message.getGids().toByteArray(),
                message.getPeerGid().toByteArray());
    }

    /** @throws ControlException INVALID_ARGUMENT if the message is not an endpoint */
    static Endpoint endpoint(QueuePairEndpoint message) {
        try {
            return read(message);
        } catch (IllegalArgumentException e) {
            throw new ControlException(Code.INVALID_ARGUMENT, "not the address of a queue pair: " + e.getMessage(), e);
        }
    }

    static Region message(RegionGrant grant) {
        return Region.newBuilder()
                .setRegionId(grant.regionId())
                .setRemoteAddress(grant.remoteAddress())
                .setRkey(grant.rkey())
                .setLength(grant.length())
                .build();
    }

    static io.farheap.control.wire.Mark message(WatermarkEndpoint mark) {
        return io.farheap.control.wire.Mark.newBuilder()
                .setEndpoint(message(mark.endpoint()))
                .setRemoteAddress(mark.remoteAddress())
                .setRkey(mark.rkey())
                .build();
    }

    /** @throws ControlException INVALID_ARGUMENT if the message has no valid endpoint */
    static WatermarkEndpoint mark(io.farheap.control.wire.Mark message) {
        return new WatermarkEndpoint(endpoint(message.getEndpoint()), message.getRemoteAddress(), message.getRkey());
    }

    static Pace message(PullPace pace) {
        return Pace.newBuilder()
                .setClient(message(pace.client()))
                .setOffset(pace.offset())
                .setEnd(pace.end())
                .setPieceBytes(pace.pieceBytes())
                .build();
    }

    /** @throws ControlException as {@link #mark} */
    static PullPace pace(Pace message) {
        return new PullPace(mark(message.getClient()), message.getOffset(), message.getEnd(), message.getPieceBytes());
    }

    static io.farheap.control.wire.SpaceKey message(SpaceKey key) {
        return io.farheap.control.wire.SpaceKey.newBuilder()
                .setName(key.name())
                .setToken(ByteString.copyFrom(key.token()))
                .build();
    }

    /** @throws ControlException INVALID_ARGUMENT if the message is not a key */
    static SpaceKey key(io.farheap.control.wire.SpaceKey message) {
        try {
            return new SpaceKey(message.getName(), message.getToken().toByteArray());
        } catch (IllegalArgumentException e) {
            throw new ControlException(Code.INVALID_ARGUMENT, e.getMessage(), e);
        }
    }
}
