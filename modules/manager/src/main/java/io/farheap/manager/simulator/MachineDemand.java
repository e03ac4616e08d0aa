package io.farheap.manager.simulator;

import java.util.random.RandomGenerator;

/**
 * Draws the machines that are asked for: arrivals are a Poisson process with a daily swing for each cluster, sizes are
 * those of public clouds, and lives come from two log-normals. Times are minutes. One thread at a time.
 */
final class MachineDemand {

    static final double DAY = 24 * 60;

    private final RandomGenerator random;
    /** Machines a minute, on average, in all clusters together. */
    private final double rate;
    /** By cluster: the part of arrivals up to and including it. */
    private final double[] clusters;
    /** By cluster. */
    private final double[][] memory;

    MachineDemand(Topology topology, RandomGenerator random) {
        this.random = random;
        clusters = new double[topology.clusters()];
        memory = new double[clusters.length][];
        double sum = 0;
        for (int cluster = 0; cluster < clusters.length; cluster++) {
            double light = lightness(level(cluster, clusters.length));
            memory[cluster] = SimulationParameters.MEMORY_WEIGHTS.clone();
            memory[cluster][0] += light;
            memory[cluster][memory[cluster].length - 1] -= light;
            int servers = topology.clusterStart(cluster + 1) - topology.clusterStart(cluster);
            sum += servers * load(level(cluster, clusters.length));
            clusters[cluster] = sum;
        }
        rate = sum * SimulationParameters.SERVER_CORES / meanCores() / meanLife();
        for (int cluster = 0; cluster < clusters.length; cluster++) {
            clusters[cluster] /= sum;
        }
    }

    /**
     * Returns the position of a cluster among all clusters, 0 to 1. The clusters of each data center are spread over
     * that range.
     */
    static double level(int cluster, int clusters) {
        // Steps of a size that has no factor in common with the count reach each level once.
        int step = Math.max(1, (int) Math.round(clusters * 0.382));
        while (greatestCommonDivisor(step, clusters) > 1) {
            step++;
        }
        return ((long) cluster * step % clusters + 0.5) / clusters;
    }

    /** Returns the cores that are asked for in a cluster, as a part of those that it has. */
    static double load(double level) {
        return SimulationParameters.LEAST_LOAD
                + Math.pow(level, SimulationParameters.LOAD_BEND)
                        * (SimulationParameters.MOST_LOAD - SimulationParameters.LEAST_LOAD);
    }

    /**
     * Returns how much more often a core in such a cluster comes with the least memory, and how much less often with
     * the most.
     */
    static double lightness(double level) {
        return SimulationParameters.LEAST_LIGHT
                + Math.pow(level, SimulationParameters.LIGHT_BEND)
                        * (SimulationParameters.MOST_LIGHT - SimulationParameters.LEAST_LIGHT);
    }

    private static int greatestCommonDivisor(int a, int b) {
        return b == 0 ? a : greatestCommonDivisor(b, a % b);
    }

    private static double meanCores() {
        double sum = 0;
        for (int i = 0; i < SimulationParameters.CORES.length; i++) {
            sum += SimulationParameters.CORES[i] * SimulationParameters.CORES_WEIGHTS[i];
        }
        return sum;
    }

    private static double meanShort() {
        return SimulationParameters.SHORT_MEDIAN
                * Math.exp(SimulationParameters.SHORT_SIGMA * SimulationParameters.SHORT_SIGMA / 2);
    }

    private static double meanLong() {
        return SimulationParameters.LONG_MEDIAN
                * Math.exp(SimulationParameters.LONG_SIGMA * SimulationParameters.LONG_SIGMA / 2);
    }

    static double meanLife() {
        return (1 - SimulationParameters.LONG_PART) * meanShort() + SimulationParameters.LONG_PART * meanLong();
    }

    /** Returns when the next machine is asked for. */
    double next(double now) {
        double peak = 2 * SimulationParameters.SWING / (SimulationParameters.SWING + 1);
        double time = now;
        do {
            time -= Math.log(1 - random.nextDouble()) / (rate * peak);
        } while (random.nextDouble() * peak > swing(time));
        return time;
    }

    /** Returns the arrival rate as a part of the average rate; 1 on average over a day. */
    static double swing(double time) {
        return 1
                + (SimulationParameters.SWING - 1)
                        / (SimulationParameters.SWING + 1)
                        * Math.sin(2 * Math.PI * time / DAY);
    }

    int cluster() {
        return draw(clusters, random.nextDouble());
    }

    private static int draw(double[] cumulative, double value) {
        int low = 0;
        while (low < cumulative.length - 1 && value >= cumulative[low]) {
            low++;
        }
        return low;
    }

    int cores() {
        return SimulationParameters.CORES[weighted(SimulationParameters.CORES_WEIGHTS)];
    }

    int gibPerCore(int cluster) {
        return SimulationParameters.GIB_PER_CORE[weighted(memory[cluster])];
    }

    private int weighted(double[] weights) {
        double value = random.nextDouble();
        int i = 0;
        while (i < weights.length - 1 && value >= weights[i]) {
            value -= weights[i++];
        }
        return i;
    }

    double life() {
        return random.nextDouble() < SimulationParameters.LONG_PART
                ? logNormal(SimulationParameters.LONG_MEDIAN, SimulationParameters.LONG_SIGMA)
                : logNormal(SimulationParameters.SHORT_MEDIAN, SimulationParameters.SHORT_SIGMA);
    }

    /** Returns how many machines there are on average at any time. */
    int population() {
        return (int) Math.round(rate * meanLife());
    }

    /**
     * Draws what is left of the life of a machine that is there at the beginning: a machine that lives longer is there
     * more often, and any part of its life may have passed.
     */
    double remainingLife() {
        boolean tail = random.nextDouble() * meanLife() < SimulationParameters.LONG_PART * meanLong();
        double sigma = tail ? SimulationParameters.LONG_SIGMA : SimulationParameters.SHORT_SIGMA;
        double median = tail ? SimulationParameters.LONG_MEDIAN : SimulationParameters.SHORT_MEDIAN;
        return random.nextDouble() * logNormal(median * Math.exp(sigma * sigma), sigma);
    }

    private double logNormal(double median, double sigma) {
        return median * Math.exp(sigma * random.nextGaussian());
    }
}
