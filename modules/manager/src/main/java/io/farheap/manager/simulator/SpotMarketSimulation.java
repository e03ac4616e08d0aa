package io.farheap.manager.simulator;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.manager.AllocationCandidate;
import io.farheap.manager.CacheManager;
import io.farheap.manager.CacheRequest;
import io.farheap.manager.LeavingRate;
import io.farheap.manager.LifeEstimate;
import io.farheap.manager.Reclaim;
import io.farheap.manager.Reclaim.Reason;
import io.farheap.manager.ReclaimOutcome;
import io.farheap.manager.RegionShare;
import io.farheap.manager.service.ClusterManager;
import io.farheap.manager.service.ManagerOptions;
import io.farheap.manager.service.Supply;
import io.farheap.manager.service.servers.MigrationRates;
import io.farheap.manager.simulator.SpotMarket.SpotMachine;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.jspecify.annotations.Nullable;

/**
 * A {@link ClusterManager} as it runs, with a provider that has a spot market and with clients that move their caches,
 * over some days of virtual time. Only servers, clients and the market are simulated: which moves are made, which
 * machines are started and what is estimated is the manager's doing. The same seed gives the same figures. One thread
 * at a time.
 */
final class SpotMarketSimulation implements CacheManager.Listener {

    private static final long NANOS_PER_MILLI = 1_000_000;
    private static final double MILLIS_PER_MINUTE = 60_000;
    private static final long CLIENT = 1;
    /** Between two steps while nothing waits, and while anything does. */
    private static final long IDLE_MILLIS = 10_000;

    private static final long BUSY_MILLIS = 1_000;
    /** Longer than a few steps: servers report and clients are heard in each. */
    private static final long SERVER_SILENT_MILLIS = 3 * IDLE_MILLIS;

    private static final long CLIENT_SILENT_MILLIS = 600_000;
    private static final long START_WAIT_MILLIS = 120_000;
    private static final long IDLE_MACHINE_MILLIS = 300_000;
    private static final long OBSERVE_MILLIS = 300_000;

    static final long MOVE_MILLIS = (long) (1_000 * MemoryOffers.MOVE_SECONDS);
    /** How long it takes until a client begins a move: reports, the alert, and a connection. */
    private static final long REACTION_MILLIS = 1_500;
    /** How often a client is away when an alert comes, and for how long at most. */
    private static final double AWAY_PART = 0.02;

    private static final long MOST_AWAY_MILLIS = 40_000;
    /** How many caches become smaller by a region. */
    private static final double SHRINK_PART = 0.2;
    /** How often the answer to a client's report is lost. */
    private static final double LOST_PART = 0.02;
    /** An early move is needed if its machine gets its notice within this time. */
    private static final long NEEDED_MILLIS = 600_000;

    private static final int MOST_GIB = 8;
    /** How much longer than it needs it a client asks for a cache: it closes it before others may have its room. */
    private static final long MARGIN_MILLIS = 60_000;

    /** How much later than an ordered machine could serve the order book of what is needed forgets it. */
    private static final long LATE_MILLIS = 10_000;

    private final SpotMarketOptions options;
    private final RandomGenerator random;
    private final CacheDemand demand;
    private final SpotMarket market;
    private final ClusterManager cluster;
    private final CacheManager.Attendance attendance;
    private final Map<Long, SpotCache> caches = new TreeMap<>();
    /** Alerts that came while the manager had its lock. */
    private final List<Reclaim> alerts = new ArrayList<>();
    /** Machines that have ended since the last step. */
    private final List<SpotMachine> gone = new ArrayList<>();

    private final RegionLosses losses = new RegionLosses();
    /** When machines that would have been ordered become servers. */
    private final List<Long> due = new ArrayList<>();

    private long now = 1;
    private double nextArrival;
    private long observed;
    private long ids;
    private double meanAtFifty = Double.NaN;
    private double drawnAtFifty = Double.NaN;
    private double meanAtEnd = Double.NaN;
    private int ends;
    private long moves;
    private long early;
    private long needless;
    private long samples;
    private long closed;
    private long asked;
    private long refused;
    private long refusedBesideRoom;
    private long needed;
    private long left;
    private long failed;

