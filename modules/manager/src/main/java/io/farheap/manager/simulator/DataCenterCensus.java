package io.farheap.manager.simulator;

import org.HdrHistogram.Histogram;

/**
 * Observes a simulated data center: every five minutes how much of each cluster's memory and cores is let, every two
 * hours how much stranded memory each server reaches, and how long each stranding lasts. One thread at a time.
 */
final class DataCenterCensus {

    /** Minutes between two observations. */
    static final double LOOK = 5;

    /** Observations between two counts of what servers reach. */
    static final int REACH_LOOKS = 24;

    private static final double GIB = 1 << 30;
    private static final double TB = 1e12;
    private static final int DIGITS = 3;
    /** The histograms count thousandths of a percent, of a terabyte and of a minute. */
    private static final double PARTS = 1_000;

    private final Histogram unallocated = new Histogram(DIGITS);
    private final Histogram stranded = new Histogram(DIGITS);
    private final Histogram coresInUse = new Histogram(DIGITS);
    private final Histogram strandings = new Histogram(DIGITS);
    /** Over 1, 3 and 5 switches. */
    private final Histogram[] reach = {new Histogram(DIGITS), new Histogram(DIGITS), new Histogram(DIGITS)};

    private int looks;

    /** Observes each cluster as it is now. */
    void look(SimulatedDataCenter market) {
        Topology topology = market.topology();
        for (int cluster = 0; cluster < topology.clusters(); cluster++) {
            double servers = topology.clusterStart(cluster + 1) - topology.clusterStart(cluster);
            double gib = servers * SimulationParameters.SERVER_GIB;
            percent(unallocated, market.clusterFreeGib(cluster) / gib);
            percent(stranded, market.clusterStrandedGib(cluster) / gib);
            percent(coresInUse, 1 - market.clusterFreeCores(cluster) / (servers * SimulationParameters.SERVER_CORES));
        }
        if (looks++ % REACH_LOOKS == 0) {
            reach(market);
        }
    }

    /** A stranding of a server has ended, after this many minutes. */
    void strandingOf(double minutes) {
        strandings.recordValue(Math.round(minutes * PARTS));
    }

    private static void percent(Histogram histogram, double part) {
        histogram.recordValue(Math.round(100 * part * PARTS));
    }

    /** A server's own memory is not counted: it is no switch away. */
    private void reach(SimulatedDataCenter market) {
        Topology topology = market.topology();
        int[] racks = new int[topology.racks()];
        int[] dataCenters = new int[topology.dataCenters()];
        for (int server = 0; server < topology.servers(); server++) {
            racks[topology.rack(server)] += strandedGib(market, server);
        }
        for (int cluster = 0; cluster < topology.clusters(); cluster++) {
            dataCenters[topology.dataCenterOfCluster(cluster)] += market.clusterStrandedGib(cluster);
        }
        for (int server = 0; server < topology.servers(); server++) {
            int own = strandedGib(market, server);
            int cluster = topology.cluster(server);
            terabytes(reach[0], racks[topology.rack(server)] - own);
            terabytes(reach[1], market.clusterStrandedGib(cluster) - own);
            terabytes(reach[2], dataCenters[topology.dataCenterOfCluster(cluster)] - own);
        }
    }

    private static int strandedGib(SimulatedDataCenter market, int server) {
        return market.stranded(server) ? market.freeGib(server) : 0;
    }

    private static void terabytes(Histogram histogram, int gib) {
        histogram.recordValue(Math.round(gib * GIB / TB * PARTS));
    }

    /** Returns the percentage of a cluster's memory that is not let, over clusters and time. */
    double unallocated(double percentile) {
        return at(unallocated, percentile);
    }

    double stranded(double percentile) {
        return at(stranded, percentile);
    }

    double coresInUse(double percentile) {
        return at(coresInUse, percentile);
    }

    /** Minutes. */
    double stranding(double percentile) {
        return at(strandings, percentile);
    }

    long strandings() {
        return strandings.getTotalCount();
    }

    /**
     * Terabytes (10^12 bytes), over servers and time.
     *
     * @param level 0 for 1 switch, 1 for 3, 2 for 5
     */
    double reach(int level, double percentile) {
        return at(reach[level], percentile);
    }

    private static double at(Histogram histogram, double percentile) {
        return histogram.getValueAtPercentile(percentile) / PARTS;
    }
}
