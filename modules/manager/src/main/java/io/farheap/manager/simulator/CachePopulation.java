package io.farheap.manager.simulator;

import io.farheap.manager.allocation.Allocator;
import io.farheap.manager.allocation.CachePlacement;
import io.farheap.manager.allocation.Need;
import io.farheap.manager.allocation.NoRoomException;
import io.farheap.manager.allocation.Prices;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The caches in the memory of a simulated data center: the manager's allocator places them, and moves them when
 * machines take the memory back. Times are minutes. One thread at a time.
 */
final class CachePopulation {

    private static final double NOTICE = CostMeter.NOTICE_SECONDS / 60;
    private static final double MOVE = MemoryOffers.MOVE_SECONDS / 60;
    private static final double START = CostMeter.START_SECONDS / 60;
    private static final double RENEWAL = 5;
    private static final double SEARCH_EVERY = 10;
    /** Another placement has to save this many times what the move costs. */
    private static final double HYSTERESIS = 2;
    /**
     * Memory that was let to machines meanwhile remains on offer until the next renewal, so a placement may turn out to
     * be invalid: this many are tried.
     */
    private static final int ATTEMPTS = 5;

    private record Event(double time, long number, Runnable what) {}

    private final SimulatedDataCenter market;
    private final SimulatedCacheOptions options;
    private final CacheDemand demand;
    private final MemoryOffers offers;
    private final Prices prices = new Prices(CostMeter.menu());
    private final TimedAllocator allocator;
    private final CostMeter meter = new CostMeter();
    private final PriorityQueue<Event> events =
            new PriorityQueue<>(Comparator.comparingDouble(Event::time).thenComparingLong(Event::number));
    /** By offer: the caches that have regions there, and since when any cache has. */
    private final Map<Long, TreeMap<Long, SimulatedCache>> tenants = new HashMap<>();

    private final Map<Long, Double> since = new HashMap<>();
    private final TreeMap<Long, SimulatedCache> caches = new TreeMap<>();
    /** By server: until when its moves take, one after the other. */
    private final double[] busyUntil;

    private boolean begun;
    private long eventCount;
    private long asked;
    private long refused;
    private long reclaims;
    private long moved;
    private long lost;
    private long movedAtRelease;
    private long movedBySearch;

    CachePopulation(SimulatedDataCenter market, RandomGenerator random, SimulatedCacheOptions options) {
        this.market = market;
        this.options = options;
        demand = new CacheDemand(options.caches(), random);
        offers = new MemoryOffers(market, options.spot());
        allocator = new TimedAllocator(new Allocator(offers.stock(), prices));
        busyUntil = new double[market.topology().servers()];
    }

    /** Caches arrive from this time on. */
    void begin(double now) {
        if (options.caches() == 0) {
            return;
        }
        at(now, () -> {
            begun = true;
            meter.accrue(now);
            for (int server = 0; server < market.topology().servers(); server++) {
                offers.publish(server);
            }
            renew(now);
            arrive(demand.next(now));
        });
        if (options.searches()) {
            at(now + SEARCH_EVERY, () -> searchAgain(now + SEARCH_EVERY));
        }
    }

    void end(double now) {
        meter.accrue(now);
    }

    /** Returns the time of the next event. */
    double next() {
        Event next = events.peek();
        return next == null ? Double.POSITIVE_INFINITY : next.time();
    }

    /** Processes the next event. There must be one. */
    void step() {
        events.remove().what().run();
    }

    private void at(double time, Runnable what) {
        events.add(new Event(time, eventCount++, what));
    }

    /**
     * A server's free room has changed: if machines take memory that caches have, the caches leave within the notice.
     */
    void changed(int server, double now) {
        if (begun && offers.pressed(server)) {
            offers.leave(server, true);
            reclaims++;
            at(now, () -> leave(server, now, now + NOTICE));
            at(now + NOTICE, () -> offers.leave(server, false));
        }
    }

    void stranded(int server, double now) {
        if (begun) {
            offers.publish(server);
        }
    }

    void released(int server, double now) {
        if (!begun) {
            return;
        }
        offers.publish(server);
        if (options.releaseMoves() && offers.held(server) > 0) {
            at(now, () -> leaveReleased(server, now));
        }
    }

    private void renew(double now) {
        offers.renew();
        List.copyOf(caches.values()).stream()
                .filter(cache -> cache.homeless > 0)
                .forEach(cache -> house(cache, now));
        at(now + RENEWAL, () -> renew(now + RENEWAL));
    }

    private void arrive(double time) {
        at(time, () -> {
            create(time);
            arrive(demand.next(time));
        });
    }

