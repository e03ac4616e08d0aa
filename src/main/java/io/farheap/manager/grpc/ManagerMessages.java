package io.farheap.manager.grpc;

import com.google.protobuf.ByteString;
import io.farheap.control.SignedGrant;
import io.farheap.manager.Allocation;
import io.farheap.manager.AllocationCandidate;
import io.farheap.manager.CacheDescription;
import io.farheap.manager.CacheRequest;
import io.farheap.manager.LeavingRate;
import io.farheap.manager.LifeEstimate;
import io.farheap.manager.Quota;
import io.farheap.manager.Reclaim;
import io.farheap.manager.ReclaimOutcome;
import io.farheap.manager.RegionShare;
import io.farheap.manager.ServerReport;
import io.farheap.manager.StoredModel;
import io.farheap.manager.Tenant;
import io.farheap.manager.wire.AllocateCache;
import io.farheap.manager.wire.AllocatedCache;
import io.farheap.manager.wire.AnsweredReclaim;
import io.farheap.manager.wire.CacheRegions;
import io.farheap.manager.wire.Configuration;
import io.farheap.manager.wire.DescribedCache;
import io.farheap.manager.wire.DescribedTenant;
import io.farheap.manager.wire.EstimatedLife;
import io.farheap.manager.wire.EstimatedRate;
import io.farheap.manager.wire.LateRegions;
import io.farheap.manager.wire.LivingRack;
import io.farheap.manager.wire.ModelText;
import io.farheap.manager.wire.ReclaimAlert;
import io.farheap.manager.wire.ReclaimReason;
import io.farheap.manager.wire.ReportedServer;
import io.farheap.manager.wire.ServerShare;
import io.farheap.manager.wire.TenantQuota;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;

/**
 * Converts values to messages and back, at both ends. The {@code read} methods throw {@link IllegalArgumentException}
 * with the reason if a message is not valid.
 */
public final class ManagerMessages {

    private ManagerMessages() {}

    public static AllocateCache write(CacheRequest request) {
        return AllocateCache.newBuilder()
                .setCacheId(request.cacheId())
                .setClientId(request.clientId())
                .setName(request.name())
                .setCapacity(request.capacity())
                .setLifetimeMillis(request.lifetimeMillis())
                .setPlace(request.place())
                .addAllCandidates(request.candidates().stream()
                        .map(ManagerMessages::write)
                        .toList())
                .setTenant(request.tenant())
                .build();
    }

    public static CacheRequest read(AllocateCache request) {
        return new CacheRequest(
                request.getCacheId(),
                request.getClientId(),
                request.getName(),
                request.getCapacity(),
                request.getLifetimeMillis(),
                request.getPlace(),
                request.getCandidatesList().stream().map(ManagerMessages::read).toList(),
                request.getTenant());
    }

    static Configuration write(AllocationCandidate candidate) {
        return Configuration.newBuilder()
                .setSwitches(candidate.switches())
                .setServerThreads(candidate.serverThreads())
                .build();
    }

    public static AllocationCandidate read(Configuration candidate) {
        return new AllocationCandidate(candidate.getSwitches(), candidate.getServerThreads());
    }

    public static List<AllocationCandidate> readCandidates(List<Configuration> candidates) {
        return candidates.stream().map(ManagerMessages::read).toList();
    }

    public static List<ServerShare> write(List<RegionShare> shares) {
        return shares.stream()
                .map(share -> ServerShare.newBuilder()
                        .setAddress(share.address())
                        .setRegions(share.regions())
                        .setGrant(ByteString.copyFrom(share.grant().bytes()))
                        .build())
                .toList();
    }

    public static List<RegionShare> read(List<ServerShare> shares) {
        return shares.stream()
                .map(share -> new RegionShare(
                        share.getAddress(),
                        share.getRegions(),
                        SignedGrant.of(share.getGrant().toByteArray())))
                .toList();
    }

    public static AllocatedCache write(Allocation allocation) {
        return AllocatedCache.newBuilder()
                .setCacheId(allocation.cacheId())
                .setGeneration(allocation.generation())
                .setCapacity(allocation.capacity())
                .setRegionBytes(allocation.regionBytes())
                .addAllShares(write(allocation.shares()))
                .setCandidate(write(allocation.candidate()))
                .addAllReserved(write(allocation.reserved()))
                .addAllLeft(allocation.left())
                .build();
    }

