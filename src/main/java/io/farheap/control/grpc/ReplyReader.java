package io.farheap.control.grpc;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.RegionGrant;
import io.farheap.control.ServerDescription;
import io.farheap.control.ServerStatus;
import io.farheap.control.ServerStatus.HeadroomStatus;
import io.farheap.control.ServerStatus.LeaseStatus;
import io.farheap.control.plane.ConnectedQueuePair;
import io.farheap.control.plane.ConnectedRing;
import io.farheap.control.plane.ControlPlane;
import io.farheap.control.plane.Lease;
import io.farheap.control.plane.PullResult;
import io.farheap.control.plane.PullSource;
import io.farheap.control.plane.Ticket;
import io.farheap.control.plane.WantedRegions;
import io.farheap.control.plane.WatermarkEndpoint;
import io.farheap.control.text.PrintableText;
import io.farheap.control.wire.AllocateReply;
import io.farheap.control.wire.ConnectReply;
import io.farheap.control.wire.ConnectRingReply;
import io.farheap.control.wire.DescribeReply;
import io.farheap.control.wire.DescribedLease;
import io.farheap.control.wire.ExportReply;
import io.farheap.control.wire.Headroom;
import io.farheap.control.wire.HelloReply;
import io.farheap.control.wire.OpenLeaseReply;
import io.farheap.control.wire.OpenPullReply;
import io.farheap.control.wire.PreparePullReply;
import io.farheap.control.wire.PullReply;
import io.farheap.control.wire.Region;
import io.farheap.control.wire.ReportUseReply;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * Reads a server's replies into values, and refuses those that are not valid: all users of {@link ControlClient} rely
 * on that. Every method throws {@link IllegalArgumentException} with the reason if a reply is not valid. Addresses are
 * unsigned; memory may end at the end of the address space.
 */
final class ReplyReader {

    private static final long MIN_REGION_BYTES = 64 * 1024;
    private static final long MAX_REGION_BYTES = 1L << 42;
    private static final int MAX_REGIONS = 1 << 20;
    private static final long MIN_LEASE_NANOS = 1_000_000L;
    private static final long DAY_NANOS = 86_400_000_000_000L;

    private static final int MOST_COUNTERS = 1000;

    private ReplyReader() {}

    static ServerDescription description(HelloReply reply, int asked) {
        if (reply.getProtocolVersion() != asked) {
            throw wrong("version " + Integer.toUnsignedString(reply.getProtocolVersion())
                    + " of the protocol, asked for " + asked);
        }
        long bytes = reply.getRegionBytes();
        if (bytes < MIN_REGION_BYTES || bytes > MAX_REGION_BYTES || Long.bitCount(bytes) != 1) {
            throw wrong("regions of " + bytes + " bytes; they have a power of two, " + MIN_REGION_BYTES + " to "
                    + MAX_REGION_BYTES);
        }
        int total = reply.getTotalRegions();
        if (total < 1 || total > MAX_REGIONS) {
            throw wrong(total + " regions in all; there are 1 to " + MAX_REGIONS);
        }
        int free = reply.getFreeRegions();
        if (free < 0 || free > total) {
            throw wrong(free + " free regions of " + total);
        }
        String name = PrintableText.escaped(reply.getName(), ControlPlane.MAX_NAME_LENGTH);
        // An invalid domain is refused, not escaped and cut as the name is: that could make one domain of two.
        String domain = PrintableText.require("a failure domain", reply.getDomain(), ControlPlane.MAX_NAME_LENGTH);
        return new ServerDescription(reply.getServerId(), name, domain, asked, bytes, total, free);
    }

    static Lease lease(OpenLeaseReply reply) {
        long nanos = reply.getDurationNanos();
        if (nanos < MIN_LEASE_NANOS || nanos > DAY_NANOS) {
            throw wrong("a lease of " + nanos + " ns; it lasts " + MIN_LEASE_NANOS + " to " + DAY_NANOS);
        }
        return new Lease(reply.getLeaseId(), nanos);
    }