    SpotMarketSimulation(SpotMarketOptions options) {
        this.options = options;
        random = generator(options.seed());
        demand = new CacheDemand(options.caches(), generator(~options.seed()));
        market = new SpotMarket(options.lives(), options.meanHours(), generator(31 * options.seed() + 7), gone::add);
        cluster = new ClusterManager(
                new ForgetfulStateStore(),
                new ManagerOptions(
                        SERVER_SILENT_MILLIS * NANOS_PER_MILLI,
                        CLIENT_SILENT_MILLIS * NANOS_PER_MILLI,
                        options.earlyMoves(),
                        options.cheaperMoves(),
                        new Supply(0, START_WAIT_MILLIS * NANOS_PER_MILLI, IDLE_MACHINE_MILLIS * NANOS_PER_MILLI)),
                () -> now * NANOS_PER_MILLI,
                () -> now,
                0);
        cluster.menu(SpotMarket.MENU);
        cluster.use(market, Map.of(), "simulated:1");
        attendance = cluster.attend(CLIENT, this);
        nextArrival = demand.next(0);
    }

    private static RandomGenerator generator(long seed) {
        return RandomGeneratorFactory.of(Simulation.GENERATOR).create(seed);
    }

    /** Runs the simulation; called once. */
    SpotFigures run() {
        long end = Math.round(options.days() * MachineDemand.DAY * MILLIS_PER_MINUTE);
        while (now < end) {
            now += isBusy() ? BUSY_MILLIS : IDLE_MILLIS;
            finishMoves();
            caches.values().stream()
                    .filter(cache -> cache.isTooLarge(now))
                    .toList()
                    .forEach(this::shrink);
            market.pass(now);
            loseGone();
            endCaches();
            arrive();
            attendance.renew(Set.copyOf(caches.keySet()));
            market.machines()
                    .filter(machine -> machine.stays() || machine.leaves())
                    .forEach(this::report);
            cluster.tick();
            caches.values().stream().filter(SpotCache::waits).toList().forEach(this::ask);
            List.copyOf(alerts).forEach(this::follow);
            alerts.clear();
            countNeeded();
            if (now - observed >= OBSERVE_MILLIS) {
                observed = now;
                observe();
            }
        }
        observe();
        attendance.close();
        return new SpotFigures(
                options,
                ends,
                meanAtFifty,
                drawnAtFifty,
                meanAtEnd,
                moves,
                early,
                needless,
                samples,
                closed,
                asked,
                refused,
                refusedBesideRoom,
                market.ordered(),
                needed,
                left,
                losses.all(),
                losses.inTurn(),
                losses.absent(),
                failed);
    }

    private boolean isBusy() {
        return !due.isEmpty()
                || caches.values().stream().anyMatch(SpotCache::isBusy)
                || market.machines().anyMatch(machine -> machine.isComing() || machine.leaves());
    }

    private void report(SpotMachine machine) {
        cluster.report(machine.report());
    }

    private void arrive() {
        while (nextArrival * MILLIS_PER_MINUTE <= now) {
            long life = Math.round(demand.life() * MILLIS_PER_MINUTE);
            create(1 + random.nextInt(MOST_GIB), now + life);
            nextArrival = demand.next(nextArrival);
        }
    }

    private void create(int gib, long endsAt) {
        asked++;
        CacheRequest request = new CacheRequest(
                ++ids,
                CLIENT,
                "cache",
                gib * CostMeter.GIB,
                Math.max(0, endsAt - now) + MARGIN_MILLIS,
                "",
                List.of(AllocationCandidate.ANY));
        boolean shrinks = random.nextDouble() < SHRINK_PART;
        long shrinksAt = now + random.nextLong(Math.max(1, endsAt - now));
        caches.put(request.cacheId(), new SpotCache(request, endsAt, shrinks ? shrinksAt : Long.MAX_VALUE));
    }

    private void ask(SpotCache cache) {
        try {
            take(cache, cluster.allocate(cache.request).shares());
        } catch (ControlException e) {
            if (e.code() == Code.BUSY) {
                return;
            }
            refused++;
            refusedBesideRoom += hasRoom(cache) ? 1 : 0;
            close(cache);
        }
    }

    private void take(SpotCache cache, List<RegionShare> shares) {
        for (RegionShare share : shares) {
            SpotMachine machine = market.find(share.address());
            if (machine == null) {
                throw new IllegalStateException("cache " + cache.id() + " got room on " + share.address()
                        + ", which has ended: the simulation's machines and the manager's differ");
            }
            machine.held.merge(cache.id(), share.regions(), Integer::sum);
            cache.regions.merge(machine.number, share.regions(), Integer::sum);
        }
    }

