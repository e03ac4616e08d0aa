package io.farheap.manager.service.supply;

import io.farheap.command.Durations;
import io.farheap.control.ControlException;
import io.farheap.manager.ServerReport;
import io.farheap.manager.allocation.NetworkLocation;
import io.farheap.manager.provider.CapacityRequest;
import io.farheap.manager.provider.Machine;
import io.farheap.manager.provider.MachineOffer;
import io.farheap.manager.provider.Quote;
import io.farheap.manager.provider.ServerProvider;
import io.farheap.manager.service.servers.Servers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The machines that a manager has started: which of them have become servers, which are unused, and which are taken
 * back. The manager calls it with its lock; the methods of {@link ServerProvider.Listener} take that lock themselves.
 */
public final class Fleet implements ServerProvider.Listener {

    private static final System.Logger LOG = System.getLogger(Fleet.class.getName());
    /** A machine whose server has not registered after this time counts as lost. */
    private static final long LOST_NANOS = 600_000_000_000L;
    /** Allowed rounding error of a part of a thread. */
    private static final double ROUNDING = 1e-9;
    /** A machine that could not be stopped is tried again after this time. */
    private static final long STOP_AGAIN_NANOS = 10_000_000_000L;
    /** A place is doubtful for this time, which is longer than most notices. */
    private static final long DOUBT_NANOS = 120_000_000_000L;

    /**
     * Room on a machine that a cache waits for.
     *
     * @param threads server threads that it needs there
     * @param firm as in {@link Servers#keep}
     */
    record MachineClaim(int regions, double threads, boolean firm) {}

    /** A machine that the manager has started. */
    public static final class StartedMachine {
        private final Machine machine;
        /** Whether its room is to be held back for caches on servers that leave. */
        private final boolean spare;
        /** By cache, as long as that waits for it. */
        private final Map<Long, MachineClaim> claims = new LinkedHashMap<>();
        /** The caches of {@link #claims} for which its server has less room than they wait for. */
        private final Set<Long> disappointed = new HashSet<>();

        private final long since;
        private @Nullable String address;
        private @Nullable String failure;
        /** Its server, once that reports. */
        private Servers.@Nullable KnownServer server;
        /** Since when no cache has anything on its server or waits for it; null otherwise. */
        private @Nullable Long emptySince;
        /** Whether its server was heard when that was looked at last. */
        private boolean heard;

        /** Whether it is empty or lost for so long that it will be stopped, as soon as that is on disk. */
        private boolean stopping;

        private boolean stopped;
        /** When it could not be stopped last; null if it could, or was not tried. */
        private @Nullable Long notStoppedAt;
        /** Until when it runs, if it was taken back before its server was known. */
        private @Nullable Long reclaimedUntil;

        private StartedMachine(Machine machine, boolean spare, long since) {
            this.machine = machine;
            this.spare = spare;
            this.since = since;
        }

        /** Returns how many of its regions caches wait for. */
        int claimedRegions() {
            return claims.values().stream().mapToInt(MachineClaim::regions).sum();
        }

        /** Returns how many server threads these need. */
        double claimedThreads() {
            return claims.values().stream().mapToDouble(MachineClaim::threads).sum();
        }

        MachineOffer lot() {
            return machine.lot();
        }

        /** Whether it may still become a server. */
        boolean isComing() {
            return failure == null && server == null && !stops() && reclaimedUntil == null;
        }

        /** Whether it has become a server that stays and has the room that a cache waits for. */
        boolean serves(long cacheId) {
            return server != null && !server.record.leaving() && !server.ended && !disappointed.contains(cacheId);
        }

        private boolean stops() {
            return stopping || stopped;
        }

        /** Returns why it does not start; null if it has started or may still start. */
        @Nullable
        String failure() {
            return failure;
        }
    }