    private void create(double now) {
        asked++;
        double life = demand.life();
        boolean forEver = demand.forEver();
        int gib = demand.gib();
        Need need = new Need(
                gib * CostMeter.GIB,
                forEver ? Double.POSITIVE_INFINITY : life / 60,
                offers.place(demand.server(market.topology().servers())),
                demand.objective(),
                Set.of(),
                Set.of());
        CachePlacement placement = valid(() -> allocator.place(need), need);
        if (placement == null) {
            refused++;
            return;
        }
        SimulatedCache cache = new SimulatedCache(asked, need, placement.candidate(), now, now + life, forEver);
        caches.put(cache.id, cache);
        meter.count(cache, 1, now);
        take(cache, placement.regions(), now);
        at(cache.end, () -> remove(cache, cache.end));
    }

    private void remove(SimulatedCache cache, double now) {
        caches.remove(cache.id);
        for (long offer : List.copyOf(cache.regions.keySet())) {
            give(cache, offer, now, false);
        }
        settle(cache, 0, now);
        meter.count(cache, -1, now);
    }

    private interface Choice {
        CachePlacement make() throws NoRoomException;
    }

    /** Chooses again until a placement is valid; null if none is. */
    private @Nullable CachePlacement valid(Choice choice, Need need) {
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            CachePlacement placement;
            try {
                placement = choice.make();
            } catch (NoRoomException e) {
                return null;
            }
            if (holds(placement, need)) {
                return placement;
            }
        }
        return null;
    }

    private boolean holds(CachePlacement placement, Need need) {
        boolean holds = true;
        double threads = placement.candidate().serverThreads() / (double) (need.capacity() >> 30);
        for (Map.Entry<Long, Integer> entry : placement.regions().entrySet()) {
            long offer = entry.getKey();
            int server = MemoryOffers.server(offer);
            if (offers.free(offer) < entry.getValue()
                    || MemoryOffers.kind(offer) != MemoryOffers.STRANDED
                            && offers.freeCores(server) < MemoryOffers.cores(entry.getValue(), threads)) {
                holds = false;
                offers.publish(server);
            }
        }
        if (!holds) {
            offers.renew();
        }
        return holds;
    }

    private void take(SimulatedCache cache, SortedMap<Long, Integer> regions, double now) {
        regions.forEach((offer, count) -> {
            cache.regions.merge(offer, count, Integer::sum);
            tenants.computeIfAbsent(offer, _ -> new TreeMap<>()).put(cache.id, cache);
            since.putIfAbsent(offer, now);
            meter.rent(cache, MemoryOffers.kind(offer), count, now);
            if (MemoryOffers.kind(offer) == MemoryOffers.FULL) {
                int server = MemoryOffers.server(offer);
                int cores = MemoryOffers.cores(count, cache.threads());
                cache.machines.computeIfAbsent(offer, _ -> new ArrayList<>()).add(market.take(server, cores, count));
                offers.publish(server);
            } else {
                offers.hold(offer, count, cache.threads());
            }
        });
    }

    /**
     * Gives back what a cache has by an offer.
     *
     * @param taken whether it was taken back, which is the end of that memory's life
     */
    private void give(SimulatedCache cache, long offer, double now, boolean taken) {
        int count = cache.regions.remove(offer);
        int kind = MemoryOffers.kind(offer);
        meter.rent(cache, kind, -count, now);
        if (kind == MemoryOffers.FULL) {
            cache.machines.remove(offer).forEach(market::leave);
            offers.publish(MemoryOffers.server(offer));
        } else {
            offers.hold(offer, -count, cache.threads());
        }
        TreeMap<Long, SimulatedCache> others = Objects.requireNonNull(tenants.get(offer));
        others.remove(cache.id);
        if (others.isEmpty()) {
            tenants.remove(offer);
            double from = since.remove(offer);
            if (kind != MemoryOffers.FULL) {
                prices.life(CostMeter.KINDS.get(kind).type()).add((now - from) / 60, taken);
            }
        }
    }

    /** All regions in memory that may be taken back leave a server; those that are late for the deadline are lost. */
    private void leave(int server, double now, double deadline) {
        for (int kind = MemoryOffers.STRANDED; kind <= MemoryOffers.SPOT; kind++) {
            long offer = MemoryOffers.offer(server, kind);
            for (SimulatedCache cache :
                    List.copyOf(tenants.getOrDefault(offer, new TreeMap<>()).values())) {
                int count = Objects.requireNonNull(cache.regions.get(offer));
                CachePlacement targets = targets(cache, count, server, now);
                give(cache, offer, now, true);
                if (targets == null) {
                    lost += count;
                    settle(cache, cache.homeless + count, now);
                    continue;
                }
                int late = move(targets, server, now, deadline);
                moved += count - late;
                lost += late;
                // It is filled again at the rate of a move.
                meter.missed(late * MOVE);
                meter.moved(count);
                take(cache, targets.regions(), now);
            }
        }
    }

    /**
     * Moves regions to memory that is stranded, ahead of any notice: a rule of this simulation, which the manager does
     * not have.
     */
    private void leaveReleased(int server, double now) {
        long offer = MemoryOffers.offer(server, MemoryOffers.STRANDED);
        if (market.stranded(server)) {
            return;
        }
        for (SimulatedCache cache :
                List.copyOf(tenants.getOrDefault(offer, new TreeMap<>()).values())) {
            int count = Objects.requireNonNull(cache.regions.get(offer));
            CachePlacement targets = targets(cache, count, server, now);
            if (targets != null
                    && targets.regions().keySet().stream()
                            .allMatch(to -> MemoryOffers.kind(to) == MemoryOffers.STRANDED)) {
                move(targets, server, now, Double.POSITIVE_INFINITY);
                give(cache, offer, now, false);
                take(cache, targets.regions(), now);
                moved += count;
                movedAtRelease += count;
                meter.moved(count);
            }
        }
    }

    private @Nullable CachePlacement targets(SimulatedCache cache, int count, int server, double now) {
        Need need = cache.remaining(now)
                .with(cache.candidate)
                .avoiding(Set.of(
                        MemoryOffers.offer(server, MemoryOffers.STRANDED),
                        MemoryOffers.offer(server, MemoryOffers.SPOT),
                        MemoryOffers.offer(server, MemoryOffers.FULL)));
        return valid(() -> allocator.more(need, CostMeter.GIB, count, List.copyOf(cache.regions.keySet())), need);
    }

    /**
     * Moves regions one after the other; each server sends and receives one at a time.
     *
     * @return how many have not left by the deadline
     */
    private int move(CachePlacement targets, int source, double now, double deadline) {
        int late = 0;
        for (Map.Entry<Long, Integer> target : targets.regions().entrySet()) {
            int server = MemoryOffers.server(target.getKey());
            double ready = now + (MemoryOffers.kind(target.getKey()) == MemoryOffers.STRANDED ? 0 : START);
            for (int region = 0; region < target.getValue(); region++) {
                double end = Math.max(ready, Math.max(busyUntil[source], busyUntil[server])) + MOVE;
                if (end > deadline) {
                    late++;
                    continue;
                }
                busyUntil[source] = end;
                busyUntil[server] = end;
            }
        }
        return late;
    }

    /** Records how many regions of a cache have no place now. */
    private void settle(SimulatedCache cache, int homeless, double now) {
        if ((cache.homeless > 0) != (homeless > 0)) {
            meter.miss(homeless > 0 ? 1 : -1, now);
        }
        cache.homeless = homeless;
    }

    private void house(SimulatedCache cache, double now) {
        CachePlacement targets = targets(cache, cache.homeless, BestFit.NONE, now);
        if (targets != null) {
            take(cache, targets.regions(), now);
            settle(cache, 0, now);
        }
    }

    /**
     * Searches again for all of each cache that pays for its memory, and moves it if that saves more than it costs. The
     * manager's rule differs: it moves the share that costs most, of a few caches at a time.
     */
    private void searchAgain(double now) {
        for (SimulatedCache cache : List.copyOf(caches.values())) {
            boolean pays = cache.regions.keySet().stream()
                    .anyMatch(offer -> MemoryOffers.kind(offer) != MemoryOffers.STRANDED);
            if (pays && !cache.forEver && cache.homeless == 0) {
                search(cache, now);
            }
        }
        at(now + SEARCH_EVERY, () -> searchAgain(now + SEARCH_EVERY));
    }

    private void search(SimulatedCache cache, double now) {
        Need need = cache.remaining(now).with(cache.candidate).avoiding(Set.copyOf(cache.regions.keySet()));
        CachePlacement found = valid(() -> allocator.place(need), need);
        if (found == null) {
            return;
        }
        double saved = (hourly(cache, need.hours()) - found.cost()) * need.hours();
        if (saved <= HYSTERESIS * cache.gib() * CostMeter.MOVE_PRICE) {
            return;
        }
        for (long offer : List.copyOf(cache.regions.keySet())) {
            give(cache, offer, now, false);
        }
        take(cache, found.regions(), now);
        moved += cache.gib();
        movedBySearch += cache.gib();
        meter.moved(cache.gib());
    }

    private double hourly(SimulatedCache cache, double hours) {
        double sum = 0;
        for (Map.Entry<Long, Integer> entry : cache.regions.entrySet()) {
            sum += prices.hourly(
                    CostMeter.KINDS.get(MemoryOffers.kind(entry.getKey())), entry.getValue(), hours, cache.threads());
        }
        return sum;
    }

    /** Returns the counts so far. Regions are of a GiB. */
    CacheCounts counts() {
        return new CacheCounts(asked, refused, reclaims, moved, lost, movedAtRelease, movedBySearch);
    }

    record CacheCounts(
            long asked, long refused, long reclaims, long moved, long lost, long movedAtRelease, long movedBySearch) {}

    CostMeter meter() {
        return meter;
    }

    TimedAllocator allocator() {
        return allocator;
    }

    MemoryOffers offers() {
        return offers;
    }

    /** Returns the caches that live. */
    Iterable<SimulatedCache> caches() {
        return caches.values();
    }
}
