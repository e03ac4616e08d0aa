package io.farheap.server;

import io.farheap.control.ControlClient;
import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.ControlPlane;
import io.farheap.control.Mark;
import io.farheap.control.PullPace;
import io.farheap.control.PullResult;
import io.farheap.verbs.Context;
import org.jspecify.annotations.Nullable;

/** Regions of other servers that are copied into this one's. Thread-safe. */
final class IncomingPulls {

    private final Context context;
    private final RegionPool pool;
    private final Budgets budgets;
    private final SourceServers sources;
    private final Retired retired;

    IncomingPulls(Context context, RegionPool pool, Budgets budgets, SourceServers sources, Retired retired) {
        this.context = context;
        this.pool = pool;
        this.budgets = budgets;
        this.sources = sources;
        this.retired = retired;
    }

    /** As {@link ControlPlane#preparePull}. */
    Mark prepare(ClientLease lease, int regionId, String sourceAddress, byte[] token, PullPace pace) {
        lease.endCopy(regionId);
        try {
            PreparedPull pull = open(lease, sourceAddress, regionId, token, pace);
            try {
                Mark mark = pull.mark();
                lease.keep(regionId, pull);
                return mark;
            } catch (Throwable e) {
                lease.abandon(pull);
                throw e;
            }
        } catch (ControlException e) {
            throw pullFailure(sourceAddress, e);
        }
    }

    /** As {@link ControlPlane#pull}. */
    PullResult pull(ClientLease lease, int regionId, String sourceAddress, byte[] token) {
        lease.requireHolds(regionId);
        try {
            PreparedPull pull = lease.take(regionId, sourceAddress, token);
            return copy(lease, regionId, pull == null ? open(lease, sourceAddress, regionId, token, null) : pull);
        } catch (ControlException e) {
            throw pullFailure(sourceAddress, e);
        }
    }

    private PreparedPull open(
            ClientLease lease, String sourceAddress, int regionId, byte[] token, @Nullable PullPace pace) {
        Budget.Loan loan = lease.client().lend(budgets.pulls(), 1);
        ControlClient source = null;
        try {
            ControlClient taken = sources.take(sourceAddress);
            source = taken;
            return OnDevice.call(
                    () -> PreparedPull.open(taken, sourceAddress, token, context, pool.segment(regionId), pace, loan));
        } catch (Throwable e) {
            loan.close();
            if (source != null) {
                source.close();
            }
            throw e;
        }
    }

    private PullResult copy(ClientLease lease, int regionId, PreparedPull pull) {
        Grant grant;
        try {
            grant = lease.attach(regionId, pull.copy());
        } catch (Throwable e) {
            lease.abandon(pull);
            throw e;
        }
        boolean done = false;
        try {
            PullResult result = OnDevice.call(pull::run);
            done = true;
            return result;
        } finally {
            boolean finished = done;
            retired.close("a pull of client " + lease.clientName(), () -> {
                if (finished) {
                    pull.finish(sources);
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
