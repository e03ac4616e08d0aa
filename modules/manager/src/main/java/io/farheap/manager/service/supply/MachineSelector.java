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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * Chooses the machines to start for a cache that finds no room (Redy, section 6.1): of all configurations that meet its
 * objective, and of all region sizes, the cheapest machines for the regions for which the existing servers have no
 * room, nor the machines that are coming. Guarded by the manager's lock.
 */
public final class MachineSelector {

    /** Regions that would be lost count on a machine for at most this many times the menu's time to start. */
    private static final double LATE = 2;
    /** So long before a server ends, its regions count on no machine whose time to start is unknown or over. */
    private static final long LAST_NANOS = 10_000_000_000L;

    private static final double NANOS_A_SECOND = 1e9;

    private final Fleet fleet;
    private final Allocator allocator;
    /** Allocates from room that is held back, too. */
    private final Allocator reserve;

    private final Prices prices;
    private final MigrationRates rates;
    private final long waitNanos;

    /** @param waitNanos how long a cache waits at most for machines that are started for it */
    public MachineSelector(
            Fleet fleet, Allocator allocator, Allocator reserve, Prices prices, MigrationRates rates, long waitNanos) {
        this.fleet = fleet;
        this.allocator = allocator;
        this.reserve = reserve;
        this.prices = prices;
        this.rates = rates;
        this.waitNanos = waitNanos;
    }

    /**
     * Whether a cache may count on the room of a machine that is coming. A machine that is late may never come, and
     * would keep others from being started.
     *
     * @param urgent whether regions on a server that leaves wait, so that it is late soon
     */
    boolean isExpected(Fleet.StartedMachine machine, boolean urgent) {
        if (!machine.isComing()) {
            return false;
        }
        double startNanos = startNanos(machine);
        long age = fleet.age(machine);
        return age < waitNanos && !(urgent && startNanos > 0 && age > LATE * startNanos);
    }

    /**
     * Whether a machine that is coming is likely to serve within this time, by the menu; one whose time to start is
     * unknown or over is if the time is long.
     */
    boolean isInTime(Fleet.StartedMachine machine, long withinNanos) {
        double left = startNanos(machine) - fleet.age(machine);
        return isExpected(machine, true) && (left > 0 ? left <= withinNanos : withinNanos > LAST_NANOS);
    }

    private double startNanos(Fleet.StartedMachine machine) {
        MachineType type = prices.menu().find(machine.lot().type());
        return type == null ? 0 : type.startSeconds() * NANOS_A_SECOND;
    }

    /** Returns machines for a new cache; empty if the provider has none that would be enough. */
    public Optional<MachineOrder> forNew(Need need) {
        return cheapest(need.candidates().stream().flatMap(candidate -> sizes().mapToObj(size -> {
            int regions = need.regions(size);
            Map<Long, Integer> free = allocator.part(need, candidate, size, regions);
            return order(need, candidate, size, regions, free, false, false);
        })));
    }

    private LongStream sizes() {
        return fleet.menu().stream().mapToLong(MachineOffer::regionBytes).distinct();
    }

    /**
     * Returns machines for regions on servers that leave; none of them if there is room. The need has the cache's one
     * configuration.
     *
     * @param urgent as in {@link #isExpected}
     */
    Optional<MachineOrder> forMore(Need need, long regionBytes, int regions, boolean urgent) {
        AllocationCandidate candidate = need.candidates().getFirst();
        Map<Long, Integer> free = reserve.part(need, candidate, regionBytes, regions);
        return order(need, candidate, regionBytes, regions, free, true, urgent);
    }

    /**
     * Returns machines for an existing cache that can use one of several configurations.
     *
     * @param wanted returns how many regions need other room with a configuration
     * @param free returns where some of them have room now, by server
     */
    public Optional<MachineOrder> forChange(
            Need need,
            long regionBytes,
            ToIntFunction<AllocationCandidate> wanted,
            Function<AllocationCandidate, Map<Long, Integer>> free) {
        return cheapest(need.candidates().stream()
                .map(candidate -> order(
                        need,
                        candidate,
                        regionBytes,
                        wanted.applyAsInt(candidate),
                        free.apply(candidate),
                        false,
                        false)));
    }

    private static Optional<MachineOrder> cheapest(Stream<Optional<MachineOrder>> orders) {
        return orders.flatMap(Optional::stream)
                .min(Comparator.comparingDouble(MachineOrder::cost)
                        .thenComparingInt(order -> order.quote().machines().size()));
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

    /**
     * @param free where some of the regions have room now
     * @param leaves whether it is for regions on a server that leaves
     * @param urgent as in {@link #isExpected}
     */
    private Optional<MachineOrder> order(
            Need need,
            AllocationCandidate candidate,
            long regionBytes,
            int regions,
            Map<Long, Integer> free,
            boolean leaves,
            boolean urgent) {
        int missing =
                regions - free.values().stream().mapToInt(Integer::intValue).sum();
        // Regions on a server that leaves may have to wait until others have moved, and keep their room meanwhile.
        if (missing < 1 && !leaves) {
            return Optional.empty();
        }
        int total = need.regions(regionBytes);
        double threads = (double) candidate.serverThreads() / total;
        Map<Fleet.StartedMachine, Integer> coming = new LinkedHashMap<>();
        int left = missing;
        for (Fleet.StartedMachine machine : fleet.coming(leaves)) {
            MachineOffer lot = machine.lot();
            int part = lot.regionBytes() == regionBytes && isExpected(machine, urgent)
                    ? Math.min(
                            left, room(lot, machine.claimedRegions(), machine.claimedThreads(), need, candidate, total))
                    : 0;
            if (part > 0) {
                coming.put(machine, part);
                left -= part;
            }
        }
        ToIntFunction<MachineOffer> room =
                lot -> lot.regionBytes() == regionBytes ? room(lot, 0, 0, need, candidate, total) : 0;
        if (left == 0) {
            return Optional.of(new MachineOrder(free, coming, new Quote(List.of(), 0), 0, room, threads));
        }
        int wanted = left;
        return fleet.cheapest(
                        new CapacityRequest(wanted, room, lot -> lot.regions() * prices.risk(lot.kind(), need.hours())))
                .map(quote -> new MachineOrder(free, coming, quote, wanted, room, threads));
    }

    /**
     * Returns how many of a cache's regions have room on a machine.
     *
     * @param taken regions that others wait for
     * @param threads server threads that these need
     */
    private int room(MachineOffer lot, int taken, double threads, Need need, AllocationCandidate candidate, int total) {
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
        return new Offer(0, lot.kind(), place, Math.max(0, free - taken), Math.max(0, cores(lot) - threads))
                .room(total, candidate.serverThreads());
    }

    private double cores(MachineOffer lot) {
        MachineType type = prices.menu().find(lot.type());
        return type == null ? Double.POSITIVE_INFINITY : type.cores();
    }
}
