package io.farheap.manager.simulator;

import io.farheap.manager.AllocationCandidate;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * Draws the caches that are asked for. No data on far-memory caches has been published: capacities and durations are
 * drawn from assumed log-normals, and objectives from four kinds. Times are minutes. One thread at a time.
 */
final class CacheDemand {

    private static final double MEDIAN_GIB = 16;
    private static final double GIB_SIGMA = 1;
    private static final int MOST_GIB = 256;
    private static final double MEDIAN_LIFE = 120;
    private static final double LIFE_SIGMA = 1;
    private static final double LEAST_LIFE = 5;

    /** The part of caches that is asked for without an end, and so pays the full price; these end nevertheless. */
    private static final double FOR_EVER_PART = 0.1;

    /** As in figure 3: the least latency, a balance, the most throughput; and no objective. */
    private static final List<List<AllocationCandidate>> OBJECTIVES = List.of(
            List.of(new AllocationCandidate(1, 0)),
            List.of(new AllocationCandidate(3, 0), new AllocationCandidate(5, 1)),
            List.of(new AllocationCandidate(3, 2), new AllocationCandidate(5, 4)),
            List.of(new AllocationCandidate(5, 0)));

    private static final double[] OBJECTIVES_UP_TO = {0.2, 0.6, 0.8, 1};

    private final RandomGenerator random;
    /** Caches a minute. */
    private final double rate;

    /** @param caches the average number of caches at a time */
    CacheDemand(double caches, RandomGenerator random) {
        this.random = random;
        rate = caches / (MEDIAN_LIFE * Math.exp(LIFE_SIGMA * LIFE_SIGMA / 2));
    }

    /** Returns when the next cache is asked for; infinite if there are none. */
    double next(double now) {
        return rate == 0 ? Double.POSITIVE_INFINITY : now - Math.log(1 - random.nextDouble()) / rate;
    }

    int gib() {
        double drawn = MEDIAN_GIB * Math.exp(GIB_SIGMA * random.nextGaussian());
        return Math.clamp(Math.round(drawn), 1, MOST_GIB);
    }

    double life() {
        return Math.max(LEAST_LIFE, MEDIAN_LIFE * Math.exp(LIFE_SIGMA * random.nextGaussian()));
    }

    boolean forEver() {
        return random.nextDouble() < FOR_EVER_PART;
    }

    List<AllocationCandidate> objective() {
        double drawn = random.nextDouble();
        int kind = 0;
        while (drawn >= OBJECTIVES_UP_TO[kind]) {
            kind++;
        }
        return OBJECTIVES.get(kind);
    }

    /** Returns the server on which a client is. */
    int server(int servers) {
        return random.nextInt(servers);
    }
}