    public static Allocation read(AllocatedCache allocation) {
        return new Allocation(
                allocation.getCacheId(),
                allocation.getGeneration(),
                allocation.getCapacity(),
                allocation.getRegionBytes(),
                read(allocation.getCandidate()),
                read(allocation.getSharesList()),
                read(allocation.getReservedList()),
                allocation.getLeftList());
    }

    public static DescribedCache write(CacheDescription cache) {
        return DescribedCache.newBuilder()
                .setAllocated(write(cache.allocation()))
                .setName(cache.name())
                .setLeftMillis(cache.leftMillis())
                .setTenant(cache.tenant())
                .addAllLateMoves(
                        cache.lateMoves().stream().map(ManagerMessages::write).toList())
                .build();
    }

    public static CacheDescription read(DescribedCache cache) {
        return new CacheDescription(
                read(cache.getAllocated()),
                cache.getName(),
                cache.getLeftMillis(),
                cache.getTenant(),
                cache.getLateMovesList().stream().map(ManagerMessages::read).toList());
    }

    public static LateRegions write(CacheDescription.LateMove move) {
        return LateRegions.newBuilder()
                .setServer(move.server())
                .setRegions(move.regions())
                .setLost(move.lost())
                .setLeftMillis(move.leftMillis())
                .setRoom(move.room())
                .build();
    }

    public static CacheDescription.LateMove read(LateRegions late) {
        return new CacheDescription.LateMove(
                late.getServer(), late.getRegions(), late.getLost(), late.getLeftMillis(), late.getRoom());
    }

    public static ModelText write(StoredModel model) {
        return ModelText.newBuilder()
                .setKey(model.key())
                .setText(ByteString.copyFromUtf8(model.text()))
                .build();
    }

    public static StoredModel read(ModelText model) {
        return new StoredModel(model.getKey(), model.getText().toStringUtf8());
    }

    public static TenantQuota write(String tenant, Quota quota) {
        TenantQuota.Builder message = TenantQuota.newBuilder().setTenant(tenant);
        if (quota.bytes() != Quota.UNLIMITED) {
            message.setBytes(quota.bytes());
        }
        if (quota.caches() != Quota.UNLIMITED) {
            message.setCaches(quota.caches());
        }
        return message.build();
    }

    public static Quota read(TenantQuota quota) {
        return new Quota(
                quota.hasBytes() ? quota.getBytes() : Quota.UNLIMITED,
                quota.hasCaches() ? quota.getCaches() : Quota.UNLIMITED);
    }

    public static DescribedTenant write(Tenant tenant) {
        return DescribedTenant.newBuilder()
                .setQuota(write(tenant.name(), tenant.quota()))
                .setBytes(tenant.bytes())
                .setCaches(tenant.caches())
                .build();
    }

    public static Tenant read(DescribedTenant tenant) {
        return new Tenant(
                tenant.getQuota().getTenant(), read(tenant.getQuota()), tenant.getBytes(), tenant.getCaches());
    }

    public static EstimatedLife write(LifeEstimate life) {
        return EstimatedLife.newBuilder()
                .setType(life.type())
                .setEnds(life.ends())
                .setCensored(life.censored())
                .setMeanHours(life.meanHours())
                .setObserved(life.observed())
                .addAllRacks(life.racks().stream()
                        .map(rack -> LivingRack.newBuilder()
                                .setPlace(rack.place())
                                .setLiving(rack.living())
                                .setOldestHours(rack.oldestHours())
                                .addAllEnding(rack.ending())
                                .build())
                        .toList())
                .build();
    }

    public static LifeEstimate read(EstimatedLife life) {
        return new LifeEstimate(
                life.getType(),
                life.getEnds(),
                life.getCensored(),
                life.getMeanHours(),
                life.getObserved(),
                life.getRacksList().stream()
                        .map(rack -> new LifeEstimate.RackLives(
                                rack.getPlace(), rack.getLiving(), rack.getOldestHours(), rack.getEndingList()))
                        .toList());
    }

    public static EstimatedRate write(LeavingRate rate) {
        return EstimatedRate.newBuilder()
                .setType(rate.type())
                .setBytesPerSecond(rate.bytesPerSecond())
                .setObserved(rate.observed())
                .setSamples(rate.samples())
                .build();
    }

