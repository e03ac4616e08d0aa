package io.farheap.control.grpc;

import com.google.protobuf.ByteString;
import io.farheap.control.ControlException;
import io.farheap.control.RegionGrant;
import io.farheap.control.ServerDescription;
import io.farheap.control.ServerStatus;
import io.farheap.control.SignedGrant;
import io.farheap.control.lease.LeaseKeeper;
import io.farheap.control.plane.ConnectedQueuePair;
import io.farheap.control.plane.ConnectedRing;
import io.farheap.control.plane.ControlPlane;
import io.farheap.control.plane.HostPort;
import io.farheap.control.plane.Lease;
import io.farheap.control.plane.LeaseListener;
import io.farheap.control.plane.PullPace;
import io.farheap.control.plane.PullResult;
import io.farheap.control.plane.PullSource;
import io.farheap.control.plane.RebuildPlan;
import io.farheap.control.plane.RegionUse;
import io.farheap.control.plane.RingRequest;
import io.farheap.control.plane.SpacePlane;
import io.farheap.control.plane.Ticket;
import io.farheap.control.plane.WantedRegions;
import io.farheap.control.plane.WatermarkEndpoint;
import io.farheap.control.wire.AbandonRequest;
import io.farheap.control.wire.AllocateRequest;
import io.farheap.control.wire.CloseLeaseRequest;
import io.farheap.control.wire.ClosePullRequest;
import io.farheap.control.wire.ConnectRequest;
import io.farheap.control.wire.ConnectRingRequest;
import io.farheap.control.wire.ControlGrpc;
import io.farheap.control.wire.ControlGrpc.ControlBlockingStub;
import io.farheap.control.wire.ControlGrpc.ControlStub;
import io.farheap.control.wire.DisconnectRequest;
import io.farheap.control.wire.Empty;
import io.farheap.control.wire.ExportRequest;
import io.farheap.control.wire.HelloRequest;
import io.farheap.control.wire.OpenLeaseRequest;
import io.farheap.control.wire.OpenPullRequest;
import io.farheap.control.wire.PreparePullRequest;
import io.farheap.control.wire.PrepareRebuildRequest;
import io.farheap.control.wire.PullRequest;
import io.farheap.control.wire.ReleaseRequest;
import io.farheap.control.wire.RenewLeaseRequest;
import io.farheap.control.wire.ReportUseRequest;
import io.farheap.control.wire.ShowGrantRequest;
import io.farheap.verbs.Endpoint;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The client's end of a connection to a memory server's {@link ControlPlane}.
 *
 * <p>Every call has a deadline: {@value #CALL_MILLIS} ms; for {@link #renewLease} at most {@value #RENEW_MILLIS} ms,
 * because it is repeated anyway; for {@link #preparePull} and {@link #prepareRebuild} {@value #PREPARE_MILLIS} ms; for
 * {@link #pull} {@value #PULL_MILLIS} ms; and for {@link #allocate} more if more memory is asked for. {@link #abandon}
 * ends all of them. If the server cannot be reached, a call ends at once in a {@link ControlException} with code
 * UNAVAILABLE, and makes the client try to connect again. {@link ReplyReader} defines which replies are valid; any
 * other reply ends in code BAD_REPLY.
 *
 * <p>Thread-safe. It has a connection and one I/O thread of its own ({@link #connect(String)}), or shares both with the
 * process's other clients of that server ({@link #share}); each client's calls, with their deadlines and their end, are
 * still its own. Calls block the calling thread and can be interrupted.
 */
public final class ControlClient implements ControlPlane, AutoCloseable {

    private static final long CALL_MILLIS = 5_000;
    private static final long RENEW_MILLIS = 1_000;
    private static final long PREPARE_MILLIS = 20_000;
    private static final long PULL_MILLIS = 120_000;
    /** Time to register an allocated region: many times what it takes. */
    private static final long MILLIS_PER_REGION = 1;

    private static final long BYTES_PER_MILLI = 1 << 20;
    private static final long MAX_ALLOCATE_MILLIS = 3_600_000;
    /** Room for the grants of as many regions as a server may have. */
    private static final int MAX_REPLY_BYTES = 40 << 20;

    private static final String WHAT = "memory server";
    private static final String THREAD_NAME = "farheap-control-client";

    private final HostPort address;
    private final CallChannel channel;
    private final ControlBlockingStub stub;
    private final ControlStub renewals;
    private final ServerDescription server;
    private final SpaceClient spaces;

    /** Says hello. */
    private ControlClient(HostPort address, CallChannel channel) {
        this.address = address;
        this.channel = channel;
        stub = ControlGrpc.newBlockingStub(channel.channel());
        renewals = ControlGrpc.newStub(channel.channel());
        try {
            channel.connectAnew();
            server = hello(PROTOCOL_VERSION);
            spaces = new SpaceClient(channel, server, this::allocateMillis);
        } catch (Throwable e) {
            close();
            throw e;
        }
    }

    /**
     * Connects and says hello.
     *
     * @param address HOST:PORT
     * @throws ControlException INVALID_ARGUMENT if that is not an address; UNAVAILABLE; DEADLINE_EXCEEDED;
     *     PROTOCOL_MISMATCH
     */
    public static ControlClient connect(String address) {
        HostPort server = HostPort.parse(address);
        return new ControlClient(server, new CallChannel(WHAT, server, THREAD_NAME, MAX_REPLY_BYTES));
    }

    /**
     * As {@link #connect(String)}, over a connection that the process's clients of that server share: the first of them
     * makes it, and the last one that is closed ends it.
     */
    public static ControlClient share(String address) {
        HostPort server = HostPort.parse(address);
        ProtobufRuntime.require();
        SharedServerChannel link = SharedServerChannel.join(WHAT, server, THREAD_NAME, MAX_REPLY_BYTES);
        return new ControlClient(server, new CallChannel(WHAT, server, link));
    }

    /**
     * Runs a task once when the connection to the server has ended, at once if there is none. On the thread that
     * notices, gRPC's or the caller's: the task must not wait.
     */
    public void onceDisconnected(Runnable task) {
        channel.onceDisconnected(task);
    }

    /** HOST:PORT as given to {@link #connect}. */
    public String address() {
        return address.toString();
    }

    /** The server as it introduced itself in {@link #connect}. */
    public ServerDescription server() {
        return server;
    }

    @Override
    public ServerDescription hello(int protocolVersion) {
        HelloRequest request =
                HelloRequest.newBuilder().setProtocolVersion(protocolVersion).build();
        return call(
                CALL_MILLIS, within -> within.hello(request), reply -> ReplyReader.description(reply, protocolVersion));
    }

    @Override
    public Lease openLease(String clientName, long cacheId, SignedGrant grant) {
        OpenLeaseRequest request = OpenLeaseRequest.newBuilder()
                .setClientName(clientName)
                .setCacheId(cacheId)
                .setGrant(ByteString.copyFrom(grant.bytes()))
                .build();
        return call(CALL_MILLIS, within -> within.openLease(request), ReplyReader::lease);
    }

    @Override
    public void showGrant(long leaseId, SignedGrant grant) {
        ShowGrantRequest request = ShowGrantRequest.newBuilder()
                .setLeaseId(leaseId)
                .setGrant(ByteString.copyFrom(grant.bytes()))
                .build();
        call(CallChannel.nanos(CALL_MILLIS), within -> within.showGrant(request));
    }

    @Override
    public void renewLease(long leaseId) {
        renewLease(leaseId, Long.MAX_VALUE);
    }

    @Override
    public void renewLease(long leaseId, long withinNanos) {
        RenewLeaseRequest request =
                RenewLeaseRequest.newBuilder().setLeaseId(leaseId).build();
        call(Math.min(CallChannel.nanos(RENEW_MILLIS), withinNanos), within -> within.renewLease(request));
    }

    /**
     * Keeps a lease alive. All leases that are kept through clients that {@linkplain #share share} a connection have
     * one thread, and none of them waits for another's renewal; each keeper must be closed before its client.
     *
     * @param lease just opened here
     */
    public LeaseKeeper keep(Lease lease, LeaseListener listener) {
        return keep(lease, System.nanoTime(), listener);
    }

    /**
     * The same, for a lease that counts from when it was asked for.
     *
     * @param askedAt {@link System#nanoTime} before it was asked for
     */
    public LeaseKeeper keep(Lease lease, long askedAt, LeaseListener listener) {
        SharedServerChannel link = channel.shared();
        return link == null
                ? new LeaseKeeper(this, lease, askedAt, listener)
                : new LeaseKeeper(link.keeper(), this::beginRenewal, lease, askedAt, listener);
    }

    void beginRenewal(long leaseId, long withinNanos, Consumer<@Nullable ControlException> ended) {
        RenewLeaseRequest request =
                RenewLeaseRequest.newBuilder().setLeaseId(leaseId).build();
        channel.<ControlStub, Empty>begin(
                renewals,
                Math.min(CallChannel.nanos(RENEW_MILLIS), withinNanos),
                (within, reply) -> within.renewLease(request, reply),
                ended);
    }

    @Override
    public void closeLease(long leaseId) {
        CloseLeaseRequest request =
                CloseLeaseRequest.newBuilder().setLeaseId(leaseId).build();
        call(CallChannel.nanos(CALL_MILLIS), within -> within.closeLease(request));
    }

    @Override
    public ConnectedQueuePair connect(long leaseId, Endpoint client) {
        ConnectRequest request = ConnectRequest.newBuilder()
                .setLeaseId(leaseId)
                .setClient(ControlMessages.message(client))
                .build();
        return call(CALL_MILLIS, within -> within.connect(request), ReplyReader::connected);
    }

    @Override
    public ConnectedRing connectRing(long leaseId, RingRequest ring) {
        ConnectRingRequest request = ConnectRingRequest.newBuilder()
                .setLeaseId(leaseId)
                .setClient(ControlMessages.message(ring.client()))
                .setQueueDepth(ring.queueDepth())
                .setBatch(ring.batch())
                .setRecordBytes(ring.recordBytes())
                .setCalls(ring.calls())
                .setThreads(ring.threads())
                .setResponseAddress(ring.responseAddress())
                .setResponseRkey(ring.responseKey())
                .build();
        return call(CALL_MILLIS, within -> within.connectRing(request), ReplyReader::connected);
    }

    @Override
    public void disconnect(long leaseId, long connectionId) {
        DisconnectRequest request = DisconnectRequest.newBuilder()
                .setLeaseId(leaseId)
                .setConnectionId(connectionId)
                .build();
        call(CallChannel.nanos(CALL_MILLIS), within -> within.disconnect(request));
    }

    @Override
    public List<RegionGrant> allocate(long leaseId, int regions, long allocationId) {
        AllocateRequest request = AllocateRequest.newBuilder()
                .setLeaseId(leaseId)
                .setRegions(regions)
                .setAllocationId(allocationId)
                .build();
        return call(
                allocateMillis(regions),
                within -> within.allocate(request),
                reply -> ReplyReader.grants(reply, regions, server));
    }

    private long allocateMillis(int regions) {
        long bytesMillis = Math.max(0, regions) * (server.regionBytes() / BYTES_PER_MILLI);
        return Math.min(CALL_MILLIS + Math.max(0, regions) * MILLIS_PER_REGION + bytesMillis, MAX_ALLOCATE_MILLIS);
    }

    @Override
    public void release(long leaseId, int regionId, long allocationId) {
        ReleaseRequest request = ReleaseRequest.newBuilder()
                .setLeaseId(leaseId)
                .setRegionId(regionId)
                .setAllocationId(allocationId)
                .build();
        call(CallChannel.nanos(CALL_MILLIS), within -> within.release(request));
    }

    @Override
    public void abandon(long leaseId, long allocationId) {
        AbandonRequest request = AbandonRequest.newBuilder()
                .setLeaseId(leaseId)
                .setAllocationId(allocationId)
                .build();
        call(CallChannel.nanos(CALL_MILLIS), within -> within.abandon(request));
    }

    @Override
    public Ticket export(long leaseId, int regionId) {
        ExportRequest request = ExportRequest.newBuilder()
                .setLeaseId(leaseId)
                .setRegionId(regionId)
                .build();
        return call(CALL_MILLIS, within -> within.export(request), ReplyReader::ticket);
    }

    @Override
    public PullSource openPull(byte[] token, Endpoint puller) {
        OpenPullRequest request = OpenPullRequest.newBuilder()
                .setToken(ByteString.copyFrom(token))
                .setPuller(ControlMessages.message(puller))
                .build();
        return call(CALL_MILLIS, within -> within.openPull(request), reply -> ReplyReader.source(reply, server));
    }

    @Override
    public void closePull(long pullId) {
        ClosePullRequest request =
                ClosePullRequest.newBuilder().setPullId(pullId).build();
        call(CallChannel.nanos(CALL_MILLIS), within -> within.closePull(request));
    }

    @Override
    public WatermarkEndpoint preparePull(
            long leaseId, int regionId, String sourceAddress, byte[] token, PullPace pace) {
        PreparePullRequest request = PreparePullRequest.newBuilder()
                .setPull(pullRequest(leaseId, regionId, sourceAddress, token))
                .setPace(ControlMessages.message(pace))
                .build();
        return call(PREPARE_MILLIS, within -> within.preparePull(request), ReplyReader::mark);
    }

    @Override
    public WatermarkEndpoint prepareRebuild(long leaseId, int regionId, RebuildPlan plan, PullPace pace) {
        PrepareRebuildRequest request = RebuildMessages.request(leaseId, regionId, plan, pace);
        return call(PREPARE_MILLIS, within -> within.prepareRebuild(request), ReplyReader::mark);
    }

    @Override
    public PullResult pull(long leaseId, int regionId, String sourceAddress, byte[] token) {
        PullRequest request = pullRequest(leaseId, regionId, sourceAddress, token);
        return call(PULL_MILLIS, within -> within.pull(request), reply -> ReplyReader.pulled(reply, server));
    }

    @Override
    public WantedRegions reportUse(long leaseId, List<RegionUse> uses) {
        ReportUseRequest.Builder request = ReportUseRequest.newBuilder().setLeaseId(leaseId);
        for (RegionUse use : uses) {
            request.addUses(io.farheap.control.wire.RegionUse.newBuilder()
                    .setRegionId(use.regionId())
                    .setAccesses(use.accesses()));
        }
        return call(
                CALL_MILLIS, within -> within.reportUse(request.build()), reply -> ReplyReader.wanted(reply, server));
    }

    @Override
    public ServerStatus describe() {
        return call(
                CALL_MILLIS,
                within -> within.describe(Empty.getDefaultInstance()),
                reply -> ReplyReader.status(reply, PROTOCOL_VERSION));
    }

    /** The shared spaces; their calls use the same connection and end as this client's other calls do. */
    @Override
    public SpacePlane spaces() {
        return spaces;
    }

    private static PullRequest pullRequest(long leaseId, int regionId, String sourceAddress, byte[] token) {
        return PullRequest.newBuilder()
                .setLeaseId(leaseId)
                .setRegionId(regionId)
                .setSourceAddress(sourceAddress)
                .setToken(ByteString.copyFrom(token))
                .build();
    }

    /** Ends this client's calls in progress with code CANCELLED; every later call fails in the same way, at once. */
    public void abandon() {
        channel.abandon();
    }

    /**
     * Ends this client's calls in progress with code CANCELLED. It does not close leases: the thread that opened a
     * lease closes it, before this. Idempotent.
     */
    @Override
    public void close() {
        channel.close();
    }

    private <R, T> T call(long millis, Function<ControlBlockingStub, R> call, Function<R, T> check) {
        return ReplyReader.checked(channel.peer(), call(CallChannel.nanos(millis), call), check);
    }

    private <R> R call(long nanos, Function<ControlBlockingStub, R> call) {
        return channel.callWithin(stub, nanos, call);
    }
}
