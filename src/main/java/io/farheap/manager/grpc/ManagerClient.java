package io.farheap.manager.grpc;

import com.google.protobuf.ByteString;
import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.ManagerKey;
import io.farheap.control.grpc.CallChannel;
import io.farheap.control.plane.ControlPlane;
import io.farheap.control.plane.HostPort;
import io.farheap.manager.Allocation;
import io.farheap.manager.AllocationCandidate;
import io.farheap.manager.CacheDescription;
import io.farheap.manager.CacheManager;
import io.farheap.manager.CacheRequest;
import io.farheap.manager.LeavingRate;
import io.farheap.manager.LifeEstimate;
import io.farheap.manager.Quota;
import io.farheap.manager.ReclaimOutcome;
import io.farheap.manager.RegionShare;
import io.farheap.manager.ReportReply;
import io.farheap.manager.ServerReport;
import io.farheap.manager.StoredModel;
import io.farheap.manager.Tenant;
import io.farheap.manager.wire.Alert;
import io.farheap.manager.wire.CacheId;
import io.farheap.manager.wire.ClaimCache;
import io.farheap.manager.wire.DrainServer;
import io.farheap.manager.wire.ExtendCache;
import io.farheap.manager.wire.ForgetServer;
import io.farheap.manager.wire.HelloManager;
import io.farheap.manager.wire.ListCaches;
import io.farheap.manager.wire.ListModels;
import io.farheap.manager.wire.ListTenants;
import io.farheap.manager.wire.ManagerGrpc;
import io.farheap.manager.wire.ManagerGrpc.ManagerBlockingStub;
import io.farheap.manager.wire.ManagerGrpc.ManagerStub;
import io.farheap.manager.wire.ModelKey;
import io.farheap.manager.wire.ModelText;
import io.farheap.manager.wire.MovedRegions;
import io.farheap.manager.wire.Nothing;
import io.farheap.manager.wire.ReallocateCache;
import io.farheap.manager.wire.ReportReceipt;
import io.farheap.manager.wire.ReportedServer;
import io.farheap.manager.wire.ReserveRegions;
import io.grpc.stub.StreamObserver;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A {@link CacheManager} over gRPC. A call ends after {@value #CALL_MILLIS} ms with DEADLINE_EXCEEDED; answers that
 * make no sense end with BAD_REPLY. If the manager answers that it cannot do now what is asked, as while a write of its
 * state is late, the call is made again for {@value #CALL_MILLIS} ms. Thread-safe, with one I/O thread of its own.
 */
public final class ManagerClient implements CacheManager, AutoCloseable {

    private static final long CALL_MILLIS = 5_000;
    /** Between two attempts of a call that the manager cannot execute now. */
    private static final long PAUSE_MILLIS = 200;
    /** A manager answers this at once, whatever else it does. */
    private static final long CONFIRM_MILLIS = 2_000;
    /** A page of caches, each on a hundred servers. */
    private static final int MAX_REPLY_BYTES = 64 << 20;
    /** A manager that has not answered a report for longer counts as gone. */
    private static final long MAX_UNHEARD_NANOS = 2_900_000_000L;

    private final CallChannel channel;
    private final ManagerBlockingStub stub;
    private final ManagerStub streams;
    /** Stream of the server that reports through this client. Guarded by this. */
    private @Nullable StreamObserver<ReportedServer> reports;
    /** The answers to that stream. Guarded by this. */
    private @Nullable Receipts receipts;
    /** Why the last stream ended, until a caller has received it. Guarded by this. */
    private @Nullable ControlException reportsEnded;

    /** Reports without an answer. Guarded by this. */
    private int unheard;
    /** When the first of them was sent. Guarded by this. */
    private long unheardSince;
    /** The manager's orders, from its last answer to a report. */
    private volatile ReportReply orders = ReportReply.NONE;

    private volatile Consumer<ManagerKey> keys = _ -> {};
    private volatile Consumer<ReportReply> replies = _ -> {};

    private ManagerClient(HostPort address) {
        channel = new CallChannel("cache manager", address, "farheap-manager-client", MAX_REPLY_BYTES);
        stub = ManagerGrpc.newBlockingStub(channel.channel());
        streams = ManagerGrpc.newStub(channel.channel());
    }

    /**
     * Connects and says hello.
     *
     * @param address HOST:PORT
     * @throws ControlException INVALID_ARGUMENT if that is not an address; UNAVAILABLE; DEADLINE_EXCEEDED;
     *     PROTOCOL_MISMATCH
     */
    public static ManagerClient connect(String address) {
        ManagerClient client = new ManagerClient(HostPort.parse(address));
        try {
            client.hello(PROTOCOL_VERSION);
            return client;
        } catch (Throwable e) {
            client.close();
            throw e;
        }
    }

    /** As {@link #connect}, to the first manager that answers; one that hangs does not delay the others. */
    public static ManagerClient connectFirst(List<String> addresses) {
        return addresses.size() == 1
                ? connect(addresses.getFirst())
                : new ManagerSearch<>(ManagerClient::connect, ManagerClient::close).first(addresses);
    }

    @Override
    public long hello(int protocolVersion) {
        return hello(protocolVersion, CALL_MILLIS);
    }

    /**
     * Confirms that the manager answers. It takes no longer than {@value #CONFIRM_MILLIS} ms.
     *
     * @throws ControlException as {@link #hello}
     */
    public void confirm() {
        hello(PROTOCOL_VERSION, CONFIRM_MILLIS);
    }

    private long hello(int protocolVersion, long millis) {
        HelloManager request =
                HelloManager.newBuilder().setProtocolVersion(protocolVersion).build();
        return call(millis, within -> within.hello(request), reply -> {
            if (reply.getProtocolVersion() != protocolVersion) {
                throw new IllegalArgumentException("version " + Integer.toUnsignedString(reply.getProtocolVersion())
                        + " of the protocol, asked for " + protocolVersion);
            }
            return reply.getEpoch();
        });
    }

    @Override
    public Allocation allocate(CacheRequest request) {
        return call(within -> within.allocate(ManagerMessages.write(request)), ManagerMessages::read);
    }

    @Override
    public Allocation reallocate(long cacheId, long capacity, List<AllocationCandidate> candidates) {
        ReallocateCache request = ReallocateCache.newBuilder()
                .setCacheId(cacheId)
                .setCapacity(capacity)
                .addAllCandidates(
                        candidates.stream().map(ManagerMessages::write).toList())
                .build();
        return call(within -> within.reallocate(request), ManagerMessages::read);
    }

    @Override
    public Allocation reserve(long cacheId, String server, int regions) {
        ReserveRegions request = ReserveRegions.newBuilder()
                .setCacheId(cacheId)
                .setServer(server)
                .setRegions(regions)
                .build();
        return call(within -> within.reserve(request), ManagerMessages::read);
    }

    @Override
    public Allocation moved(
            long cacheId,
            long generation,
            long capacity,
            @Nullable AllocationCandidate candidate,
            List<RegionShare> shares,
            @Nullable ReclaimOutcome answers) {
        MovedRegions.Builder request = MovedRegions.newBuilder()
                .setCacheId(cacheId)
                .setGeneration(generation)
                .setCapacity(capacity)
                .addAllShares(ManagerMessages.write(shares));
        if (candidate != null) {
            request.setCandidate(ManagerMessages.write(candidate));
        }
        if (answers != null) {
            request.setAnswers(ManagerMessages.write(answers));
        }
        return call(within -> within.moved(request.build()), ManagerMessages::read);
    }

    @Override
    public Allocation claim(CacheRequest terms, long generation, long regionBytes, List<RegionShare> shares) {
        ClaimCache request = ClaimCache.newBuilder()
                .setCache(ManagerMessages.write(terms))
                .setGeneration(generation)
                .setRegionBytes(regionBytes)
                .addAllShares(ManagerMessages.write(shares))
                .build();
        return call(within -> within.claim(request), ManagerMessages::read);
    }

    @Override
    public CacheDescription extend(long cacheId, long lifetimeMillis) {
        ExtendCache request = ExtendCache.newBuilder()
                .setCacheId(cacheId)
                .setLifetimeMillis(lifetimeMillis)
                .build();
        return call(within -> within.extend(request), ManagerMessages::read);
    }

    @Override
    public void deallocate(long cacheId) {
        call(within -> within.deallocate(id(cacheId)), reply -> reply);
    }

    @Override
    public CacheDescription describe(long cacheId) {
        return call(within -> within.describe(id(cacheId)), ManagerMessages::read);
    }

    @Override
    public List<CacheDescription> list(long after, int most) {
        ListCaches request =
                ListCaches.newBuilder().setAfter(after).setMost(most).build();
        return call(
                within -> within.list(request),
                page -> page.getCachesList().stream().map(ManagerMessages::read).toList());
    }

    @Override
    public List<ServerReport> servers() {
        return call(within -> within.servers(Nothing.getDefaultInstance()), list -> list.getServersList().stream()
                .map(ManagerMessages::read)
                .toList());
    }

    @Override
    public void putModel(String text) {
        ModelText model =
                ModelText.newBuilder().setText(ByteString.copyFromUtf8(text)).build();
        call(within -> within.putModel(model), reply -> reply);
    }

    @Override
    public void removeModel(String key) {
        ModelKey model = ModelKey.newBuilder().setKey(key).build();
        call(within -> within.removeModel(model), reply -> reply);
    }

    @Override
    public List<StoredModel> models(String after) {
        ListModels request = ListModels.newBuilder().setAfter(after).build();
        return call(
                within -> within.models(request),
                page -> page.getModelsList().stream().map(ManagerMessages::read).toList());
    }

    @Override
    public Tenant setQuota(String tenant, Quota quota) {
        return call(within -> within.setQuota(ManagerMessages.write(tenant, quota)), ManagerMessages::read);
    }

    @Override
    public List<Tenant> tenants(String after, int most) {
        ListTenants request =
                ListTenants.newBuilder().setAfter(after).setMost(most).build();
        return call(within -> within.tenants(request), page -> page.getTenantsList().stream()
                .map(ManagerMessages::read)
                .toList());
    }

    @Override
    public List<LifeEstimate> lives() {
        return call(
                within -> within.lives(Nothing.getDefaultInstance()),
                list -> list.getTypesList().stream().map(ManagerMessages::read).toList());
    }

    @Override
    public List<LeavingRate> rates() {
        return call(
                within -> within.rates(Nothing.getDefaultInstance()),
                list -> list.getTypesList().stream().map(ManagerMessages::read).toList());
    }

    @Override
    public void drain(String address) {
        DrainServer request = DrainServer.newBuilder().setAddress(address).build();
        call(within -> within.drain(request), reply -> reply);
    }

    @Override
    public void forget(String address) {
        ForgetServer request = ForgetServer.newBuilder().setAddress(address).build();
        call(within -> within.forget(request), reply -> reply);
    }

    private static CacheId id(long cacheId) {
        return CacheId.newBuilder().setCacheId(cacheId).build();
    }

    private <R, T> T call(Function<ManagerBlockingStub, R> call, Function<R, T> check) {
        return call(CALL_MILLIS, call, check);
    }

    private <R, T> T call(long millis, Function<ManagerBlockingStub, R> call, Function<R, T> check) {
        long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(CALL_MILLIS);
        while (true) {
            try {
                R reply = channel.call(stub, millis, call);
                return sensible(() -> check.apply(reply));
            } catch (ControlException e) {
                if (!isRefusalForNow(e) || System.nanoTime() - until >= 0) {
                    throw e;
                }
            }
            pause();
        }
    }

    private boolean isRefusalForNow(ControlException e) {
        return e.code() == Code.UNAVAILABLE
                && String.valueOf(e.getMessage()).startsWith(channel.peer() + ": " + ControlPlane.CANNOT_NOW);
    }

    private void pause() {
        try {
            Thread.sleep(PAUSE_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ControlException(Code.CANCELLED, "interrupted while " + channel.peer() + " was unable", e);
        }
    }

    private <T> T sensible(Supplier<T> read) {
        try {
            return read.get();
        } catch (IllegalArgumentException e) {
            throw new ControlException(
                    Code.BAD_REPLY,
                    channel.peer() + " has sent an invalid answer: " + e.getMessage()
                            + "; run the same release on both",
                    e);
        }
    }

    @Override
    public Attendance attend(long clientId, Listener listener) {
        Alerts alerts = new Alerts(listener);
        StreamObserver<io.farheap.manager.wire.Attendance> line = streams.attend(alerts);
        return new Attendance() {
            @Override
            public synchronized void renew(Set<Long> cacheIds) {
                line.onNext(io.farheap.manager.wire.Attendance.newBuilder()
                        .setClientId(clientId)
                        .addAllCacheIds(cacheIds)
                        .build());
            }

            @Override
            public synchronized void close() {
                alerts.closed = true;
                line.onCompleted();
            }
        };
    }

    private final class Alerts implements StreamObserver<Alert> {

        private final Listener listener;
        private volatile boolean closed;

        Alerts(Listener listener) {
            this.listener = listener;
        }

        @Override
        public void onNext(Alert alert) {
            switch (alert.getWhatCase()) {
                case RECLAIM -> listener.reclaim(sensible(() -> ManagerMessages.read(alert.getReclaim())));
                case EXPIRING ->
                    listener.expiring(
                            alert.getExpiring().getCacheId(),
                            Math.max(0, alert.getExpiring().getLeftMillis()));
                case LOST ->
                    listener.lost(alert.getLost().getCacheId(), alert.getLost().getServer());
                case ENDED ->
                    listener.ended(
                            alert.getEnded().getCacheId(), alert.getEnded().getWhy());
                case UNKNOWN -> listener.unknown(alert.getUnknown().getCacheId());
                case LATE ->
                    listener.late(
                            alert.getLate().getCacheId(),
                            sensible(() -> ManagerMessages.read(alert.getLate().getLate())));
                case WANTED ->
                    listener.wanted(
                            alert.getWanted().getCacheId(),
                            alert.getWanted().getServer(),
                            Math.max(1, alert.getWanted().getRegions()));
                case WHAT_NOT_SET -> {
                    // A message of a newer manager; this release does not need it.
                }
            }
        }

        @Override
        public void onError(Throwable e) {
            end(channel.failure(e));
        }

        @Override
        public void onCompleted() {
            end(closedLine());
        }

        private void end(ControlException why) {
            if (!closed) {
                listener.ended(why);
            }
        }
    }

    private ControlException closedLine() {
        return new ControlException(Code.UNAVAILABLE, channel.peer() + " has closed the stream");
    }

    /**
     * Sends a report, and returns the last answer to earlier reports. If a report did not arrive, a later call throws
     * the reason.
     */
    @Override
    public synchronized ReportReply report(ServerReport report) {
        if (reportsEnded != null) {
            ControlException why = reportsEnded;
            reportsEnded = null;
            throw why;
        }
        Receipts answers = receipts;
        if (reports == null || answers == null) {
            answers = new Receipts();
            receipts = answers;
            reports = streams.report(answers);
            unheard = 0;
        }
        long now = System.nanoTime();
        if (unheard == 0) {
            unheardSince = now;
        } else if (now - unheardSince > MAX_UNHEARD_NANOS) {
            throw new ControlException(
                    Code.DEADLINE_EXCEEDED, channel.peer() + " has not answered the last " + unheard + " reports");
        }
        unheard++;
        answers.sends(report);
        reports.onNext(ManagerMessages.write(report));
        return orders;
    }

    /**
     * Sets the listener that receives the manager's key with each answer to a report, on a thread that it must not
     * block.
     */
    public void onKey(Consumer<ManagerKey> listener) {
        keys = listener;
    }

    /**
     * Sets the listener that receives each answer to a report at once, after {@link #onKey}'s, on a thread that it must
     * not block.
     */
    public void onReply(Consumer<ReportReply> listener) {
        replies = listener;
    }

    private synchronized void reportsEnded(ControlException why) {
        reports = null;
        reportsEnded = why;
    }

    private synchronized void heard() {
        unheard = 0;
    }

    /** The answers to one stream of reports, each of which has one, in their order. */
    private final class Receipts implements StreamObserver<ReportReceipt> {

        /** Reports that were sent. Guarded by the client, as the fields below. */
        private long sent;
        /** Reports that were answered. */
        private long answered;
        /** The number of the last report that has said that the server wants nothing back. */
        private long calm;

        void sends(ServerReport report) {
            sent++;
            calm = report.wantedRegions() == 0 ? sent : calm;
        }

        /**
         * What the manager has said to a report before one that wants nothing back does not count any more: it may have
         * promised regions since.
         */
        private int promised(ReportReceipt receipt) {
            answered++;
            if (answered <= calm || !receipt.hasPromisedRegions()) {
                return ReportReply.UNKNOWN;
            }
            int promised = receipt.getPromisedRegions();
            return promised < 0 ? Integer.MAX_VALUE : promised;
        }

        @Override
        public void onNext(ReportReceipt receipt) {
            heard();
            keys.accept(sensible(
                    () -> ManagerKey.of(receipt.getEpoch(), receipt.getKey().toByteArray(), receipt.getMillis())));
            synchronized (ManagerClient.this) {
                orders = new ReportReply(receipt.getLeave(), new HashSet<>(receipt.getEndedList()), promised(receipt));
                replies.accept(orders);
            }
        }

        @Override
        public void onError(Throwable e) {
            reportsEnded(channel.failure(e));
        }

        @Override
        public void onCompleted() {
            reportsEnded(closedLine());
        }
    }

    @Override
    public void close() {
        channel.close();
    }
}
