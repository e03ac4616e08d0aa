package io.farheap.manager.service.grpc;

import com.google.protobuf.ByteString;
import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.ManagerKey;
import io.farheap.control.grpc.GrpcStatusCodes;
import io.farheap.manager.CacheDescription;
import io.farheap.manager.CacheManager;
import io.farheap.manager.Reclaim;
import io.farheap.manager.ReportReply;
import io.farheap.manager.grpc.ManagerMessages;
import io.farheap.manager.service.grant.GrantSigner;
import io.farheap.manager.wire.Alert;
import io.farheap.manager.wire.AllocateCache;
import io.farheap.manager.wire.AllocatedCache;
import io.farheap.manager.wire.Attendance;
import io.farheap.manager.wire.CacheId;
import io.farheap.manager.wire.CachePage;
import io.farheap.manager.wire.ClaimCache;
import io.farheap.manager.wire.DescribedCache;
import io.farheap.manager.wire.DescribedTenant;
import io.farheap.manager.wire.DrainServer;
import io.farheap.manager.wire.EndedAlert;
import io.farheap.manager.wire.EstimatedLives;
import io.farheap.manager.wire.EstimatedRates;
import io.farheap.manager.wire.ExpiringAlert;
import io.farheap.manager.wire.ExtendCache;
import io.farheap.manager.wire.ForgetServer;
import io.farheap.manager.wire.HelloManager;
import io.farheap.manager.wire.LateAlert;
import io.farheap.manager.wire.ListCaches;
import io.farheap.manager.wire.ListModels;
import io.farheap.manager.wire.ListTenants;
import io.farheap.manager.wire.LostAlert;
import io.farheap.manager.wire.ManagerGrpc;
import io.farheap.manager.wire.ManagerIntroduction;
import io.farheap.manager.wire.ModelKey;
import io.farheap.manager.wire.ModelPage;
import io.farheap.manager.wire.ModelText;
import io.farheap.manager.wire.MovedRegions;
import io.farheap.manager.wire.Nothing;
import io.farheap.manager.wire.ReallocateCache;
import io.farheap.manager.wire.ReportReceipt;
import io.farheap.manager.wire.ReportedServer;
import io.farheap.manager.wire.ReserveRegions;
import io.farheap.manager.wire.ServerList;
import io.farheap.manager.wire.TenantPage;
import io.farheap.manager.wire.TenantQuota;
import io.farheap.manager.wire.UnknownAlert;
import io.farheap.manager.wire.WantedAlert;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Translates gRPC messages into calls of a {@link CacheManager}, and its answers into messages. */
final class ManagerService extends ManagerGrpc.ManagerImplBase {

    private static final System.Logger LOG = System.getLogger(ManagerService.class.getName());

    private final CacheManager manager;
    private final GrantSigner grants;
    private final ByteString publicKey;

    /** @param grants signs grants after the manager has made them */
    ManagerService(CacheManager manager, GrantSigner grants) {
        this.manager = manager;
        this.grants = grants;
        this.publicKey = ByteString.copyFrom(grants.managerKey().key().getEncoded());
    }

    @Override
    public void hello(HelloManager request, StreamObserver<ManagerIntroduction> reply) {
        answer(reply, () -> ManagerIntroduction.newBuilder()
                .setEpoch(manager.hello(request.getProtocolVersion()))
                .setProtocolVersion(CacheManager.PROTOCOL_VERSION)
                .build());
    }

    @Override
    public void allocate(AllocateCache request, StreamObserver<AllocatedCache> reply) {
        answer(reply, () -> ManagerMessages.write(grants.sign(manager.allocate(ManagerMessages.read(request)))));
    }

    @Override
    public void reallocate(ReallocateCache request, StreamObserver<AllocatedCache> reply) {
        answer(
                reply,
                () -> ManagerMessages.write(grants.sign(manager.reallocate(
                        request.getCacheId(),
                        request.getCapacity(),
                        ManagerMessages.readCandidates(request.getCandidatesList())))));
    }

    @Override
    public void reserve(ReserveRegions request, StreamObserver<AllocatedCache> reply) {
        answer(
                reply,
                () -> ManagerMessages.write(
                        grants.sign(manager.reserve(request.getCacheId(), request.getServer(), request.getRegions()))));
    }

