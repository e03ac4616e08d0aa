package io.farheap.manager.service.supply;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.manager.allocation.Need;
import io.farheap.manager.provider.Quote;
import io.farheap.manager.service.caches.Caches;
import io.farheap.manager.service.moves.PlannedMoves;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Starts servers for caches that find no room: for allocations and for other capacities or objectives, of which the
 * calls wait for the servers, and for regions on servers that leave. The manager calls it with its lock, which is
 * released while a call waits.
 */
public final class ServerProvisioner {

    /**
     * How long a call waits at most; then the client has to ask again. It is less than a client waits for an answer.
     */
    public static final long CALL_NANOS = TimeUnit.SECONDS.toNanos(3);
    /** How often machines are started for a cache at most, the first time included, if they do not become servers. */
    private static final int ATTEMPTS = 3;
    /** A client that waits repeats its call at once, so one that has not asked for this long is gone. */
    private static final long GONE_NANOS = 2 * CALL_NANOS;

    /** The servers for which a cache waits. */
    private static final class Recruit {
        private final long deadline;
        private final List<Fleet.StartedMachine> machines = new ArrayList<>();
        /** When its client, or the manager for it, has last asked. */
        private long askedAt;
        /** How many calls wait now. */
        private int calls;

        private int attempts;
        private String failure = "";

        private Recruit(long deadline) {
            this.deadline = deadline;
        }

        private boolean coming() {
            for (Fleet.StartedMachine machine : machines) {
                String why = machine.failure();
                failure = why == null ? failure : "; a server of type " + machine.lot() + " does not start: " + why;
            }
            return machines.stream().anyMatch(Fleet.StartedMachine::isComing);
        }
    }

    private final Fleet fleet;
    private final MachineSelector shopping;
    private final Condition changed;
    private final LongSupplier nanos;
    private final long waitNanos;
    private final Map<Long, Recruit> recruits = new HashMap<>();
    /** When {@link #forgetLate} was called last. */
    private long looked;

    public ServerProvisioner(
            Fleet fleet, MachineSelector shopping, Condition changed, LongSupplier nanos, long waitNanos) {
        this.fleet = fleet;
        this.shopping = shopping;
        this.changed = changed;
        this.nanos = nanos;
        this.waitNanos = waitNanos;
        this.looked = nanos.getAsLong();
    }

    /**
     * Starts servers for a new or changed cache and waits until something has changed, so that another attempt is
     * worthwhile.
     *
     * @param quotes returns the machines to start
     * @param refused why it does not get what it needs now
     * @param seen {@link Fleet#latest} before the attempt that was refused
     * @param until as {@code nanoTime}: then the client has to ask again
     * @throws ControlException OUT_OF_MEMORY if no server will come, or none came in time; BUSY if the client has to
     *     ask again
     */
    public void await(long cacheId, Supplier<Optional<Quote>> quotes, ControlException refused, long seen, long until) {
        if (!fleet.canStart()) {
            throw refused;
        }
        asks(cacheId);
        if (fleet.latest() != seen) {
            if (System.nanoTime() - until >= 0) {
                throw busy(cacheId);
            }
            return;
        }
        Recruit recruit = recruit(cacheId);
        boolean coming = recruit.coming();
        boolean late = nanos.getAsLong() - recruit.deadline >= 0;
        if (late || !coming && !order(cacheId, recruit, quotes)) {
            forget(cacheId);
            String why = late
                    ? "; servers were started for it, and did not come within "
                            + TimeUnit.NANOSECONDS.toSeconds(waitNanos) + " s"
                    : recruit.failure.isEmpty() ? "; the provider has no servers that would do" : recruit.failure;
            throw new ControlException(refused.code(), refused.getMessage() + why, refused);
        }
        // A machine may have failed at once.
        if (fleet.latest() == seen && !awaitNews(recruit, until)) {
            throw busy(cacheId);
        }
    }