    static ConnectedQueuePair connected(ConnectReply reply) {
        return new ConnectedQueuePair(reply.getConnectionId(), ControlMessages.read(reply.getServer()));
    }

    static ConnectedRing connected(ConnectRingReply reply) {
        checkMemory("a ring", reply.getRingAddress(), Long.BYTES);
        return new ConnectedRing(
                reply.getConnectionId(),
                ControlMessages.read(reply.getServer()),
                reply.getRingAddress(),
                reply.getRingRkey());
    }

    /** @param asked how many regions were */
    static List<RegionGrant> grants(AllocateReply reply, int asked, ServerDescription server) {
        return grants(reply.getRegionsList(), asked, server);
    }

    /** @param asked how many regions were */
    static List<RegionGrant> grants(List<Region> regions, int asked, ServerDescription server) {
        if (regions.size() != asked) {
            throw wrong(regions.size() + " regions, asked for " + asked);
        }
        BitSet seen = new BitSet();
        List<RegionGrant> grants = new ArrayList<>(asked);
        for (Region region : regions) {
            int id = region.getRegionId();
            checkId(id, server);
            if (seen.get(id)) {
                throw wrong("region " + id + " twice");
            }
            seen.set(id);
            checkRegion(region.getRemoteAddress(), region.getLength(), server);
            grants.add(new RegionGrant(id, region.getRemoteAddress(), region.getRkey(), region.getLength()));
        }
        return grants;
    }

    static Ticket ticket(ExportReply reply) {
        if (reply.getToken().size() != ControlPlane.TOKEN_BYTES) {
            throw wrong("a token of " + reply.getToken().size() + " bytes; it has " + ControlPlane.TOKEN_BYTES);
        }
        long nanos = reply.getValidNanos();
        if (nanos < 1 || nanos > DAY_NANOS) {
            throw wrong("a ticket for " + nanos + " ns; it is for 1 to " + DAY_NANOS);
        }
        return new Ticket(reply.getToken().toByteArray(), nanos);
    }

    static PullSource source(OpenPullReply reply, ServerDescription server) {
        checkRegion(reply.getRemoteAddress(), reply.getLength(), server);
        return new PullSource(
                reply.getPullId(),
                ControlMessages.read(reply.getSource()),
                reply.getRemoteAddress(),
                reply.getRkey(),
                reply.getLength());
    }

    static WatermarkEndpoint mark(PreparePullReply reply) {
        long address = reply.getServer().getRemoteAddress();
        checkMemory("a mark", address, Long.BYTES);
        if (address % Long.BYTES != 0) {
            throw wrong("a mark at 0x" + Long.toHexString(address) + "; its address is a multiple of " + Long.BYTES);
        }
        return new WatermarkEndpoint(
                ControlMessages.read(reply.getServer().getEndpoint()),
                address,
                reply.getServer().getRkey());
    }

    static WantedRegions wanted(ReportUseReply reply, ServerDescription server) {
        long nanos = reply.getAgainNanos();
        if (nanos < 0 || nanos > DAY_NANOS) {
            throw wrong("a report of use wanted again after " + Long.toUnsignedString(nanos) + " ns; it is 0 to "
                    + DAY_NANOS);
        }
        if (reply.getWantedCount() > ControlPlane.MAX_REPORTED) {
            throw wrong(reply.getWantedCount() + " regions wanted back; at most " + ControlPlane.MAX_REPORTED
                    + " are reported");
        }
        for (int id : reply.getWantedList()) {
            checkId(id, server);
        }
        return new WantedRegions(List.copyOf(reply.getWantedList()), nanos);
    }

    private static void checkId(int id, ServerDescription server) {
        if (id < 0 || id >= server.totalRegions()) {
            throw wrong("region " + Integer.toUnsignedString(id) + " of a server that has " + server.totalRegions());
        }
    }