    public static LeavingRate read(EstimatedRate rate) {
        return new LeavingRate(rate.getType(), rate.getBytesPerSecond(), rate.getObserved(), rate.getSamples());
    }

    static AnsweredReclaim write(ReclaimOutcome answer) {
        return AnsweredReclaim.newBuilder()
                .setServer(answer.server())
                .setBeganMillisAgo(answer.beganMillisAgo())
                .setEndedMillisAgo(answer.endedMillisAgo())
                .build();
    }

    public static ReclaimOutcome read(AnsweredReclaim answer) {
        return new ReclaimOutcome(answer.getServer(), answer.getBeganMillisAgo(), answer.getEndedMillisAgo());
    }

    public static ReclaimAlert write(Reclaim alert) {
        return ReclaimAlert.newBuilder()
                .setCacheId(alert.cacheId())
                .setGeneration(alert.generation())
                .setReason(write(alert.reason()))
                .setServer(alert.server())
                .setWithinMillis(alert.withinMillis())
                .setPressure(alert.reason() == Reclaim.Reason.PRESSURE)
                .addAllTargets(write(alert.targets()))
                .build();
    }

    public static Reclaim read(ReclaimAlert alert) {
        return new Reclaim(
                alert.getCacheId(),
                alert.getGeneration(),
                alert.getPressure() ? Reclaim.Reason.PRESSURE : read(alert.getReason()),
                alert.getServer(),
                alert.getWithinMillis(),
                read(alert.getTargetsList()));
    }

    private static Reclaim.Reason read(ReclaimReason reason) {
        return switch (reason) {
            case LEAVES -> Reclaim.Reason.LEAVES;
            case ENDS_SOON -> Reclaim.Reason.ENDS_SOON;
            case CHEAPER -> Reclaim.Reason.CHEAPER;
            case UNRECOGNIZED ->
                throw new IllegalArgumentException("a reclaim for a reason that this release does not know");
        };
    }

    private static ReclaimReason write(Reclaim.Reason reason) {
        return switch (reason) {
            case LEAVES -> ReclaimReason.LEAVES;
            case ENDS_SOON -> ReclaimReason.ENDS_SOON;
            // A client that does not know the other reason moves as many regions for this one.
            case CHEAPER, PRESSURE -> ReclaimReason.CHEAPER;
        };
    }

    public static ReportedServer write(ServerReport report) {
        return ReportedServer.newBuilder()
                .setServerId(report.serverId())
                .setAddress(report.address())
                .setType(report.type())
                .setSpot(report.spot())
                .setPlace(report.place())
                .setDomain(report.domain())
                .setRegionBytes(report.regionBytes())
                .setTotalRegions(report.totalRegions())
                .setFreeRegions(report.freeRegions())
                .setNoticeMillis(report.noticeMillis())
                .setLeaving(report.leaving())
                .setLeavesWithinMillis(report.leavesWithinMillis())
                .addAllHeld(report.held().entrySet().stream()
                        .map(held -> CacheRegions.newBuilder()
                                .setCacheId(held.getKey())
                                .setRegions(held.getValue())
                                .build())
                        .toList())
                .addAllEnded(report.ended())
                .setWantedRegions(report.wantedRegions())
                .setWithdrawnRegions(report.withdrawnRegions())
                .setUnplacedRegions(report.unplacedRegions())
                .build();
    }

    public static ServerReport read(ReportedServer report) {
        Map<Long, Integer> held = new HashMap<>();
        for (CacheRegions cache : report.getHeldList()) {
            held.merge(cache.getCacheId(), cache.getRegions(), Integer::sum);
        }
        return new ServerReport(
                report.getServerId(),
                report.getAddress(),
                report.getType(),
                report.getSpot(),
                report.getPlace(),
                report.getDomain().isEmpty() ? report.getAddress() : report.getDomain(),
                report.getRegionBytes(),
                report.getTotalRegions(),
                report.getFreeRegions(),
                report.getNoticeMillis(),
                report.getLeaving(),
                report.getLeavesWithinMillis(),
                held,
                new HashSet<>(report.getEndedList()),
                report.getWantedRegions(),
                report.getWithdrawnRegions(),
                report.getUnplacedRegions());
    }
}
