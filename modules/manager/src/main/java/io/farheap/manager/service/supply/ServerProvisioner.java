package io.farheap.manager.service.supply;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.manager.allocation.Need;
import io.farheap.manager.service.caches.Caches;
import io.farheap.manager.service.moves.MachineOrders;
import io.farheap.manager.service.moves.PlannedMoves;
import io.farheap.manager.service.servers.FreeRoom;
import io.farheap.manager.service.servers.Servers;
import io.farheap.manager.state.CacheRecord;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.function.LongPredicate;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The caches that wait for room, in the order in which they came, and the servers that it starts for them: for
 * allocations and for other capacities or objectives, of which the calls wait for the servers, and for regions on
 * servers that leave. It starts what all of them lack less all that is coming, and keeps for each its part. The manager
 * calls it with its lock, which is released while a call waits.
 */
public final class ServerProvisioner implements MachineOrders {

    /**
     * How long a call waits at most; then the client has to ask again. It is less than a client waits for an answer.
     */
    public static final long CALL_NANOS = TimeUnit.SECONDS.toNanos(3);
    /**
     * How often machines are started for a cache at most, the first time included, if they do not become servers.
     * Machines for more regions do not count.
     */
    private static final int ATTEMPTS = 3;
    /** After so many attempts, regions that would be lost wait for this long before each further one. */
    private static final long AGAIN_NANOS = 5_000_000_000L;
    /** A client that waits repeats its call at once, so one that has not asked for this long is gone. */
    private static final long GONE_NANOS = 2 * CALL_NANOS;

    /** The most caches for which it looks, at one call, whether room has become free. */
    private static final int MOST_SERVED = 16;
    /** How often it looks for machines at one call, for caches on servers that leave. */
    private static final int MOST_HELPED = 256;
    /** How long it orders none for such a cache again that got none, unless an event may have changed that. */
    private static final long PAUSE_NANOS = 1_000_000_000L;

    /** The servers for which a cache waits. */
    private static final class Recruit {
        /** Of a client's wait. */
        private long deadline;
        /** Whether regions on a server that leaves wait. */
        private final boolean leaves;

        private final Set<Fleet.StartedMachine> machines = new LinkedHashSet<>();
        /** Looks for the room that it needs; empty if there is not enough. */
        private Supplier<Optional<FreeRoom>> room = Optional::empty;
        /** Whether all of its room is kept, so that it need not wait any longer. */
        private boolean served;
        /** {@link Servers#growths} when its room was last looked for. */
        private long searchedAt;

        /** When its client, or the manager for it, has last asked. */
        private long askedAt;
        /** How many calls wait now. */
        private int calls;

        private int attempts;
        /** When machines were started for it last. */
        private long startedAt;

        private String failure = "";
        /** How many regions the last order was for. */
        private int ordered;
        /** When the provider had not all machines for it; null if it has not been asked, or had them. */
        private @Nullable Long refusedAt;
        /** {@link Fleet#latest} then. */
        private long refusedNews;

        private Recruit(long deadline, boolean leaves) {
            this.deadline = deadline;
            this.leaves = leaves;
        }
    }

    private final Servers servers;
    private final Fleet fleet;
    private final MachineSelector shopping;
    private final RackSpread racks;
    private final Condition changed;
    private final LongSupplier nanos;
    private final long waitNanos;
    /** By cache; those that came first before the others. */
    private final Map<Long, Recruit> recruits = new LinkedHashMap<>();
    /** When {@link #forgetLate} was called last. */
    private long looked;
    /** {@link Fleet#latest} when {@link #help} was called last. */
    private long helpedNews;
    /** Counts how often machines for such caches were looked for. */
    private long asked;

    public ServerProvisioner(
            Servers servers,
            Fleet fleet,
            MachineSelector shopping,
            Condition changed,
            LongSupplier nanos,
            long waitNanos) {
        this.servers = servers;
        this.fleet = fleet;
        this.shopping = shopping;
        this.racks = new RackSpread(servers, fleet, nanos);
        this.changed = changed;
        this.nanos = nanos;
        this.waitNanos = waitNanos;
        this.looked = nanos.getAsLong();
    }

