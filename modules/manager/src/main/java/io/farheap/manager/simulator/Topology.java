package io.farheap.manager.simulator;

import io.farheap.manager.allocation.NetworkLocation;

/**
 * The places of servers in a network of three levels (Redy, section 5.2): two servers are 1 switch apart in a rack, 3
 * in a cluster, 5 in a data center. Servers of a rack, a cluster and a data center have adjacent numbers, from 0.
 * Immutable.
 */
final class Topology {

    private final int servers;
    private final int clusters;
    private final int dataCenters;
    /** First server of each rack, and one past the last. */
    private final int[] rackStarts;

    private final int[] rackOf;

    /** Builds a topology by {@link SimulationParameters}; its parts are of nearly the same size. */
    static Topology of(int servers) {
        int clusters = Math.max(1, Math.round((float) servers / SimulationParameters.CLUSTER_SERVERS));
        return new Topology(
                servers,
                clusters,
                Math.max(1, clusters / SimulationParameters.DATA_CENTER_CLUSTERS),
                Math.max(1, Math.round((float) servers / clusters / SimulationParameters.RACK_SERVERS)));
    }

    private Topology(int servers, int clusters, int dataCenters, int racksPerCluster) {
        this.servers = servers;
        this.clusters = clusters;
        this.dataCenters = dataCenters;
        rackStarts = new int[clusters * racksPerCluster + 1];
        rackOf = new int[servers];
        for (int cluster = 0; cluster < clusters; cluster++) {
            int first = clusterStart(cluster);
            int size = clusterStart(cluster + 1) - first;
            for (int rack = 0; rack < racksPerCluster; rack++) {
                rackStarts[cluster * racksPerCluster + rack] = first + part(size, rack, racksPerCluster);
            }
        }
        rackStarts[clusters * racksPerCluster] = servers;
        for (int rack = 0; rack < racks(); rack++) {
            for (int server = rackStarts[rack]; server < rackStarts[rack + 1]; server++) {
                rackOf[server] = rack;
            }
        }
    }

    private static int part(int whole, int index, int parts) {
        return (int) ((long) whole * index / parts);
    }

    int servers() {
        return servers;
    }

    int clusters() {
        return clusters;
    }

    int dataCenters() {
        return dataCenters;
    }

    int racks() {
        return rackStarts.length - 1;
    }

    /** Returns the first server of a rack; for the number of racks, the number of servers. */
    int rackStart(int rack) {
        return rackStarts[rack];
    }

    int clusterStart(int cluster) {
        return part(servers, cluster, clusters);
    }

    int rack(int server) {
        return rackOf[server];
    }

    int clusterOfRack(int rack) {
        return rack / (racks() / clusters);
    }

    int cluster(int server) {
        return clusterOfRack(rackOf[server]);
    }

    int dataCenterOfCluster(int cluster) {
        return (int) ((long) cluster * dataCenters / clusters);
    }

    NetworkLocation placeOfRack(int rack) {
        int cluster = clusterOfRack(rack);
        return new NetworkLocation("dc" + dataCenterOfCluster(cluster), "c" + cluster, "r" + rack);
    }
}
