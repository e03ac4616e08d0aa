package io.farheap.manager.service.supply;

import io.farheap.manager.AllocationCandidate;
import io.farheap.manager.allocation.Allocator;
import io.farheap.manager.allocation.MachineType;
import io.farheap.manager.allocation.Need;
import io.farheap.manager.allocation.NetworkLocation;
import io.farheap.manager.allocation.Offer;
import io.farheap.manager.allocation.Prices;
import io.farheap.manager.provider.CapacityRequest;
import io.farheap.manager.provider.MachineOffer;
import io.farheap.manager.provider.Quote;
import io.farheap.manager.service.servers.MigrationRates;
import java.util.Comparator;
import java.util.Optional;
import java.util.function.ToIntFunction;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * Chooses the machines to start for a cache that finds no room (Redy, section 6.1): of all configurations that meet its
 * objective, and of all region sizes, the cheapest machines for the regions for which the existing servers have no
 * room. Guarded by the manager's lock.
 */
public final class MachineSelector {

    private final Fleet fleet;
    private final Allocator allocator;
    private final Prices prices;
    private final MigrationRates rates;

    public MachineSelector(Fleet fleet, Allocator allocator, Prices prices, MigrationRates rates) {
        this.fleet = fleet;
        this.allocator = allocator;
        this.prices = prices;
        this.rates = rates;
    }

    /** Returns machines for a new cache; empty if the provider has none that would be enough. */
    public Optional<Quote> forNew(Need need) {
        return cheapest(need.candidates().stream().flatMap(candidate -> sizes().mapToObj(
                        size -> quote(need, candidate, size, missing(need, candidate, size)))));
    }

    private LongStream sizes() {
        return fleet.menu().stream().mapToLong(MachineOffer::regionBytes).distinct();
    }

    private int missing(Need need, AllocationCandidate candidate, long regionBytes) {
        return need.regions(regionBytes) - allocator.room(need, candidate, regionBytes);
    }

    /** Returns machines for further regions of an existing cache: its need has its one configuration. */
    Optional<Quote> forMore(Need need, long regionBytes, int regions) {
        return quote(need, need.candidates().getFirst(), regionBytes, regions);
    }

    /**
     * Returns machines for an existing cache that can use one of several configurations.
     *
     * @param lacking returns the regions for which there is no room with a configuration
     */
    public Optional<Quote> forChange(Need need, long regionBytes, ToIntFunction<AllocationCandidate> lacking) {
        return cheapest(need.candidates().stream()
                .map(candidate -> quote(need, candidate, regionBytes, lacking.applyAsInt(candidate))));
    }

    private static Optional<Quote> cheapest(Stream<Optional<Quote>> quotes) {
        return quotes.flatMap(Optional::stream)
                .min(Comparator.comparingDouble(Quote::cost)
                        .thenComparingInt(quote -> quote.machines().size()));
    }

    /** Returns machines, none of them spot, for regions of a size, with cores for this many server threads a region. */
    Optional<Quote> forSpares(long regionBytes, int regions, double threads) {
        return fleet.cheapest(new CapacityRequest(
                regions, lot -> lot.spot() || lot.regionBytes() != regionBytes ? 0 : withCores(lot, threads), _ -> 0));
    }

    private int withCores(MachineOffer lot, double threads) {
        double cores = cores(lot);
        return threads == 0 || cores == Double.POSITIVE_INFINITY
                ? lot.regions()
                : (int) Math.min(lot.regions(), cores / threads);
    }

    private Optional<Quote> quote(Need need, AllocationCandidate candidate, long regionBytes, int missing) {
        if (missing < 1) {
            return Optional.empty();
        }
        int total = need.regions(regionBytes);
        return fleet.cheapest(new CapacityRequest(
                missing,
                lot -> lot.regionBytes() == regionBytes ? room(lot, need, candidate, total) : 0,
                lot -> lot.regions() * prices.risk(lot.kind(), need.hours())));
    }

    /** Returns how many of a cache's regions have room on a machine that no other cache uses. */
    private int room(MachineOffer lot, Need need, AllocationCandidate candidate, int total) {
        boolean forEver = need.hours() == Double.POSITIVE_INFINITY;
        NetworkLocation place = NetworkLocation.parse(lot.place());
        if (lot.spot() && forEver || !need.place().reaches(place, candidate.switches())) {
            return 0;
        }
        int free = lot.regions();
        if (lot.spot()) {
            free = (int)
                    Math.min(free, rates.leavable(lot.type(), lot.noticeMillis(), lot.regionBytes(), prices.menu()));
        }
        return new Offer(0, lot.kind(), place, free, cores(lot)).room(total, candidate.serverThreads());
    }

    private double cores(MachineOffer lot) {
        MachineType type = prices.menu().find(lot.type());
        return type == null ? Double.POSITIVE_INFINITY : type.cores();
    }
}