    @Override
    public void moved(MovedRegions request, StreamObserver<AllocatedCache> reply) {
        answer(
                reply,
                () -> ManagerMessages.write(grants.sign(manager.moved(
                        request.getCacheId(),
                        request.getGeneration(),
                        request.getCapacity(),
                        request.hasCandidate() ? ManagerMessages.read(request.getCandidate()) : null,
                        ManagerMessages.read(request.getSharesList()),
                        request.hasAnswers() ? ManagerMessages.read(request.getAnswers()) : null))));
    }

    @Override
    public void claim(ClaimCache request, StreamObserver<AllocatedCache> reply) {
        answer(
                reply,
                () -> ManagerMessages.write(grants.sign(manager.claim(
                        ManagerMessages.read(request.getCache()),
                        request.getGeneration(),
                        request.getRegionBytes(),
                        ManagerMessages.read(request.getSharesList())))));
    }

    @Override
    public void extend(ExtendCache request, StreamObserver<DescribedCache> reply) {
        answer(reply, () -> ManagerMessages.write(manager.extend(request.getCacheId(), request.getLifetimeMillis())));
    }

    @Override
    public void deallocate(CacheId request, StreamObserver<Nothing> reply) {
        answer(reply, () -> {
            manager.deallocate(request.getCacheId());
            return Nothing.getDefaultInstance();
        });
    }

    @Override
    public void describe(CacheId request, StreamObserver<DescribedCache> reply) {
        answer(reply, () -> ManagerMessages.write(manager.describe(request.getCacheId())));
    }

    @Override
    public void list(ListCaches request, StreamObserver<CachePage> reply) {
        answer(reply, () -> CachePage.newBuilder()
                .addAllCaches(manager.list(request.getAfter(), request.getMost()).stream()
                        .map(ManagerMessages::write)
                        .toList())
                .build());
    }

    @Override
    public void servers(Nothing request, StreamObserver<ServerList> reply) {
        answer(reply, () -> ServerList.newBuilder()
                .addAllServers(
                        manager.servers().stream().map(ManagerMessages::write).toList())
                .build());
    }

    @Override
    public void putModel(ModelText request, StreamObserver<Nothing> reply) {
        answer(reply, () -> {
            manager.putModel(request.getText().toStringUtf8());
            return Nothing.getDefaultInstance();
        });
    }

    @Override
    public void removeModel(ModelKey request, StreamObserver<Nothing> reply) {
        answer(reply, () -> {
            manager.removeModel(request.getKey());
            return Nothing.getDefaultInstance();
        });
    }

    @Override
    public void models(ListModels request, StreamObserver<ModelPage> reply) {
        answer(reply, () -> ModelPage.newBuilder()
                .addAllModels(manager.models(request.getAfter()).stream()
                        .map(ManagerMessages::write)
                        .toList())
                .build());
    }

    @Override
    public void setQuota(TenantQuota request, StreamObserver<DescribedTenant> reply) {
        answer(
                reply,
                () -> ManagerMessages.write(manager.setQuota(request.getTenant(), ManagerMessages.read(request))));
    }

    @Override
    public void tenants(ListTenants request, StreamObserver<TenantPage> reply) {
        answer(reply, () -> TenantPage.newBuilder()
                .addAllTenants(manager.tenants(request.getAfter(), request.getMost()).stream()
                        .map(ManagerMessages::write)
                        .toList())
                .build());
    }

    @Override
    public void lives(Nothing request, StreamObserver<EstimatedLives> reply) {
        answer(reply, () -> EstimatedLives.newBuilder()
                .addAllTypes(
                        manager.lives().stream().map(ManagerMessages::write).toList())
                .build());
    }

    @Override
    public void rates(Nothing request, StreamObserver<EstimatedRates> reply) {
        answer(reply, () -> EstimatedRates.newBuilder()
                .addAllTypes(
                        manager.rates().stream().map(ManagerMessages::write).toList())
                .build());
    }

    @Override
    public void drain(DrainServer request, StreamObserver<Nothing> reply) {
        answer(reply, () -> {
            manager.drain(request.getAddress());
            return Nothing.getDefaultInstance();
        });
    }

