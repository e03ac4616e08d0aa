package io.farheap.manager.simulator;

import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/** A market and the caches in it over some days, the same for the same seed. One thread at a time. */
final class Simulation implements Market.Watcher {

    /** Its streams of numbers are independent, and the same on each Java. */
    private static final String GENERATOR = "L64X128MixRandom";

    private final Census census = new Census();
    private final Market market;
    private final FarMemory farMemory;
    private final double begin;
    private final double end;

    Simulation(int servers, double days, long seed, CacheOptions options) {
        Topology topology = Topology.of(servers);
        market = new Market(topology, new Demand(topology, generator(seed, "market")), this);
        farMemory = new FarMemory(market, generator(seed, "caches"), options);
        begin = Parameters.WARM_UP_DAYS * Demand.DAY;
        end = begin + days * Demand.DAY;
    }

    /** What caches draw does not change what the market draws, so that runs with and without them compare. */
    private static RandomGenerator generator(long seed, String use) {
        return RandomGeneratorFactory.of(GENERATOR).create(31 * seed + use.hashCode());
    }

    /** Once. */
    void run() {
        market.populate();
        double look = begin;
        farMemory.begin(begin);
        while (look < end) {
            double next = Math.min(market.next(), farMemory.next());
            while (look <= next && look < end) {
                census.look(market);
                look += Census.LOOK;
            }
            if (farMemory.next() < market.next()) {
                farMemory.step();
            } else {
                market.step();
            }
        }
        farMemory.end(end);
    }

    Census census() {
        return census;
    }

    Market market() {
        return market;
    }

    FarMemory farMemory() {
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
