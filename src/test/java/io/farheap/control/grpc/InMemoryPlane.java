package io.farheap.control.grpc;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.RegionGrant;
import io.farheap.control.ServerDescription;
import io.farheap.control.ServerStatus;
import io.farheap.control.SignedGrant;
import io.farheap.control.SpaceInfo;
import io.farheap.control.SpaceKey;
import io.farheap.control.plane.ConnectedQueuePair;
import io.farheap.control.plane.ConnectedRing;
import io.farheap.control.plane.ControlPlane;
import io.farheap.control.plane.Lease;
import io.farheap.control.plane.PullPace;
import io.farheap.control.plane.PullResult;
import io.farheap.control.plane.PullSource;
import io.farheap.control.plane.RebuildPlan;
import io.farheap.control.plane.RegionUse;
import io.farheap.control.plane.RingRequest;
import io.farheap.control.plane.SpaceGrant;
import io.farheap.control.plane.SpaceGrowth;
import io.farheap.control.plane.SpacePlane;
import io.farheap.control.plane.Ticket;
import io.farheap.control.plane.WantedRegions;
import io.farheap.control.plane.WatermarkEndpoint;
import io.farheap.verbs.Endpoint;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;

/**
 * A control plane that records its calls and answers with fixed values; {@link #failWith} makes every call fail, and
 * calls named in {@link #hanging} hang until {@link #mayGoOn}.
 */
public final class InMemoryPlane implements ControlPlane {

    static final Endpoint SERVER_END =
            new Endpoint(0xFFFFFF, 0, 0xFFFF, gid(0x80), 5, 255, 1, -2, Long.MIN_VALUE, new byte[3 * 18], new byte[18]);

    static final ServerStatus STATUS = new ServerStatus(
            new ServerDescription(-1, "s", "d", PROTOCOL_VERSION, 1 << 20, 8, 2),
            1,
            List.of(new ServerStatus.LeaseStatus("tést", -2, 5, 3, 4_000_000_000L, 1L << 42)),
            6,
            new ServerStatus.HeadroomStatus(25, 1L << 40, 1L << 38, 2, 1L << 33),
            Map.of("calls", 3L, "bytes", Long.MAX_VALUE));

    public final List<Object> calls = new CopyOnWriteArrayList<>();
    public final CountDownLatch pullMayEnd = new CountDownLatch(1);
    public final CountDownLatch pullHasBegun = new CountDownLatch(1);
    public volatile long leaseNanos = 300_000_000L;
    public volatile Throwable failWith;
    public volatile Set<String> hanging = Set.of();
    public final CountDownLatch mayGoOn = new CountDownLatch(1);

    public static byte[] gid(int first) {
        byte[] gid = new byte[Endpoint.GID_BYTES];
        for (int i = 0; i < gid.length; i++) {
            gid[i] = (byte) (first + i);
        }
        return gid;
    }

    private void called(Object... call) {
        Throwable failure = failWith;
        calls.add(List.of(call));
        if (hanging.contains((String) call[0])) {
            hang();
        }
        if (failure != null) {
            throw InMemoryPlane.<RuntimeException>unchecked(failure);
        }
    }

