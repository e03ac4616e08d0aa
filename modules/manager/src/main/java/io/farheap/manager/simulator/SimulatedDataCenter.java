package io.farheap.manager.simulator;

import java.util.Arrays;

/**
 * Servers and the machines on them: arrivals are packed by {@link BestFit}, and departures give back what they had. A
 * machine for which its cluster has no room is refused. Times are minutes from the beginning. One thread at a time.
 */
final class SimulatedDataCenter {

    /** Is notified of changes, after they were made. */
    interface Watcher {

        /** A server's free room has changed. */
        void changed(int server, double now);

        /** A server has no free core left, so that its free memory cannot be let. */
        void stranded(int server, double now);

        /** It has a free core again. */
        void released(int server, double since, double now);
    }

    /** A server with less free memory is not stranded (Redy, section 2.1: 1 GB). */
    static final int STRANDED_GIB = 1;

    private static final double NEVER = Double.NaN;

    private final Topology topology;
    private final MachineDemand demand;
    private final Watcher watcher;
    private final BestFit[] rooms;
    private final int[] freeCores;
    private final int[] freeGib;
    private final double[] strandedSince;
    private final int[] clusterFreeCores;
    private final int[] clusterFreeGib;
    private final int[] clusterStrandedGib;

    private final DepartureQueue departures = new DepartureQueue();
    /** By machine: its server. */
    private int[] machineServers = new int[1024];

    private short[] machineCores = new short[1024];
    private short[] machineGib = new short[1024];
    /** Numbers that no machine uses. */
    private int[] unused = new int[0];

    private int unusedCount;
    private int machineCount;
    private double nextArrival;
    private double now;
    private long arrivals;
    private long refused;

    SimulatedDataCenter(Topology topology, MachineDemand demand, Watcher watcher) {
        this.topology = topology;
        this.demand = demand;
        this.watcher = watcher;
        int servers = topology.servers();
        freeCores = new int[servers];
        freeGib = new int[servers];
        strandedSince = new double[servers];
        Arrays.fill(freeCores, SimulationParameters.SERVER_CORES);
        Arrays.fill(freeGib, SimulationParameters.SERVER_GIB);
        Arrays.fill(strandedSince, NEVER);
        rooms = new BestFit[topology.clusters()];
        clusterFreeCores = new int[rooms.length];
        clusterFreeGib = new int[rooms.length];
        clusterStrandedGib = new int[rooms.length];
        for (int cluster = 0; cluster < rooms.length; cluster++) {
            int first = topology.clusterStart(cluster);
            int size = topology.clusterStart(cluster + 1) - first;
            rooms[cluster] =
                    new BestFit(first, size, SimulationParameters.SERVER_CORES, SimulationParameters.SERVER_GIB);
            clusterFreeCores[cluster] = size * SimulationParameters.SERVER_CORES;
            clusterFreeGib[cluster] = size * SimulationParameters.SERVER_GIB;
        }
    }

    /**
     * Starts as after a long time: with as many machines as there are on average, and with what is left of their lives.
     */
    void populate() {
        for (int machine = demand.population(); machine > 0; machine--) {
            int cluster = demand.cluster();
            int cores = demand.cores();
            start(cluster, cores, cores * demand.gibPerCore(cluster), demand.remainingLife());
        }
        nextArrival = demand.next(now);
    }

    /** Returns the time of the next event. */
    double next() {
        return Math.min(nextArrival, departures.next());
    }

    /** Processes the next event. */
    void step() {
        if (departures.next() <= nextArrival) {
            now = departures.next();
            leave(departures.remove());
            return;
        }
        now = nextArrival;
        arrivals++;
        int cluster = demand.cluster();
        int cores = demand.cores();
        if (start(cluster, cores, cores * demand.gibPerCore(cluster), demand.life()) == BestFit.NONE) {
            refused++;
        }
        nextArrival = demand.next(now);
    }

    /**
     * Starts a machine in a cluster, by best fit.
     *
     * @return the server, or {@link BestFit#NONE}
     */
    int start(int cluster, int cores, int gib, double life) {
        int server = rooms[cluster].find(cores, gib);
        if (server != BestFit.NONE) {
            departures.add(now + life, take(server, cores, gib));
        }
        return server;
    }

    /**
     * Starts a machine on a server that has room for it; it stays until {@link #leave}.
     *
     * @return the machine's number
     */
    int take(int server, int cores, int gib) {
        int machine = unusedCount > 0 ? unused[--unusedCount] : machineCount++;
        if (machine == machineServers.length) {
            machineServers = Arrays.copyOf(machineServers, 2 * machine);
            machineCores = Arrays.copyOf(machineCores, 2 * machine);
            machineGib = Arrays.copyOf(machineGib, 2 * machine);
        }
        machineServers[machine] = server;
        machineCores[machine] = (short) cores;
        machineGib[machine] = (short) gib;
        change(server, -cores, -gib);
        return machine;
    }

    void leave(int machine) {
        if (unusedCount == unused.length) {
            unused = Arrays.copyOf(unused, machineServers.length);
        }
        unused[unusedCount++] = machine;
        change(machineServers[machine], machineCores[machine], machineGib[machine]);
    }

    private void change(int server, int cores, int gib) {
        int cluster = topology.cluster(server);
        double since = strandedSince[server];
        boolean wasStranded = !Double.isNaN(since);
        if (wasStranded) {
            clusterStrandedGib[cluster] -= freeGib[server];
            strandedSince[server] = NEVER;
        }
        freeCores[server] += cores;
        freeGib[server] += gib;
        clusterFreeCores[cluster] += cores;
        clusterFreeGib[cluster] += gib;
        rooms[cluster].update(server, freeCores[server], freeGib[server]);
        watcher.changed(server, now);
        if (wasStranded) {
            watcher.released(server, since, now);
        }
        if (freeCores[server] == 0 && freeGib[server] >= STRANDED_GIB) {
            clusterStrandedGib[cluster] += freeGib[server];
            strandedSince[server] = now;
            watcher.stranded(server, now);
        }
    }

    int freeCores(int server) {
        return freeCores[server];
    }

    int freeGib(int server) {
        return freeGib[server];
    }

    boolean stranded(int server) {
        return !Double.isNaN(strandedSince[server]);
    }

    int clusterFreeCores(int cluster) {
        return clusterFreeCores[cluster];
    }

    int clusterFreeGib(int cluster) {
        return clusterFreeGib[cluster];
    }

    int clusterStrandedGib(int cluster) {
        return clusterStrandedGib[cluster];
    }

    Topology topology() {
        return topology;
    }

    /** Returns the time in minutes. */
    double now() {
        return now;
    }

    /** Returns how many machines were asked for after the beginning. */
    long arrivals() {
        return arrivals;
    }

    /** Returns how many of these were refused for want of room. */
    long refused() {
        return refused;
    }
}
