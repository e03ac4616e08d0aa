package io.farheap.manager.service.supply;

import io.farheap.manager.allocation.NetworkLocation;
import io.farheap.manager.provider.MachineOffer;
import io.farheap.manager.provider.Quote;
import io.farheap.manager.service.servers.Servers;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Spreads the spot machines that are started over the racks of a cluster in which the same ones can be had: a market
 * may take all machines of a rack at once, and then a cache that has regions on several of them leaves these one after
 * the other within one notice. Guarded by the manager's lock.
 */
final class RackSpread {

    /** An offer and its place. */
    private record PlacedOffer(MachineOffer lot, NetworkLocation place) {

        private PlacedOffer(MachineOffer lot) {
            this(lot, RackSpread.place(lot));
        }
    }

    /** Machines are counted again after this time: there may be thousands of them. */
    private static final long PAUSE_NANOS = 1_000_000_000L;

    private final Servers servers;
    private final Fleet fleet;
    private final LongSupplier nanos;
    /** By place: spot machines that are there, those that leave included, or that come. */
    private final Map<NetworkLocation, Integer> crowd = new HashMap<>();
    /** The servers among them. */
    private final List<Servers.KnownServer> there = new ArrayList<>();

    private @Nullable Long countedAt;

    RackSpread(Servers servers, Fleet fleet, LongSupplier nanos) {
        this.servers = servers;
        this.fleet = fleet;
        this.nanos = nanos;
    }

    /**
     * Returns as many machines of the same cost, and with as much room for the cache. Those on spot are in the racks
     * that have the fewest spot machines of the cache, and then the fewest of all, and in {@linkplain Fleet#isDoubtful
     * doubtful} ones only if no other rack has any.
     */
    Quote of(long cacheId, MachineOrder order) {
        List<MachineOffer> chosen = order.quote().machines();
        if (chosen.stream().noneMatch(MachineOffer::spot)) {
            return order.quote();
        }
        count();
        Map<NetworkLocation, Integer> own = own(cacheId, order);
        List<PlacedOffer> menu = fleet.menu().stream().map(PlacedOffer::new).toList();
        Map<MachineOffer, List<PlacedOffer>> alike = new HashMap<>();
        Map<MachineOffer, Integer> taken = new HashMap<>();
        List<MachineOffer> spread = new ArrayList<>();
        for (MachineOffer lot : chosen) {
            PlacedOffer best = alike.computeIfAbsent(lot, each -> alike(each, menu, order.room())).stream()
                    .filter(other ->
                            taken.getOrDefault(other.lot(), 0) < other.lot().available())
                    .min(Comparator.<PlacedOffer>comparingInt(other -> fleet.isDoubtful(other.place()) ? 1 : 0)
                            .thenComparingInt(other -> own.getOrDefault(other.place(), 0))
                            .thenComparingInt(other -> crowd.getOrDefault(other.place(), 0))
                            .thenComparingInt(other -> other.place().equals(place(lot)) ? 0 : 1))
                    .orElseGet(() -> new PlacedOffer(lot));
            taken.merge(best.lot(), 1, Integer::sum);
            if (lot.spot()) {
                own.merge(best.place(), 1, Integer::sum);
                crowd.merge(best.place(), 1, Integer::sum);
            }
            spread.add(best.lot());
        }
        return new Quote(spread, order.quote().cost());
    }

    private void count() {
        long now = nanos.getAsLong();
        if (countedAt != null && now - countedAt < PAUSE_NANOS) {
            return;
        }
        countedAt = now;
        crowd.clear();
        there.clear();
        servers.all().filter(server -> server.record.spot() && !server.ended).forEach(there::add);
        there.forEach(server -> crowd.merge(place(server), 1, Integer::sum));
        fleet.coming(true).stream()
                .filter(machine -> machine.lot().spot())
                .forEach(machine -> crowd.merge(place(machine.lot()), 1, Integer::sum));
    }

    /** Returns by place on how many spot machines a cache has regions that stay, or gets some without more machines. */
    private Map<NetworkLocation, Integer> own(long cacheId, MachineOrder order) {
        Map<NetworkLocation, Integer> own = new HashMap<>();
        there.stream()
                .filter(server -> !server.record.leaving()
                        && (server.caches().contains(cacheId) || order.free().containsKey(server.record.id())))
                .forEach(server -> own.merge(place(server), 1, Integer::sum));
        order.coming().keySet().stream()
                .filter(machine -> machine.lot().spot())
                .forEach(machine -> own.merge(place(machine.lot()), 1, Integer::sum));
        return own;
    }

    private static NetworkLocation place(Servers.KnownServer server) {
        return NetworkLocation.parse(server.record.place());
    }

    private static NetworkLocation place(MachineOffer lot) {
        return NetworkLocation.parse(lot.place());
    }

    /** Returns the offers that differ from one at most in their rack, and in how many can be had; all are on spot. */
    private static List<PlacedOffer> alike(MachineOffer lot, List<PlacedOffer> menu, ToIntFunction<MachineOffer> room) {
        if (!lot.spot()) {
            return List.of();
        }
        NetworkLocation place = place(lot);
        int wanted = room.applyAsInt(lot);
        return menu.stream()
                .filter(other -> isAlike(lot, other.lot())
                        && place.dataCenter().equals(other.place().dataCenter())
                        && place.cluster().equals(other.place().cluster())
                        && room.applyAsInt(other.lot()) == wanted)
                .toList();
    }

    private static boolean isAlike(MachineOffer lot, MachineOffer other) {
        return lot.kind().equals(other.kind())
                && lot.price() == other.price()
                && lot.regions() == other.regions()
                && lot.noticeMillis() == other.noticeMillis();
    }
}
