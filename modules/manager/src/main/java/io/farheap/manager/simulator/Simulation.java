package io.farheap.manager.simulator;

import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/**
 * A simulated data center and the caches in it over some days; the same seed gives the same results. One thread at a
 * time.
 */
final class Simulation implements SimulatedDataCenter.Watcher {

    /** It gives independent streams of numbers, which are the same on each Java. */
    static final String GENERATOR = "L64X128MixRandom";

    private final DataCenterCensus census = new DataCenterCensus();
    private final SimulatedDataCenter market;
    private final CachePopulation farMemory;
    private final double begin;
    private final double end;

    Simulation(int servers, double days, long seed, SimulatedCacheOptions options) {
        Topology topology = Topology.of(servers);
        market = new SimulatedDataCenter(topology, new MachineDemand(topology, generator(seed, "market")), this);
        farMemory = new CachePopulation(market, generator(seed, "caches"), options);
        begin = SimulationParameters.WARM_UP_DAYS * MachineDemand.DAY;
        end = begin + days * MachineDemand.DAY;
    }

    /** The draws of caches do not change those of machines, so that runs with and without caches can be compared. */
    private static RandomGenerator generator(long seed, String use) {
        return RandomGeneratorFactory.of(GENERATOR).create(31 * seed + use.hashCode());
    }

    /** Runs the simulation; called once. */
    void run() {
        market.populate();
        double look = begin;
        farMemory.begin(begin);
        while (look < end) {
            double next = Math.min(market.next(), farMemory.next());
            while (look <= next && look < end) {
                census.look(market);
                look += DataCenterCensus.LOOK;
            }
            if (farMemory.next() < market.next()) {
                farMemory.step();
            } else {
                market.step();
            }
        }
        farMemory.end(end);
    }

    DataCenterCensus census() {
        return census;
    }

    SimulatedDataCenter market() {
        return market;
    }

    CachePopulation farMemory() {
        return farMemory;
    }

    @Override
    public void changed(int server, double now) {
        farMemory.changed(server, now);
    }

    @Override
    public void stranded(int server, double now) {
        farMemory.stranded(server, now);
    }

    @Override
    public void released(int server, double since, double now) {
        farMemory.released(server, now);
        if (now >= begin) {
            census.strandingOf(now - since);
        }
    }
}