    /** A cache's client has asked. Returns the servers for which it waits, or null. */
    private @Nullable Recruit asks(long cacheId) {
        Recruit recruit = recruits.get(cacheId);
        if (recruit != null) {
            recruit.askedAt = nanos.getAsLong();
        }
        return recruit;
    }

    private boolean awaitNews(@Nullable Recruit recruit, long until) {
        if (recruit == null) {
            return awaitNews(until);
        }
        recruit.calls++;
        try {
            return awaitNews(until);
        } finally {
            recruit.calls--;
            recruit.askedAt = nanos.getAsLong();
        }
    }

    /**
     * Waits until something has changed, if caches are being ended for one that finds no room. Servers that were
     * started for it before stay its own.
     *
     * @param seen as {@link #await}
     * @param until as {@link #await}
     * @throws ControlException BUSY if the client has to ask again
     */
    public void awaitRoom(long cacheId, long seen, long until) {
        Recruit recruit = asks(cacheId);
        boolean late = fleet.latest() == seen ? !awaitNews(recruit, until) : System.nanoTime() - until >= 0;
        if (late) {
            throw new ControlException(
                    Code.BUSY,
                    "caches whose lifetime has passed are being ended for cache " + Caches.hex(cacheId)
                            + "; ask again");
        }
    }

    private static ControlException busy(long cacheId) {
        return new ControlException(
                Code.BUSY, "servers are being started for cache " + Caches.hex(cacheId) + "; ask again");
    }

    /** The caller examines the state again, and waits again if it was woken without need. */
    @SuppressWarnings("WaitNotInLoop")
    private boolean awaitNews(long until) {
        try {
            return changed.awaitNanos(until - System.nanoTime()) > 0;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ControlException(Code.CANCELLED, "the manager ends", e);
        }
    }

    private boolean order(long cacheId, Recruit recruit, Supplier<Optional<Quote>> quotes) {
        Quote quote = recruit.attempts == ATTEMPTS ? null : quotes.get().orElse(null);
        if (quote == null) {
            return false;
        }
        recruit.attempts++;
        recruit.machines.clear();
        recruit.machines.addAll(fleet.start(quote, cacheId));
        return true;
    }

    /** Returns the servers for which a cache waits, from now on if there were none: it asks now. */
    private Recruit recruit(long cacheId) {
        Recruit recruit = recruits.computeIfAbsent(cacheId, _ -> new Recruit(nanos.getAsLong() + waitNanos));
        recruit.askedAt = nanos.getAsLong();
        return recruit;
    }

    /** Starts servers for regions on leaving servers for which there is no room, if the provider has any. */
    public void help(List<PlannedMoves.StuckCache> stuck, long millis) {
        for (PlannedMoves.StuckCache one : stuck) {
            long cacheId = one.cache().id();
            int missing = one.regions() - (int) (one.why().most() / one.cache().regionBytes());
            Recruit recruit = recruit(cacheId);
            if (!recruit.coming()) {
                Need need = Caches.need(one.cache(), millis);
                order(cacheId, recruit, () -> shopping.forMore(need, one.cache().regionBytes(), missing));
            }
        }
    }

    /**
     * Forgets the waits of clients that do not ask again. Called several times a second: if it was not for long, this
     * manager stood still or could not read its state, and clients could not ask either.
     */
    public void forgetLate(long now) {
        if (now - looked > CALL_NANOS) {
            recruits.values().forEach(recruit -> recruit.askedAt = now);
        }
        looked = now;
        for (Map.Entry<Long, Recruit> each : Map.copyOf(recruits).entrySet()) {
            Recruit recruit = each.getValue();
            boolean gone = recruit.calls == 0 && now - recruit.askedAt > GONE_NANOS;
            // A client may be about to ask once more.
            if (gone || now - recruit.deadline > CALL_NANOS) {
                forget(each.getKey());
            }
        }
    }

    /** A cache has its servers, or does not want them any more. */
    public void forget(long cacheId) {
        if (recruits.remove(cacheId) != null) {
            fleet.release(cacheId);
        }
    }
}