    private final Servers servers;
    private final ReentrantLock lock;
    private final Condition changed;
    private final LongSupplier nanos;
    private final long idleNanos;
    private final Consumer<ServerReport> reports;
    private final Map<Machine, StartedMachine> machines = new LinkedHashMap<>();
    /** Those of {@link #machines} that are not servers yet, in the order in which they were started. */
    private final Set<StartedMachine> starting = new LinkedHashSet<>();
    /** By cache: the machines of which it has claimed room, in the order of its claims. */
    private final Map<Long, Set<StartedMachine>> claimed = new HashMap<>();
    /** By server: until when it serves, for servers that were taken back and do not know it. */
    private final Map<Long, Long> reclaimed = new HashMap<>();

    /** Machines that were taken back before their servers were known. */
    private final Set<StartedMachine> reclaimedEarly = new HashSet<>();
    /** By place: when a spot machine was taken back there last, or did not start. */
    private final Map<NetworkLocation, Long> lostAt = new HashMap<>();

    private @Nullable ServerProvider provider;
    /** Counts events; written with the lock. */
    private volatile long news;

    /** Whether the provider may have machines that it did not have before. */
    private boolean marketChanged;

    private @Nullable Long failedAt;

    /**
     * @param changed a condition of {@code lock}, signalled if an allocation that found no room may find some now
     * @param reports takes a report as if its server had sent it again; called without the lock
     */
    public Fleet(
            Servers servers,
            ReentrantLock lock,
            Condition changed,
            LongSupplier nanos,
            long idleNanos,
            Consumer<ServerReport> reports) {
        this.servers = servers;
        this.lock = lock;
        this.changed = changed;
        this.nanos = nanos;
        this.idleNanos = idleNanos;
        this.reports = reports;
    }

    /** Sets the provider, which this does not own. */
    public void use(ServerProvider from) {
        provider = from;
    }

    boolean canStart() {
        return provider != null;
    }

    List<MachineOffer> menu() {
        return provider == null ? List.of() : provider.menu();
    }

    Optional<Quote> cheapest(CapacityRequest wish) {
        return provider == null ? Optional.empty() : provider.cheapest(wish);
    }

    /** Sets {@link #marketChanged} when machines of these offers can be had again. */
    void watch(Collection<MachineOffer> lots) {
        if (provider != null) {
            for (MachineOffer lot : lots) {
                provider.tellWhenAvailable(lot.type(), lot.spot());
            }
        }
    }

    /** Whether the provider may have machines that it did not have at the last call. */
    boolean marketChanged() {
        boolean was = marketChanged;
        marketChanged = false;
        return was;
    }

    /**
     * Starts machines.
     *
     * @param spare whether their room is to be held back
     */
    List<StartedMachine> start(Quote quote, boolean spare) {
        List<StartedMachine> started = new ArrayList<>();
        if (provider != null) {
            for (MachineOffer lot : quote.machines()) {
                Machine machine = provider.start(lot);
                StartedMachine hired = new StartedMachine(machine, spare, nanos.getAsLong());
                machines.put(machine, hired);
                starting.add(hired);
                started.add(hired);
                LOG.log(System.Logger.Level.INFO, "starting a server of type " + lot);
                machine.address().whenComplete((address, failure) -> serves(hired, address, failure));
            }
        }
        return started;
    }

    /** Signals a change that may help a waiting cache. */
    @SuppressWarnings("NonAtomicVolatileUpdate")
    public void news() {
        news++;
        changed.signalAll();
    }

    /** Returns a number that changes with each event that may help a cache that waits for servers. Any thread. */
    public long latest() {
        return news;
    }

    private void serves(StartedMachine hired, @Nullable String address, @Nullable Throwable failure) {
        ServerReport last = null;
        lock.lock();
        try {
            hired.address = address;
            // The server may have reported before its address was known here.
            servers.all()
                    .filter(server ->
                            server.report != null && server.record.address().equals(address))
                    .findFirst()
                    .ifPresent(server -> becomes(hired, server));
            if (hired.server != null && reclaimedEarly.contains(hired)) {
                becomesKnown(hired, hired.server.record.id());
                last = hired.server.report;
            }
            if (failure != null) {
                Throwable why = failure instanceof CompletionException ? failure.getCause() : failure;
                hired.failure = String.valueOf(why == null ? failure.getMessage() : why.getMessage());
                machines.remove(hired.machine);
                starting.remove(hired);
                reclaimedEarly.remove(hired);
                failedAt = nanos.getAsLong();
                if (!hired.stops()) {
                    doubt(hired.lot());
                }
                LOG.log(
                        System.Logger.Level.WARNING,
                        "a server of type " + hired.lot() + " does not start: " + hired.failure);
            }
            news();
        } finally {
            lock.unlock();
        }
        takesBack(last);
    }