    /** Whether a cache that was refused would fit on servers, on machines that come, or on some that can be had. */
    private boolean hasRoom(SpotCache cache) {
        int others = caches.values().stream()
                .filter(other -> other != cache && other.waits())
                .mapToInt(SpotCache::wanted)
                .sum();
        int coming = (int) market.machines().filter(SpotMachine::isComing).count() * offered();
        boolean purchasable = market.menu().stream()
                        .mapToInt(lot -> lot.available() * (lot.spot() ? offered() : lot.regions()))
                        .sum()
                >= cache.wanted() + others;
        return free() >= cache.wanted() || coming >= cache.wanted() + others || purchasable;
    }

    /** Returns how many regions a spot server offers by the rate at which caches leave such servers. */
    private int offered() {
        double rate = cluster.rates().stream()
                .filter(one -> one.type().equals(SpotMarket.TYPE))
                .mapToDouble(LeavingRate::bytesPerSecond)
                .findFirst()
                .orElse(1 / MemoryOffers.MOVE_SECONDS * CostMeter.GIB);
        double seconds = CostMeter.NOTICE_SECONDS - CostMeter.START_SECONDS - MigrationRates.REACTION_SECONDS;
        return (int) Math.min(SpotMarket.REGIONS, seconds * rate / CostMeter.GIB);
    }

    /** Returns the regions that servers have to give which stay. */
    private int free() {
        int offered = offered();
        Map<Long, Integer> reserved = new TreeMap<>();
        for (SpotCache cache : caches.values()) {
            if (cache.move != null) {
                for (RegionShare target : cache.move.alert().targets()) {
                    SpotMachine machine = market.find(target.address());
                    if (machine != null) {
                        reserved.merge(machine.number, target.regions(), Integer::sum);
                    }
                }
            }
        }
        return market.machines()
                .filter(SpotMachine::stays)
                .mapToInt(machine -> (machine.lot().spot() ? offered : SpotMarket.REGIONS)
                        - machine.heldRegions()
                        - reserved.getOrDefault(machine.number, 0))
                .filter(free -> free > 0)
                .sum();
    }

    @Override
    public void reclaim(Reclaim alert) {
        alerts.add(alert);
    }

    /** A client begins a move for which it was alerted, in place of one that it has not ended. */
    private void follow(Reclaim alert) {
        SpotCache cache = caches.get(alert.cacheId());
        SpotMachine source = market.find(alert.server());
        if (cache == null || source == null || !cache.regions.containsKey(source.number)) {
            return;
        }
        SpotCache.ClientMove before = cache.move;
        if (before != null && before.source() == source) {
            // A move that has begun continues; the client follows the new alert instead of one that still waits.
            cache.move = before.beganAt() <= now
                    ? before
                    : new SpotCache.ClientMove(alert, source, before.awayMillis(), before.beganAt(), before.endedAt());
            return;
        }
        moves++;
        if (alert.reason() == Reason.ENDS_SOON) {
            early++;
            needless += source.left() > NEEDED_MILLIS ? 1 : 0;
        }
        long away = random.nextDouble() < AWAY_PART ? random.nextLong(MOST_AWAY_MILLIS) : 0;
        int count = alert.targets().stream().mapToInt(RegionShare::regions).sum();
        // Others do not wait for a client that is away.
        long begin = away > 0 ? now + away : Math.max(source.busyUntil, now + REACTION_MILLIS);
        long end = begin + count * MOVE_MILLIS;
        source.busyUntil = away > 0 ? source.busyUntil : end;
        cache.move = new SpotCache.ClientMove(alert, source, away, begin, end);
        cache.sources.add(source);
    }

    private void finishMoves() {
        for (SpotCache cache : caches.values()) {
            SpotCache.ClientMove move = cache.move;
            if (move != null && move.endedAt() <= Math.min(now, move.source().endsAt())) {
                cache.move = null;
                finish(cache, move);
            } else if (move == null && cache.isDue(now)) {
                report(cache);
            }
        }
    }

    private void finish(SpotCache cache, SpotCache.ClientMove move) {
        for (RegionShare target : move.alert().targets()) {
            SpotMachine to = market.find(target.address());
            int there = cache.regions.getOrDefault(move.source().number, 0);
            int count =
                    to == null ? 0 : Math.min(Math.min(there, target.regions()), SpotMarket.REGIONS - to.heldRegions());
            if (to != null && count > 0) {
                put(cache, move.source(), there - count);
                put(cache, to, cache.regions.getOrDefault(to.number, 0) + count);
            }
        }
        String server = move.alert().server();
        long generation = move.alert().generation();
        ReclaimOutcome outcome = new ReclaimOutcome(server, now - move.beganAt(), now - move.endedAt());
        report(cache, generation, outcome);
        if (random.nextDouble() < LOST_PART) {
            // The manager's answer was lost on its way, so the client repeats its report.
            report(cache, generation, outcome);
        }
    }

