package io.farheap.control.grpc;

import io.farheap.control.ServerDescription;
import io.farheap.control.ServerStatus;
import io.farheap.control.ServerStatus.HeadroomStatus;
import io.farheap.control.ServerStatus.LeaseStatus;
import io.farheap.control.wire.DescribeReply;
import io.farheap.control.wire.DescribedLease;
import io.farheap.control.wire.Headroom;
import io.farheap.control.wire.HelloReply;

/** Converts a server's status to messages. {@link ReplyReader} reads them. */
final class ServerStatusMessages {

    private ServerStatusMessages() {}

    static HelloReply hello(ServerDescription server) {
        return HelloReply.newBuilder()
                .setProtocolVersion(server.protocolVersion())
                .setServerId(server.serverId())
                .setName(server.name())
                .setDomain(server.domain())
                .setRegionBytes(server.regionBytes())
                .setTotalRegions(server.totalRegions())
                .setFreeRegions(server.freeRegions())
                .build();
    }

    static DescribeReply message(ServerStatus status) {
        DescribeReply.Builder reply = DescribeReply.newBuilder()
                .setServer(hello(status.server()))
                .setWithdrawnRegions(status.withdrawnRegions())
                .setSpaces(status.spaces())
                .setHeadroom(message(status.headroom()))
                .putAllCounters(status.counters());
        for (LeaseStatus lease : status.leases()) {
            reply.addLeases(DescribedLease.newBuilder()
                    .setClientName(lease.clientName())
                    .setCacheId(lease.cacheId())
                    .setRegions(lease.regions())
                    .setConnections(lease.connections())
                    .setLeftNanos(lease.leftNanos())
                    .setCallNanos(lease.callNanos()));
        }
        return reply.build();
    }

    private static Headroom message(HeadroomStatus headroom) {
        return Headroom.newBuilder()
                .setPercent(headroom.percent())
                .setMachineBytes(headroom.machineBytes())
                .setFreeBytes(headroom.freeBytes())
                .setAskedRegions(headroom.askedRegions())
                .setEvictedRegions(headroom.evictedRegions())
                .build();
    }
}