    /**
     * Starts servers for a new or changed cache and waits until something has changed, so that another attempt is
     * worthwhile.
     *
     * @param room looks for the room that the cache needs
     * @param orders returns what to start for it
     * @param refused why it does not get what it needs now
     * @param seen {@link Fleet#latest} before the attempt that was refused
     * @param until as {@code nanoTime}: then the client has to ask again
     * @throws ControlException OUT_OF_MEMORY if no server will come, or none came in time; BUSY if the client has to
     *     ask again
     */
    public void await(
            long cacheId,
            Supplier<Optional<FreeRoom>> room,
            Supplier<Optional<MachineOrder>> orders,
            ControlException refused,
            long seen,
            long until) {
        if (!fleet.canStart()) {
            forget(cacheId);
            throw refused;
        }
        asks(cacheId);
        if (fleet.latest() != seen) {
            if (System.nanoTime() - until >= 0) {
                throw busy(cacheId);
            }
            return;
        }
        Recruit recruit = recruit(cacheId, false);
        if (recruit.leaves) {
            // What is coming is for its regions on servers that leave, which are silent for a moment.
            throw busy(cacheId);
        }
        recruit.room = room;
        boolean coming = isComing(cacheId, recruit);
        boolean late = nanos.getAsLong() - recruit.deadline >= 0;
        if (late || !coming && !order(cacheId, recruit, orders)) {
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

    /** Whether all that is still missing of the machines that were started for a cache is coming. */
    private boolean isComing(long cacheId, Recruit recruit) {
        boolean coming = false;
        boolean complete = true;
        boolean urgent = isUrgent(recruit);
        for (Fleet.StartedMachine machine : recruit.machines) {
            String why = machine.failure();
            if (why != null) {
                recruit.failure = "; a server of type " + machine.lot() + " does not start: " + why;
            }
            boolean expected = shopping.isExpected(machine, urgent);
            coming |= expected;
            complete &= expected || machine.serves(cacheId);
        }
        return coming && complete;
    }

    /** A cache's client has asked and has to ask again, before room was looked for: it still waits. */
    public void asksAgain(long cacheId) {
        Recruit recruit = recruits.get(cacheId);
        if (recruit != null) {
            recruit.askedAt = nanos.getAsLong();
        }
    }

    /** A cache's client has asked. Returns the servers for which it waits, or null. */
    private @Nullable Recruit asks(long cacheId) {
        Recruit recruit = recruits.get(cacheId);
        if (recruit != null) {
            recruit.askedAt = nanos.getAsLong();
            recruit.served = false;
        }
        return recruit;
    }

    /**
     * Keeps room that has become free for caches that have waited for it for longer than one that asks now. As long as
     * none has, it looks for none.
     *
     * @param cacheId of the one that asks
     */
    public void serveEarlier(long cacheId) {
        List<Long> earlier = new ArrayList<>();
        for (Map.Entry<Long, Recruit> each : recruits.entrySet()) {
            if (each.getKey() == cacheId) {
                break;
            }
            Recruit recruit = each.getValue();
            if (!recruit.served && !recruit.leaves && recruit.searchedAt != servers.growths()) {
                earlier.add(each.getKey());
            }
        }
        Set<Long> chosen = Set.copyOf(longestAgo(earlier, MOST_SERVED, id -> require(id).searchedAt));
        earlier.stream().filter(chosen::contains).forEach(id -> serve(id, require(id)));
    }

    private Recruit require(long cacheId) {
        return Objects.requireNonNull(recruits.get(cacheId));
    }

    /** Returns all caches or, if they are more than one call may look at, those that were looked at longest ago. */
    private static <T> List<T> longestAgo(List<T> all, int most, ToLongFunction<T> lookedAt) {
        return all.size() <= most
                ? all
                : all.stream()
                        .sorted(Comparator.comparingLong(lookedAt))
                        .limit(most)
                        .toList();
    }

    private void serve(long cacheId, Recruit recruit) {
        recruit.searchedAt = servers.growths();
        FreeRoom found = null;
        try (Servers.ServingTime _ = servers.serving(cacheId, false)) {
            found = recruit.room.get().orElse(null);
        } catch (ControlException e) {
            // It is gone, or may not have the room: its client learns that when it asks.
        }
        if (found != null) {
            fleet.unclaim(cacheId);
            recruit.machines.clear();
            servers.giveUpMade(cacheId);
            servers.keepFound(cacheId, found, false);
            recruit.served = true;
            changed.signalAll();
        }
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
     * Caches are being ended for one that finds no room: it waits for their room as others wait for machines.
     *
     * @param room as in {@link #await}
     */
    public void waits(long cacheId, Supplier<Optional<FreeRoom>> room) {
        Recruit recruit = recruit(cacheId, false);
        recruit.room = room;
        if (recruit.machines.isEmpty()) {
            recruit.deadline = nanos.getAsLong() + waitNanos;
        }
    }

    /**
     * Waits until something has changed, after {@link #waits}. Servers that were started for it before stay its own.
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

    private boolean order(long cacheId, Recruit recruit, Supplier<Optional<MachineOrder>> orders) {
        boolean waited = recruit.leaves && nanos.getAsLong() - recruit.startedAt >= AGAIN_NANOS;
        if (recruit.attempts >= ATTEMPTS && !waited) {
            // What is coming for it remains its own.
            return false;
        }
        // An order for more regions is no sign that machines do not start.
        boolean adds = !recruit.machines.isEmpty() && areThere(cacheId, recruit);
        Map<Fleet.StartedMachine, Fleet.MachineClaim> before =
                adds && recruit.leaves && isComing(cacheId, recruit) ? fleet.claims(cacheId) : Map.of();
        // Its own claims must not count as those of another cache.
        fleet.unclaim(cacheId);
        MachineOrder order = find(cacheId, recruit, orders);
        if (order == null && !before.isEmpty()) {
            // The room that is missing may be back, or be made, when these machines have come.
            fleet.claimAgain(cacheId, before);
            return false;
        }
        if (order == null) {
            // A part of what it needs is of no use to it, and may be enough for others.
            recruit.machines.clear();
            recruit.ordered = 0;
            servers.giveUpFound(cacheId);
            return false;
        }
        recruit.machines.clear();
        recruit.ordered = order.regions();
        double threads = order.threads();
        servers.keepFound(cacheId, new FreeRoom(order.free(), threads), recruit.leaves);
        order.coming().forEach((machine, regions) -> claim(cacheId, recruit, machine, regions, threads));
        if (order.wanted() > 0) {
            recruit.attempts += adds ? 0 : 1;
            recruit.startedAt = nanos.getAsLong();
            int left = order.wanted();
            for (Fleet.StartedMachine machine : fleet.start(racks.of(cacheId, order), false)) {
                int part = Math.min(left, order.room().applyAsInt(machine.lot()));
                claim(cacheId, recruit, machine, part, threads);
                left -= part;
            }
        }
        return true;
    }

    private @Nullable MachineOrder find(long cacheId, Recruit recruit, Supplier<Optional<MachineOrder>> orders) {
        try (Servers.ServingTime _ = servers.serving(cacheId, recruit.leaves)) {
            return orders.get().orElse(null);
        }
    }

    private void claim(long cacheId, Recruit recruit, Fleet.StartedMachine machine, int regions, double threads) {
        recruit.machines.add(machine);
        if (regions > 0) {
            fleet.claim(machine, cacheId, new Fleet.MachineClaim(regions, regions * threads, recruit.leaves));
        }
    }

    /**
     * Returns the servers for which a cache waits, from now on if there were none: it asks now.
     *
     * @param leaves whether regions on a server that leaves wait
     */
    private Recruit recruit(long cacheId, boolean leaves) {
        Recruit before = recruits.get(cacheId);
        if (leaves && before != null && !before.leaves) {
            // The cache waits for its growth, which is for later. What ended caches give is for what leaves already.
            recruits.remove(cacheId);
            fleet.unclaim(cacheId);
            servers.giveUpFound(cacheId);
        }
        Recruit recruit = recruits.computeIfAbsent(cacheId, _ -> new Recruit(nanos.getAsLong() + waitNanos, leaves));
        recruit.askedAt = nanos.getAsLong();
        return recruit;
    }

    /**
     * Starts servers for regions on leaving servers for which there is no room, if the provider has any.
     *
     * @param stuck returns them, those on the servers that end first before the others
     * @param waits whether a cache has such regions
     */
    public void help(Supplier<List<PlannedMoves.StuckCache>> stuck, LongPredicate waits, long millis) {
        if (!fleet.canStart()) {
            return;
        }
        for (Map.Entry<Long, Recruit> each : List.copyOf(recruits.entrySet())) {
            if (each.getValue().leaves && !waits.test(each.getKey())) {
                forget(each.getKey());
            }
        }
        helpedNews = fleet.latest();
        List<PlannedMoves.StuckCache> due = stuck.get().stream()
                .filter(one -> isDue(one, recruit(one.cache().id(), true)))
                .toList();
        long most = asked + MOST_HELPED;
        for (PlannedMoves.StuckCache one : inOrder(due)) {
            if (asked >= most) {
                break;
            }
            long cacheId = one.cache().id();
            Recruit recruit = require(cacheId);
            boolean all = order(cacheId, recruit, () -> machines(one, isUrgent(recruit), millis))
                    && recruit.ordered >= one.missing();
            recruit.refusedAt = all ? null : Long.valueOf(nanos.getAsLong());
            recruit.refusedNews = fleet.latest();
        }
    }

    /** Returns those that end first before the others or, if one call cannot help all, those refused longest ago. */
    private List<PlannedMoves.StuckCache> inOrder(List<PlannedMoves.StuckCache> due) {
        int most = due.stream()
                .mapToInt(one -> one.shares().size() == 1 ? 1 : 1 + one.shares().size())
                .sum();
        return most <= MOST_HELPED
                ? due
                : due.stream()
                        .sorted(Comparator.comparingLong(
                                one -> refusedAt(one.cache().id())))
                        .toList();
    }

    /**
     * Returns machines for all that is missing or, if these cannot be had, for the shares that can: a cache leaves each
     * server as a whole, those that end first before the others.
     */
    private Optional<MachineOrder> machines(PlannedMoves.StuckCache stuck, boolean urgent, long millis) {
        Need need = Caches.need(stuck.cache(), millis);
        long size = stuck.cache().regionBytes();
        int refused = stuck.missing();
        asked++;
        Optional<MachineOrder> found = shopping.forMore(need, size, refused, urgent);
        if (found.isPresent()) {
            return found;
        }
        int regions = 0;
        for (int share : stuck.shares()) {
            // More than could not be had cannot be had either.
            if (regions + share >= refused) {
                continue;
            }
            asked++;
            Optional<MachineOrder> more = shopping.forMore(need, size, regions + share, urgent);
            if (more.isPresent()) {
                found = more;
                regions += share;
            } else {
                refused = regions + share;
            }
        }
        return found;
    }

    @Override
    public int ordered(long cacheId) {
        Recruit recruit = recruits.get(cacheId);
        return recruit != null && recruit.leaves && areThere(cacheId, recruit) ? recruit.ordered : 0;
    }

    @Override
    public int coming(CacheRecord cache, long end) {
        Recruit recruit = recruits.get(cache.id());
        long left = end - nanos.getAsLong();
        boolean inTime = recruit != null
                && recruit.leaves
                && isComing(cache.id(), recruit)
                && recruit.machines.stream()
                        .allMatch(machine -> machine.serves(cache.id()) || shopping.isInTime(machine, left));
        return inTime ? keptAndClaimed(cache) : 0;
    }

    /** Returns how many regions are kept for a cache, and there, and how many it has claimed of machines. */
    private int keptAndClaimed(CacheRecord cache) {
        return keptAndFree(cache) + fleet.coming(cache.id());
    }

    private int keptAndFree(CacheRecord cache) {
        return servers.keptAndFree(cache.id(), cache.threadsOfRegion(), nanos.getAsLong());
    }

    /** Whether all machines of the last order for a cache have come, or are coming. */
    private boolean areThere(long cacheId, Recruit recruit) {
        return recruit.machines.stream()
                .allMatch(one -> shopping.isExpected(one, isUrgent(recruit)) || one.serves(cacheId));
    }

    /**
     * Whether a machine is replaced that takes longer than the menu's time, since regions would be lost. If several
     * have, the menu may err.
     */
    private static boolean isUrgent(Recruit recruit) {
        return recruit.leaves && recruit.attempts < ATTEMPTS;
    }

    /** Whether a cache waits for machines or for room. */
    public boolean isWaiting(long cacheId) {
        return recruits.containsKey(cacheId);
    }

    private long refusedAt(long cacheId) {
        Long at = require(cacheId).refusedAt;
        return at == null ? Long.MIN_VALUE : at;
    }

    private boolean isDue(PlannedMoves.StuckCache stuck, Recruit recruit) {
        // Some have moved, or more have to move.
        boolean more = stuck.missing() > recruit.ordered;
        if (stuck.regions() < recruit.ordered) {
            long cacheId = stuck.cache().id();
            recruit.ordered = stuck.regions();
            fleet.limitClaims(cacheId, Math.max(0, stuck.regions() - keptAndFree(stuck.cache())));
        }
        Long at = recruit.refusedAt;
        boolean refused = at != null && nanos.getAsLong() - at < PAUSE_NANOS && fleet.latest() == recruit.refusedNews;
        return !refused
                && stuck.missing() > 0
                && (more || !areThere(stuck.cache().id(), recruit) || keptAndClaimed(stuck.cache()) < stuck.missing());
    }

    /** Whether an event since the last call of {@link #help} may help a cache. */
    public boolean hasNews() {
        return fleet.latest() != helpedNews;
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
            if (gone || !recruit.leaves && now - recruit.deadline > CALL_NANOS) {
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