    static ServerStatus status(DescribeReply reply, int asked) {
        ServerDescription server = description(reply.getServer(), asked);
        int withdrawn = reply.getWithdrawnRegions();
        if (withdrawn < 0 || withdrawn > server.totalRegions()) {
            throw wrong(Integer.toUnsignedString(withdrawn) + " withdrawn regions of " + server.totalRegions());
        }
        List<LeaseStatus> leases = new ArrayList<>();
        for (DescribedLease lease : reply.getLeasesList()) {
            leases.add(new LeaseStatus(
                    PrintableText.escaped(lease.getClientName(), ControlPlane.MAX_NAME_LENGTH),
                    lease.getCacheId(),
                    count("regions of a lease", lease.getRegions()),
                    count("connections of a lease", lease.getConnections()),
                    Math.clamp(lease.getLeftNanos(), 0, DAY_NANOS),
                    Math.max(0, lease.getCallNanos())));
        }
        Headroom headroom = reply.getHeadroom();
        if (headroom.getPercent() < 0 || headroom.getPercent() > 100) {
            throw wrong("a headroom of " + Integer.toUnsignedString(headroom.getPercent()) + "%");
        }
        return new ServerStatus(
                server,
                withdrawn,
                List.copyOf(leases),
                count("shared spaces", reply.getSpaces()),
                new HeadroomStatus(
                        headroom.getPercent(),
                        headroom.getMachineBytes(),
                        headroom.getFreeBytes(),
                        count("regions asked for", headroom.getAskedRegions()),
                        headroom.getEvictedRegions()),
                counters(reply));
    }

    private static Map<String, Long> counters(DescribeReply reply) {
        if (reply.getCountersCount() > MOST_COUNTERS) {
            throw wrong(reply.getCountersCount() + " counters; there are " + MOST_COUNTERS + " at most");
        }
        Map<String, Long> counters = new TreeMap<>();
        reply.getCountersMap()
                .forEach((name, count) ->
                        counters.put(PrintableText.escaped(name, ControlPlane.MAX_NAME_LENGTH), count));
        return Collections.unmodifiableMap(counters);
    }

    private static int count(String what, int value) {
        if (value < 0) {
            throw wrong(Integer.toUnsignedString(value) + " " + what);
        }
        return value;
    }

    static PullResult pulled(PullReply reply, ServerDescription server) {
        if (reply.getBytes() < 0 || reply.getBytes() > server.regionBytes()) {
            throw wrong("a pull of " + reply.getBytes() + " bytes; the region has " + server.regionBytes());
        }
        if (reply.getNanos() < 0) {
            throw wrong("a pull that took " + reply.getNanos() + " ns");
        }
        return new PullResult(reply.getBytes(), reply.getNanos());
    }

    /**
     * Checks a reply, and throws BAD_REPLY if it is not valid.
     *
     * @param peer that sent the reply
     * @param check a method of this class, or of one like it
     */
    static <R, T> T checked(String peer, R reply, Function<R, T> check) {
        try {
            return check.apply(reply);
        } catch (IllegalArgumentException e) {
            throw new ControlException(
                    Code.BAD_REPLY,
                    peer + " has sent an invalid answer: " + e.getMessage()
                            + "; run the same release on both, or use another server",
                    e);
        }
    }

    private static void checkRegion(long address, long bytes, ServerDescription server) {
        if (bytes != server.regionBytes()) {
            throw wrong("a region of " + bytes + " bytes; its server has regions of " + server.regionBytes());
        }
        checkMemory("a region", address, bytes);
    }

    private static void checkMemory(String what, long address, long bytes) {
        if (Long.compareUnsigned(address, -bytes) > 0) {
            throw wrong(what + " of " + bytes + " bytes at 0x" + Long.toHexString(address)
                    + ", which goes beyond the last address");
        }
    }

    static IllegalArgumentException wrong(String what) {
        return new IllegalArgumentException(what);
    }
}
