package io.farheap.server.lease;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.plane.ControlPlane;
import io.farheap.control.plane.PullPace;
import io.farheap.control.plane.PullResult;
import io.farheap.control.plane.RebuildPlan;
import io.farheap.control.plane.WatermarkEndpoint;
import io.farheap.lifetime.Closeables;
import io.farheap.server.budget.Budget;
import io.farheap.server.budget.Budgets;
import io.farheap.server.fence.RetiredResources;
import io.farheap.server.pool.RegionPool;
import io.farheap.server.pull.CopyPace;
import io.farheap.server.pull.PreparedPull;
import io.farheap.server.pull.RegionCopy;
import io.farheap.server.pull.RegionFill;
import io.farheap.server.pull.RegionRebuild;
import io.farheap.server.pull.SourceConnectionPool;
import io.farheap.server.pull.SourceLink;
import io.farheap.verbs.Context;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Pulls into this server's regions from other servers. Thread-safe. */
public final class IncomingPulls {

    /** Staging memory that counts as one pull. */
    private static final int BYTES_LENT = 256 << 10;

    private final Context context;
    private final RegionPool pool;
    private final Budgets budgets;
    private final SourceConnectionPool sources;
    private final RetiredResources retired;

    public IncomingPulls(
            Context context, RegionPool pool, Budgets budgets, SourceConnectionPool sources, RetiredResources retired) {
        this.context = context;
        this.pool = pool;
        this.budgets = budgets;
        this.sources = sources;
        this.retired = retired;
    }

    /** As {@link ControlPlane#preparePull}. */
    public WatermarkEndpoint prepare(
            ClientLease lease, int regionId, String sourceAddress, byte[] token, PullPace pace) {
        return prepare(lease, regionId, sourceAddress, () -> open(lease, sourceAddress, regionId, token, pace));
    }

    /** As {@link ControlPlane#prepareRebuild}. */
    public WatermarkEndpoint prepareRebuild(ClientLease lease, int regionId, RebuildPlan plan, PullPace pace) {
        plan.check();
        return prepare(lease, regionId, plan.sources().toString(), () -> open(lease, regionId, plan, pace));
    }

    private WatermarkEndpoint prepare(ClientLease lease, int regionId, String from, Supplier<PreparedPull> open) {
        // Taken first, so that a call that takes long is known to have begun before others.
        LeasedRegion.PullTurn turn = lease.turn(regionId);
        lease.endFill(regionId);
        try {
            PreparedPull pull = open.get();
            try {
                WatermarkEndpoint mark = pull.mark();
                lease.keep(turn, pull);
                return mark;
            } catch (Throwable e) {
                lease.abandon(pull);
                throw e;
            }
        } catch (ControlException e) {
            throw pullFailure(from, e);
        }
    }

    /** As {@link ControlPlane#pull}. */
    public PullResult pull(ClientLease lease, int regionId, String sourceAddress, byte[] token) {
        LeasedRegion.PullTurn turn = lease.turn(regionId);
        try {
            PreparedPull pull = lease.take(regionId, sourceAddress, token);
            return fill(lease, turn, pull == null ? open(lease, sourceAddress, regionId, token, null) : pull);
        } catch (ControlException e) {
            throw pullFailure(sourceAddress, e);
        }
    }

    private PreparedPull open(
            ClientLease lease, String sourceAddress, int regionId, byte[] token, @Nullable PullPace pace) {
        MemorySegment into = pool.segment(regionId);
        RebuildPlan.Source only = new RebuildPlan.Source(0, sourceAddress, token);
        return open(lease, List.of(only), 1, into, pace, () -> new RegionCopy(context, into));
    }

    private PreparedPull open(ClientLease lease, int regionId, RebuildPlan plan, PullPace pace) {
        MemorySegment into = pool.segment(regionId);
        int staging = RegionRebuild.stagingBytes(plan.sources().size(), pace.pieceBytes());
        int lent = Math.max(plan.sources().size(), Math.ceilDiv(staging, BYTES_LENT));
        return open(
                lease,
                plan.sources(),
                lent,
                into,
                pace,
                () -> new RegionRebuild(context, into, plan, pace.pieceBytes()));
    }

    private PreparedPull open(
            ClientLease lease,
            List<RebuildPlan.Source> from,
            int lent,
            MemorySegment into,
            @Nullable PullPace wanted,
            Supplier<RegionFill> fill) {
        List<SourceLink> links = from.stream()
                .map(source -> new SourceLink(source.address(), source.token()))
                .toList();
        Budget.Loan loan = lease.client().lend(budgets.pulls(), lent);
        try {
            return DeviceCalls.call(() -> {
                CopyPace pace = wanted == null ? null : new CopyPace(context, wanted, into.byteSize());
                RegionFill made;
                try {
                    made = fill.get();
                } catch (Throwable e) {
                    Closeables.after(e, pace);
                    throw e;
                }
                return PreparedPull.open(links, sources, made, pace, loan);
            });
        } catch (Throwable e) {
            loan.close();
            throw e;
        }
    }

    private PullResult fill(ClientLease lease, LeasedRegion.PullTurn turn, PreparedPull pull) {
        LeasedRegion grant;
        try {
            grant = lease.attach(turn, pull.fill());
        } catch (Throwable e) {
            lease.abandon(pull);
            throw e;
        }
        boolean done = false;
        try {
            PullResult result = DeviceCalls.call(pull::run);
            done = true;
            return result;
        } finally {
            boolean finished = done;
            retired.close("a pull of client " + lease.clientName(), () -> {
                if (finished) {
                    pull.finish();
                } else {
                    pull.abandon();
                }
                lease.detach(grant);
            });
        }
    }

    private static ControlException pullFailure(String sourceAddress, ControlException e) {
        return switch (e.code()) {
            case INVALID_ARGUMENT, TICKET_REFUSED, LEASE_EXPIRED, NOT_FOUND, CANCELLED -> e;
            default ->
                new ControlException(
                        Code.PULL_FAILED, "cannot pull a region from " + sourceAddress + ": " + e.getMessage(), e);
        };
    }
}
