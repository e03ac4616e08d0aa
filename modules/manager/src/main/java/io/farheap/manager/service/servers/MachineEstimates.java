package io.farheap.manager.service.servers;

import io.farheap.manager.LeavingRate;
import io.farheap.manager.LifeEstimate;
import io.farheap.manager.LifeEstimate.RackLives;
import io.farheap.manager.allocation.Prices;
import io.farheap.manager.allocation.SurvivalEstimator;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Describes for people what is estimated of types of machines. Guarded by the manager's lock. */
public final class MachineEstimates {

    private final Servers servers;
    private final Prices prices;
    private final MigrationRates rates;

    public MachineEstimates(Servers servers, Prices prices, MigrationRates rates) {
        this.servers = servers;
        this.prices = prices;
        this.rates = rates;
    }

    /**
     * Returns what is estimated of the lives of spot servers, for each type that has any.
     *
     * @param ending the servers that are expected to end soon
     * @param now by the manager's clock, in ns
     * @param millis the time of day
     */
    public List<LifeEstimate> lives(Set<Long> ending, long now, long millis) {
        Map<String, List<Servers.KnownServer>> living = servers.all()
                .filter(server -> server.record.spot() && !server.record.leaving() && !servers.isSilent(server, now))
                .collect(Collectors.groupingBy(server -> server.record.type()));
        SortedSet<String> types = new TreeSet<>(living.keySet());
        types.addAll(prices.lifeTypes());
        List<LifeEstimate> estimates = new ArrayList<>();
        for (String type : types) {
            SurvivalEstimator life = prices.life(type);
            int ends = 0;
            int censored = 0;
            for (SurvivalEstimator.SurvivalObservation seen : life.seen()) {
                ends += seen.ended();
                censored += seen.longer();
            }
            List<Servers.KnownServer> here = living.getOrDefault(type, List.of());
            if (ends + censored + here.size() > 0) {
                estimates.add(new LifeEstimate(
                        type, ends, censored, life.mean(), life.isObserved(), racks(here, ending, millis)));
            }
        }
        return estimates;
    }

    private static List<RackLives> racks(List<Servers.KnownServer> living, Set<Long> ending, long millis) {
        Map<String, List<Servers.KnownServer>> racks = living.stream()
                .collect(Collectors.groupingBy(server -> server.record.place(), TreeMap::new, Collectors.toList()));
        return racks.entrySet().stream()
                .map(rack -> new RackLives(
                        rack.getKey(),
                        rack.getValue().size(),
                        rack.getValue().stream()
                                .mapToDouble(server ->
                                        Math.max(0, millis - server.record.sinceMillis()) / SpotLives.MILLIS_AN_HOUR)
                                .max()
                                .orElse(0),
                        rack.getValue().stream()
                                .filter(server -> ending.contains(server.record.id()))
                                .map(server -> server.record.address())
                                .sorted()
                                .toList()))
                .toList();
    }

    /** Returns how fast caches leave servers, for each type that has any or that was observed. */
    public List<LeavingRate> rates() {
        SortedSet<String> types =
                servers.all().map(server -> server.record.type()).collect(Collectors.toCollection(TreeSet::new));
        types.addAll(rates.types());
        return types.stream()
                .map(type -> new LeavingRate(
                        type, rates.bytesPerSecond(type), rates.observed(type) > 0, rates.samples(type)))
                .toList();
    }
}