    /** The provider has taken a server back that has reported; null for none. Called without the lock. */
    private void takesBack(@Nullable ServerReport last) {
        if (last != null) {
            try {
                reports.accept(last);
            } catch (ControlException e) {
                // Its notice is known, and comes with its next report.
                LOG.log(System.Logger.Level.DEBUG, "a server that is taken back cannot be told yet: " + e.getMessage());
            }
        }
    }

    private void becomesKnown(StartedMachine hired, long serverId) {
        if (hired.reclaimedUntil != null) {
            reclaimed.put(serverId, hired.reclaimedUntil);
        }
        reclaimedEarly.remove(hired);
    }

    private void doubt(MachineOffer lot) {
        if (lot.spot()) {
            lostAt.put(NetworkLocation.parse(lot.place()), nanos.getAsLong());
        }
    }

    /**
     * Whether a spot machine of a place was taken back shortly before, or did not start. The provider may still offer
     * others there: it may learn late that it has none, or take them back one after the other.
     */
    boolean isDoubtful(NetworkLocation place) {
        Long at = lostAt.get(place);
        return at != null && nanos.getAsLong() - at < DOUBT_NANOS;
    }

    /** Whether a machine has failed to start after that time. */
    boolean failedSince(long then) {
        return failedAt != null && failedAt - then > 0;
    }

    /** Returns machines of which room will be spare, and that are not servers yet. */
    List<StartedMachine> comingSpares() {
        return starting.stream()
                .filter(hired -> hired.isComing() && (hired.spare || hired.claims.isEmpty()))
                .toList();
    }

    /** Returns for how long a machine has been starting, or was started. */
    long age(StartedMachine hired) {
        return nanos.getAsLong() - hired.since;
    }

    /**
     * Returns machines that may still become servers, of which caches may wait for the room.
     *
     * @param spares whether those are among them of which the room will be held back for caches on servers that leave
     */
    List<StartedMachine> coming(boolean spares) {
        return starting.stream()
                .filter(hired -> hired.isComing() && (spares || !hired.spare))
                .toList();
    }

    /** A cache waits for room on a machine. */
    void claim(StartedMachine hired, long cacheId, MachineClaim claim) {
        hired.claims.put(cacheId, claim);
        claimed.computeIfAbsent(cacheId, _ -> new LinkedHashSet<>()).add(hired);
        keepClaimed(hired, cacheId, claim);
    }

    /** A server may have less room than its machine was expected to have: those that claimed it first get it. */
    private void keepClaimed(StartedMachine hired, long cacheId, MachineClaim claim) {
        Servers.KnownServer server = hired.server;
        if (server == null) {
            return;
        }
        double threads = claim.threads() / claim.regions();
        int there = Math.min(claim.regions(), servers.free(server, threads * (1 - ROUNDING)));
        if (there > 0) {
            servers.keep(server.record.id(), cacheId, there, threads, claim.firm());
        }
        if (there < claim.regions()) {
            hired.disappointed.add(cacheId);
        }
    }

    /** A cache does not wait for machines any more. */
    void unclaim(long cacheId) {
        Set<StartedMachine> its = claimed.remove(cacheId);
        if (its != null) {
            for (StartedMachine hired : its) {
                hired.claims.remove(cacheId);
                hired.disappointed.remove(cacheId);
            }
        }
    }

    /** Returns what a cache has claimed, by machine, in the order of its claims. */
    Map<StartedMachine, MachineClaim> claims(long cacheId) {
        Map<StartedMachine, MachineClaim> its = new LinkedHashMap<>();
        for (StartedMachine hired : claimed.getOrDefault(cacheId, Set.of())) {
            MachineClaim claim = hired.claims.get(cacheId);
            if (claim != null) {
                its.put(hired, claim);
            }
        }
        return its;
    }