    /** The client reports its state again, which answers no alert. */
    private void report(SpotCache cache) {
        try {
            report(cache, cluster.describe(cache.id()).allocation().generation(), null);
        } catch (ControlException e) {
            // The manager has ended the cache.
            cache.reported();
        }
    }

    private void report(SpotCache cache, long generation, @Nullable ReclaimOutcome outcome) {
        List<RegionShare> shares = new ArrayList<>();
        market.machines()
                .filter(machine -> cache.regions.containsKey(machine.number))
                .forEach(machine ->
                        shares.add(new RegionShare(machine.hostPort(), cache.regions.getOrDefault(machine.number, 0))));
        try {
            cluster.moved(cache.id(), generation, cache.wanted() * CostMeter.GIB, null, shares, outcome);
            cache.reported();
        } catch (ControlException e) {
            // As a client does it: the manager has another plan by now, and the next report answers none.
            failed += e.code() == Code.BUSY ? 0 : 1;
            cache.reportAt(now + BUSY_MILLIS);
        }
    }

    /** A client gives a region back, also while another moves. */
    private void shrink(SpotCache cache) {
        SpotMachine machine = market.machines()
                .filter(one -> cache.regions.containsKey(one.number))
                .findFirst()
                .orElseThrow();
        put(cache, machine, cache.regions.getOrDefault(machine.number, 0) - 1);
        cache.shrinks();
        report(cache);
    }

    private static void put(SpotCache cache, SpotMachine machine, int regions) {
        if (regions == 0) {
            machine.held.remove(cache.id());
            cache.regions.remove(machine.number);
        } else {
            machine.held.put(cache.id(), regions);
            cache.regions.put(machine.number, regions);
        }
    }

    /** A client that has lost regions closes its cache, and asks for another for the rest of its time. */
    private void loseGone() {
        left += gone.stream().mapToInt(SpotMachine::noticedRegions).sum();
        losses.count(gone, caches, cache -> {
            close(cache);
            create(cache.wanted(), cache.endsAt);
        });
        gone.clear();
    }

    private void endCaches() {
        caches.values().stream().filter(cache -> cache.endsAt <= now).toList().forEach(this::close);
    }

    private void close(SpotCache cache) {
        caches.remove(cache.id());
        market.machines().forEach(machine -> machine.held.remove(cache.id()));
        cluster.deallocate(cache.id());
    }

    /** Keeps the order book that the manager should have: what is missing is all that waits less all that comes. */
    private void countNeeded() {
        due.removeIf(time -> time <= now);
        int waits = caches.values().stream()
                .filter(SpotCache::waits)
                .mapToInt(SpotCache::wanted)
                .sum();
        int stuck = market.machines()
                .filter(SpotMachine::leaves)
                .flatMap(machine -> machine.held.entrySet().stream())
                .filter(held -> {
                    SpotCache cache = caches.get(held.getKey());
                    return cache != null && cache.move == null;
                })
                .mapToInt(Map.Entry::getValue)
                .sum();
        if (waits + stuck == 0) {
            return;
        }
        int offered = Math.max(1, offered());
        int missing = waits + stuck - free() - due.size() * offered;
        for (; missing > 0; missing -= offered) {
            needed++;
            due.add(now + SpotMarket.START_MILLIS + LATE_MILLIS);
        }
    }

    private void observe() {
        int offered = offered();
        long open = market.machines()
                .filter(machine ->
                        machine.stays() && machine.lot().spot() && machine.heldRegions() < SpotMarket.REGIONS)
                .count();
        samples += open;
        closed += offered == 0 ? open : 0;
        for (LifeEstimate life : cluster.lives()) {
            if (life.type().equals(SpotMarket.TYPE)) {
                ends = life.ends();
                meanAtEnd = life.meanHours();
                // Machines of a rack end together, so that a rack that is taken is one end.
                long independent = options.lives() == SpotLifeForm.RACK ? market.takes() : ends;
                if (independent >= SpotFigures.ENOUGH_ENDS && Double.isNaN(meanAtFifty)) {
                    meanAtFifty = meanAtEnd;
                    drawnAtFifty = market.drawnHours();
                }
            }
        }
    }

    @Override
    public void expiring(long cacheId, long leftMillis) {
        // Its client closes it at its end.
    }

    @Override
    public void lost(long cacheId, String server) {
        // Its client notices at the machine's end.
    }

    @Override
    public void ended(long cacheId, String why) {
        // Its client closes a cache at its end, so the manager has none to end.
        failed++;
    }

    @Override
    public void ended(ControlException why) {
        failed++;
    }
}
