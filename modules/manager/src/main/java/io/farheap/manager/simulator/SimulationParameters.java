package io.farheap.manager.simulator;

import java.util.List;

/**
 * The parameters of the simulated data center. The paper's traces are not public, so these numbers were fitted by hand
 * to the quantiles that it prints (Redy, section 2.1, figures 1 and 2): none of them was observed.
 * docs/design/simulation.md says how they were found.
 */
final class SimulationParameters {

    /** For reports: what was fitted, and is not the paper's. */
    static final List<String> FITTED = List.of(
            "sizes of machines, and how often each is asked for",
            "memory a core, in all clusters and by their load",
            "lives of machines: two log-normals and the part of the long ones",
            "peak over trough of arrivals in a day",
            "load of the least and the most loaded cluster, and between them",
            "what memory weighs beside cores in the search for the best fit",
            "servers in a rack, in a cluster and in a data center");

    private SimulationParameters() {}

    /** Of each server: as many cores as the largest machine has; a machine of 64 cores and 8 GiB a core never fits. */
    static final int SERVER_CORES = 64;

    static final int SERVER_GIB = 384;

    /** With 8% of 384 GiB stranded, 1 TB within a rack takes 31 of them. */
    static final int RACK_SERVERS = 32;

    static final int CLUSTER_SERVERS = 1_000;

    /** With 8% of 384 GiB stranded, 100 TB within a data center takes some 3,000 servers. */
    static final int DATA_CENTER_CLUSTERS = 3;

    /** Sizes of machines, and how often each is asked for. */
    static final int[] CORES = {1, 2, 4, 8, 16, 32, 64};

    static final double[] CORES_WEIGHTS = {0.30, 0.30, 0.22, 0.12, 0.05, 0.009, 0.001};

    static final int[] GIB_PER_CORE = {2, 4, 8};

    /** How often a core comes with each of these memory sizes. */
    static final double[] MEMORY_WEIGHTS = {0.32, 0.40, 0.28};

    /** Median life in minutes of most machines, which do something short. */
    static final double SHORT_MEDIAN = 30;

    static final double SHORT_SIGMA = 0.55;

    /** Median life in minutes of the tail: services, which have nearly all cores at any time. */
    static final double LONG_MEDIAN = 1_580;

    static final double LONG_SIGMA = 1.5;

    static final double LONG_PART = 0.10;

    /** Peak over trough of arrivals in a day. */
    static final double SWING = 2;

    /** Cores that are asked for, as a part of the existing ones, in the least and the most loaded cluster. */
    static final double LEAST_LOAD = 0.722;

    static final double MOST_LOAD = 0.996;

    /** Above 1: most clusters are nearer to the least. */
    static final double LOAD_BEND = 2.6;

    /**
     * What is added to the weight of 2 GiB a core and taken from that of 8, in the least and the most loaded cluster.
     */
    static final double LEAST_LIGHT = -0.2;

    static final double MOST_LIGHT = 0.137;

    static final double LIGHT_BEND = 1.05;

    /** In the search for the best fit, a GiB that is left over weighs as much as this many cores. */
    static final double GIB_WEIGHT = 0.083;

    /** Not measured: in this time the simulation forgets its start. */
    static final double WARM_UP_DAYS = 2;
}