    /** A cache claims again what it had claimed before {@link #unclaim}; what servers keep for it has not changed. */
    void claimAgain(long cacheId, Map<StartedMachine, MachineClaim> claims) {
        claims.forEach((hired, claim) -> {
            hired.claims.put(cacheId, claim);
            claimed.computeIfAbsent(cacheId, _ -> new LinkedHashSet<>()).add(hired);
        });
    }

    /** Returns how many regions a cache has claimed of machines that may still become servers. */
    int coming(long cacheId) {
        int regions = 0;
        for (StartedMachine hired : claimed.getOrDefault(cacheId, Set.of())) {
            MachineClaim claim = hired.claims.get(cacheId);
            regions += claim != null && hired.isComing() ? claim.regions() : 0;
        }
        return regions;
    }

    /**
     * A cache waits for fewer regions than before.
     *
     * @param most how many of them may come with machines
     */
    void limitClaims(long cacheId, int most) {
        int left = most;
        for (StartedMachine hired : claimed.getOrDefault(cacheId, Set.of())) {
            MachineClaim claim = hired.claims.get(cacheId);
            if (claim != null && hired.isComing()) {
                int part = Math.min(left, claim.regions());
                if (part == 0) {
                    hired.claims.remove(cacheId);
                } else {
                    hired.claims.put(
                            cacheId, new MachineClaim(part, part * claim.threads() / claim.regions(), claim.firm()));
                }
                left -= part;
            }
        }
    }

    /** A cache has its servers, or waits no longer: any cache may use what was started for it. */
    void release(long cacheId) {
        unclaim(cacheId);
        servers.giveUpKept(cacheId);
    }

    /** A server has reported for the first time, or with a change in its record. */
    public void reported(Servers.KnownServer server) {
        for (StartedMachine hired : machines.values()) {
            if (server.record.address().equals(hired.address)) {
                becomes(hired, server);
            }
        }
        news();
    }

    private void becomes(StartedMachine hired, Servers.KnownServer server) {
        boolean first = hired.server == null || hired.server.record.id() != server.record.id();
        hired.server = server;
        starting.remove(hired);
        if (first) {
            LOG.log(System.Logger.Level.INFO, "server " + hired.address + " of type " + hired.lot() + " has started");
            hired.claims.forEach((cacheId, claim) -> keepClaimed(hired, cacheId, claim));
        }
    }

    /** Whether the manager stops a server, or has stopped it, since no cache needs it. */
    public boolean isStopped(long serverId) {
        return machines.values().stream()
                .anyMatch(hired -> hired.stops() && hired.server != null && hired.server.record.id() == serverId);
    }

    /**
     * Chooses the machines to stop: those whose servers have been empty for long and for which no cache waits, and
     * those whose servers are lost. {@link #takeIdle} stops none of them before this is on disk: a manager that no
     * longer leads does not know which caches its successor has placed there.
     *
     * @return servers that are or will be stopped and have not reported yet that they leave
     */
    public List<Servers.KnownServer> findIdle(long now) {
        List<Servers.KnownServer> staying = new ArrayList<>();
        for (StartedMachine hired : machines.values()) {
            Servers.KnownServer server = hired.server;
            boolean lost = server == null && now - hired.since > LOST_NANOS;
            boolean heard = server != null && !servers.isSilent(server, now);
            if (!isIdle(hired)) {
                hired.emptySince = null;
            } else if (hired.emptySince == null || heard != hired.heard) {
                hired.emptySince = now;
            }
            hired.heard = heard;
            boolean waits = hired.notStoppedAt != null && now - hired.notStoppedAt < STOP_AGAIN_NANOS;
            boolean idle = hired.emptySince != null && now - hired.emptySince > idleNanos(server, heard);
            hired.stopping = !hired.stopped && !waits && (lost || idle);
            if (hired.stops() && server != null && server.report != null && !server.record.leaving()) {
                staying.add(server);
            }
        }
        return staying;
    }