    private void hang() {
        try {
            mayGoOn.await();
        } catch (InterruptedException e) {
            throw new ControlException(Code.CANCELLED, "interrupted", e);
        }
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <E extends Throwable> E unchecked(Throwable failure) throws E {
        throw (E) failure;
    }

    /** The number of calls of this name so far. */
    public long count(String name) {
        return calls.stream()
                .filter(call -> ((List<?>) call).getFirst().equals(name))
                .count();
    }

    @Override
    public ServerDescription hello(int protocolVersion) {
        called("hello", protocolVersion);
        if (protocolVersion != PROTOCOL_VERSION) {
            throw new ControlException(Code.PROTOCOL_MISMATCH, "version " + protocolVersion + " is not spoken here");
        }
        return new ServerDescription(-7L, "in memory", "räck 7", PROTOCOL_VERSION, 1L << 30, 16, 9);
    }

    @Override
    public Lease openLease(String clientName, long cacheId, SignedGrant grant) {
        called("openLease", clientName);
        return new Lease(Long.MIN_VALUE + 1, leaseNanos);
    }

    @Override
    public void showGrant(long leaseId, SignedGrant grant) {
        called("showGrant", leaseId, grant);
    }

    @Override
    public void renewLease(long leaseId) {
        called("renewLease", leaseId);
    }

    @Override
    public void closeLease(long leaseId) {
        called("closeLease", leaseId);
    }

    @Override
    public ConnectedQueuePair connect(long leaseId, Endpoint client) {
        called("connect", leaseId, client.toString());
        return new ConnectedQueuePair(-2L, SERVER_END);
    }

    @Override
    public ConnectedRing connectRing(long leaseId, RingRequest request) {
        called(
                "connectRing",
                leaseId,
                request.client().toString(),
                request.queueDepth(),
                request.batch(),
                request.threads(),
                request.responseAddress(),
                request.responseKey());
        return new ConnectedRing(-4L, SERVER_END, -8192L, -9);
    }

    @Override
    public void disconnect(long leaseId, long connectionId) {
        called("disconnect", leaseId, connectionId);
    }

    @Override
    public List<RegionGrant> allocate(long leaseId, int regions, long allocationId) {
        called("allocate", leaseId, regions, allocationId);
        return IntStream.range(0, regions)
                .mapToObj(i -> new RegionGrant(i, 0xFFFF_FFFF_0000_0000L + i, 0x8000_0000 + i, 1L << 30))
                .toList();
    }

    @Override
    public void release(long leaseId, int regionId, long allocationId) {
        called("release", leaseId, regionId, allocationId);
    }

    @Override
    public void abandon(long leaseId, long allocationId) {
        called("abandon", leaseId, allocationId);
    }

    @Override
    public Ticket export(long leaseId, int regionId) {
        called("export", leaseId, regionId);
        return new Ticket(gid(1), 30_000_000_000L);
    }

    @Override
    public PullSource openPull(byte[] token, Endpoint puller) {
        called("openPull", token.length, puller.toString());
        return new PullSource(-3L, SERVER_END, -1L << 30, -5, 1L << 30);
    }

    @Override
    public void closePull(long pullId) {
        called("closePull", pullId);
    }

    @Override
    public WatermarkEndpoint preparePull(
            long leaseId, int regionId, String sourceAddress, byte[] token, PullPace pace) {
        called(
                "preparePull",
                leaseId,
                regionId,
                sourceAddress,
                token.length,
                pace.client().endpoint().toString(),
                pace.client().remoteAddress(),
                pace.client().rkey(),
                pace.offset(),
                pace.end(),
                pace.pieceBytes());
        return new WatermarkEndpoint(SERVER_END, -8L, -9);
    }

    @Override
    public WatermarkEndpoint prepareRebuild(long leaseId, int regionId, RebuildPlan plan, PullPace pace) {
        called(
                "prepareRebuild",
                leaseId,
                regionId,
                plan.dataSplits(),
                plan.paritySplits(),
                plan.split(),
                plan.sources().toString(),
                pace.client().remoteAddress(),
                pace.offset(),
                pace.end(),
                pace.pieceBytes());
        return new WatermarkEndpoint(SERVER_END, -16L, -11);
    }

    @Override
    public SpacePlane spaces() {
        return new SpacePlane() {
            private List<RegionGrant> regions(int from, int to) {
                return IntStream.range(from, to)
                        .mapToObj(i -> new RegionGrant(i, 0xFFFF_FFFF_0000_0000L + i, 0x8000_0000 + i, 1L << 30))
                        .toList();
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
                called(
                        "create",
                        leaseId,
                        key.name(),
                        key.token().length,
                        regions,
                        millis,
                        descriptor.length,
                        creationId,
                        readOnly);
                return new SpaceGrant(-5L, -6L, descriptor, millis, regions(0, regions));
            }

            @Override
            public SpaceGrant open(long leaseId, SpaceKey key) {
                called("open", leaseId, key.name(), key.token().length);
                return new SpaceGrant(-5L, -7L, new byte[] {-1}, FOR_EVER, regions(0, 2));
            }

            @Override
            public SpaceGrowth grow(long leaseId, SpaceKey key, int regions, long growthId) {
                called("grow", leaseId, key.name(), regions, growthId);
                return new SpaceGrowth(2, regions(2, 2 + regions));
            }

            @Override
            public long extend(long leaseId, SpaceKey key, long millis) {
                called("extend", leaseId, key.name(), millis);
                return millis + 1;
            }

            @Override
            public void close(long leaseId, long openingId) {
                called("close", leaseId, openingId);
            }

            @Override
            public void drop(long leaseId, SpaceKey key, long spaceId) {
                called("drop", leaseId, key.name(), spaceId);
            }

            @Override
            public List<SpaceInfo> list(long leaseId) {
                called("list", leaseId);
                return List.of(new SpaceInfo("tést", 3, MAX_MILLIS, 2));
            }
        };
    }

    @Override
    public WantedRegions reportUse(long leaseId, List<RegionUse> uses) {
        called("reportUse", leaseId, uses);
        return new WantedRegions(List.of(1, 0), 7);
    }

    @Override
    public ServerStatus describe() {
        called("describe");
        return STATUS;
    }

    /** Blocks until {@link #pullMayEnd}. */
    @Override
    public PullResult pull(long leaseId, int regionId, String sourceAddress, byte[] token) {
        called("pull", leaseId, regionId, sourceAddress, token.length);
        pullHasBegun.countDown();
        try {
            pullMayEnd.await();
        } catch (InterruptedException e) {
            throw new ControlException(Code.CANCELLED, "interrupted", e);
        }
        return new PullResult(1L << 30, 123);
    }
}