    @Override
    public void forget(ForgetServer request, StreamObserver<Nothing> reply) {
        answer(reply, () -> {
            manager.forget(request.getAddress());
            return Nothing.getDefaultInstance();
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
            return GrpcStatusCodes.refusal(refused.code(), refused.getMessage());
        }
        if (e instanceof IllegalArgumentException) {
            return GrpcStatusCodes.refusal(Code.INVALID_ARGUMENT, String.valueOf(e.getMessage()));
        }
        LOG.log(System.Logger.Level.ERROR, "a call of the manager failed", e);
        return GrpcStatusCodes.refusal(Code.INTERNAL, "the manager failed: " + e);
    }

    @Override
    public StreamObserver<Attendance> attend(StreamObserver<Alert> alerts) {
        return new ClientAttendance(alerts);
    }

    /** The stream of one client. gRPC delivers its messages one at a time; any thread may send alerts. */
    private final class ClientAttendance implements StreamObserver<Attendance>, CacheManager.Listener {

        private final StreamObserver<Alert> alerts;
        private CacheManager.@Nullable Attendance line;

        ClientAttendance(StreamObserver<Alert> alerts) {
            this.alerts = alerts;
            // Without a handler, an alert to a client that is gone would throw.
            ((ServerCallStreamObserver<Alert>) alerts).setOnCancelHandler(this::close);
        }

        @Override
        public void onNext(Attendance message) {
            if (line == null) {
                line = manager.attend(message.getClientId(), this);
            }
            line.renew(Set.copyOf(message.getCacheIdsList()));
        }

        @Override
        public synchronized void reclaim(Reclaim alert) {
            alerts.onNext(Alert.newBuilder()
                    .setReclaim(ManagerMessages.write(grants.sign(alert)))
                    .build());
        }

        @Override
        public synchronized void expiring(long cacheId, long leftMillis) {
            alerts.onNext(Alert.newBuilder()
                    .setExpiring(ExpiringAlert.newBuilder().setCacheId(cacheId).setLeftMillis(leftMillis))
                    .build());
        }

        @Override
        public synchronized void lost(long cacheId, String server) {
            alerts.onNext(Alert.newBuilder()
                    .setLost(LostAlert.newBuilder().setCacheId(cacheId).setServer(server))
                    .build());
        }

        @Override
        public synchronized void unknown(long cacheId) {
            alerts.onNext(Alert.newBuilder()
                    .setUnknown(UnknownAlert.newBuilder().setCacheId(cacheId))
                    .build());
        }

        @Override
        public synchronized void late(long cacheId, CacheDescription.LateMove move) {
            alerts.onNext(Alert.newBuilder()
                    .setLate(LateAlert.newBuilder().setCacheId(cacheId).setLate(ManagerMessages.write(move)))
                    .build());
        }

        @Override
        public synchronized void wanted(long cacheId, String server, int regions) {
            alerts.onNext(Alert.newBuilder()
                    .setWanted(WantedAlert.newBuilder()
                            .setCacheId(cacheId)
                            .setServer(server)
                            .setRegions(regions))
                    .build());
        }

        @Override
        public synchronized void ended(long cacheId, String why) {
            alerts.onNext(Alert.newBuilder()
                    .setEnded(EndedAlert.newBuilder().setCacheId(cacheId).setWhy(why))
                    .build());
        }

        @Override
        public void ended(ControlException why) {
            alerts.onError(failure(why));
        }

        @Override
        public void onError(Throwable e) {
            close();
        }

        @Override
        public void onCompleted() {
            close();
            alerts.onCompleted();
        }

        private void close() {
            if (line != null) {
                line.close();
            }
        }
    }

    @Override
    public StreamObserver<ReportedServer> report(StreamObserver<ReportReceipt> receipts) {
        return new StreamObserver<>() {
            @Override
            public void onNext(ReportedServer report) {
                try {
                    ReportReply orders = manager.report(ManagerMessages.read(report));
                    ManagerKey key = grants.managerKey();
                    ReportReceipt.Builder receipt = ReportReceipt.newBuilder()
                            .setEpoch(key.epoch())
                            .setKey(publicKey)
                            .setMillis(key.millis())
                            .setLeave(orders.leave())
                            .addAllEnded(orders.ended());
                    if (orders.promised() != ReportReply.UNKNOWN) {
                        receipt.setPromisedRegions(orders.promised());
                    }
                    receipts.onNext(receipt.build());
                } catch (Throwable e) {
                    receipts.onError(failure(e));
                }
            }

            @Override
            public void onError(Throwable e) {
                // The server counts as silent if it does not report over another stream in time.
            }

            @Override
            public void onCompleted() {
                receipts.onCompleted();
            }
        };
    }
}