    /**
     * A cache may have come to a silent server, and be cut off together with it, so that the last report says nothing:
     * it is stopped long after it was given up.
     */
    private long idleNanos(Servers.@Nullable KnownServer server, boolean heard) {
        boolean expected = server != null && !heard && !server.record.forgotten();
        return expected ? Math.max(idleNanos, 2 * servers.forgetNanos()) : idleNanos;
    }

    private boolean isIdle(StartedMachine hired) {
        Servers.KnownServer server = hired.server;
        return server != null
                && hired.claims.isEmpty()
                && !servers.keepsAny(server.record.id())
                && server.caches().isEmpty()
                && (server.report == null || server.report.held().isEmpty())
                && !servers.heldBack().containsKey(server.record.id());
    }

    /** Whether {@link #takeIdle} will return a machine. */
    public boolean hasIdle() {
        return machines.values().stream().anyMatch(hired -> hired.stopping);
    }

    /** Returns the machines that {@link #findIdle} has chosen and that are still unused: the caller stops them. */
    public List<Machine> takeIdle() {
        List<Machine> idle = new ArrayList<>();
        for (StartedMachine hired : machines.values()) {
            if (hired.stopping && (hired.server == null || isIdle(hired))) {
                hired.stopped = true;
                String why = hired.server == null ? ", which has not registered" : ", which is empty: " + hired.address;
                LOG.log(System.Logger.Level.INFO, "stopping a server of type " + hired.lot() + why);
                idle.add(hired.machine);
            }
            hired.stopping = false;
        }
        return idle;
    }

    /** A machine that {@link #takeIdle} has returned could not be stopped: it is chosen again after a while. */
    public void notStopped(Machine machine) {
        StartedMachine hired = machines.get(machine);
        if (hired != null) {
            hired.stopped = false;
            hired.notStoppedAt = nanos.getAsLong();
        }
    }

    /** Returns a report, completed by what the server itself does not know: that it is taken back. */
    public ServerReport told(ServerReport report, long now) {
        // Nearly always there are none.
        reclaimedEarly.stream()
                .filter(hired -> report.address().equals(hired.address))
                .findFirst()
                .ifPresent(hired -> becomesKnown(hired, report.serverId()));
        Long until = reclaimed.get(report.serverId());
        return until == null || report.leaving()
                ? report
                : report.leavingWithin(Math.max(0, (until - now) / 1_000_000));
    }

    @Override
    public void reclaimed(Machine machine, Duration notice) {
        ServerReport last = null;
        lock.lock();
        try {
            doubt(machine.lot());
            StartedMachine hired = machines.get(machine);
            long until = nanos.getAsLong() + Durations.capped(notice).toNanos();
            if (hired != null && hired.server != null) {
                LOG.log(System.Logger.Level.INFO, "server " + hired.address + " is taken back in " + notice);
                reclaimed.put(hired.server.record.id(), until);
                last = hired.server.report;
            } else if (hired != null) {
                LOG.log(
                        System.Logger.Level.INFO,
                        "a server of type " + hired.lot() + ", which has not registered, is taken back in " + notice);
                hired.reclaimedUntil = until;
                reclaimedEarly.add(hired);
                news();
            }
        } finally {
            lock.unlock();
        }
        takesBack(last);
    }

    @Override
    public void ended(Machine machine) {
        gone(machine);
    }

    @Override
    public void failed(Machine machine, String why) {
        LOG.log(System.Logger.Level.WARNING, "a server of type " + machine.lot() + " is gone: " + why);
        gone(machine);
    }

    private void gone(Machine machine) {
        lock.lock();
        try {
            StartedMachine hired = machines.remove(machine);
            if (hired != null && hired.server == null) {
                starting.remove(hired);
                reclaimedEarly.remove(hired);
                hired.failure = "it has ended before it registered";
                if (!hired.stops()) {
                    doubt(hired.lot());
                }
            }
            if (hired != null && hired.server != null) {
                reclaimed.remove(hired.server.record.id());
                hired.server.ended = true;
            }
            marketChanged = true;
            news();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void available(String type, boolean spot) {
        lock.lock();
        try {
            marketChanged = true;
            news();
        } finally {
            lock.unlock();
        }
    }
}
