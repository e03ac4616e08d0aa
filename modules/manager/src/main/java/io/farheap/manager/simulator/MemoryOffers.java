package io.farheap.manager.simulator;

import io.farheap.manager.allocation.NetworkLocation;
import io.farheap.manager.allocation.Offer;
import io.farheap.manager.allocation.Stock;

/**
 * What a simulated data center has to give to caches, as the stock from which a manager's allocator chooses: each
 * stranded server's memory and, in each rack, a machine on the server with the most free cores, and one that may be
 * taken back on the next server. The number of an offer is the server's number times the count of kinds, plus the kind.
 * One thread at a time.
 */
final class MemoryOffers {

    static final int STRANDED = 0;
    static final int SPOT = 1;
    static final int FULL = 2;
    private static final int KINDS = CostMeter.KINDS.size();

    /** Seconds to move a GiB (Redy, section 7.4: 1.09 for a GB). */
    static final double MOVE_SECONDS = 1.09 * (1 << 30) / 1e9;

    /** Regions that leave a server within its notice. */
    static final int WITHIN_NOTICE = (int) (CostMeter.NOTICE_SECONDS / MOVE_SECONDS);

    /** The same if another machine has to start first, to replace a spot machine. */
    static final int AFTER_START = (int) ((CostMeter.NOTICE_SECONDS - CostMeter.START_SECONDS) / MOVE_SECONDS);

    private final SimulatedDataCenter market;
    private final boolean spot;
    private final Stock stock = new Stock();
    private final NetworkLocation[] places;
    /** By server: memory of caches that may be taken back. */
    private final int[] heldGib;

    private final int[] heldSpotGib;
    private final double[] heldSpotCores;
    private final boolean[] leaving;
    /** By rack: the server that is offered as each kind; {@link BestFit#NONE} for none. */
    private final int[] offered;

    MemoryOffers(SimulatedDataCenter market, boolean spot) {
        this.market = market;
        this.spot = spot;
        Topology topology = market.topology();
        places = new NetworkLocation[topology.racks()];
        offered = new int[topology.racks() * KINDS];
        for (int rack = 0; rack < places.length; rack++) {
            places[rack] = topology.placeOfRack(rack);
            offered[rack * KINDS + SPOT] = BestFit.NONE;
            offered[rack * KINDS + FULL] = BestFit.NONE;
        }
        heldGib = new int[topology.servers()];
        heldSpotGib = new int[topology.servers()];
        heldSpotCores = new double[topology.servers()];
        leaving = new boolean[topology.servers()];
    }

    Stock stock() {
        return stock;
    }

    NetworkLocation place(int server) {
        return places[market.topology().rack(server)];
    }

    static long offer(int server, int kind) {
        return (long) server * KINDS + kind;
    }

    static int server(long offer) {
        return (int) (offer / KINDS);
    }

    static int kind(long offer) {
        return (int) (offer % KINDS);
    }

    /** Returns the cores of a machine for a number of regions, each with this many server threads. */
    static int cores(int regions, double threads) {
        return (int) Math.ceil(Math.max((double) regions / CostMeter.GIB_PER_CORE, regions * threads));
    }

    /** Returns how many regions an offer has now, whatever the stock says. */
    int free(long offer) {
        int server = server(offer);
        int kind = kind(offer);
        if (leaving[server] || (kind == STRANDED) != market.stranded(server)) {
            return 0;
        }
        int gib = market.freeGib(server) - heldGib[server];
        if (kind != FULL) {
            gib = Math.min(gib, (kind == SPOT ? AFTER_START : WITHIN_NOTICE) - heldGib[server]);
        }
        if (kind != STRANDED) {
            gib = Math.min(gib, (int) (CostMeter.GIB_PER_CORE * freeCores(server)));
        }
        return Math.max(0, gib);
    }

    double freeCores(int server) {
        return Math.max(0, market.freeCores(server) - heldSpotCores[server]);
    }

    /** Whether a server has less memory or fewer cores left than caches have there, and does not leave yet. */
    boolean pressed(int server) {
        return !leaving[server]
                && heldGib[server] > 0
                && (market.freeGib(server) < heldGib[server] || market.freeCores(server) < heldSpotCores[server]);
    }

    int held(int server) {
        return heldGib[server];
    }

    /** Caches have more (or, below 0, fewer) regions of a server that may be taken back. */
    void hold(long offer, int regions, double threads) {
        int server = server(offer);
        heldGib[server] += regions;
        if (kind(offer) == SPOT) {
            heldSpotGib[server] += regions;
            double cores = Math.max(1.0 / CostMeter.GIB_PER_CORE, threads) * regions;
            heldSpotCores[server] = heldSpotGib[server] == 0 ? 0 : heldSpotCores[server] + cores;
        }
        publish(server);
    }

    /** Sets whether a server offers nothing to caches. */
    void leave(int server, boolean leaves) {
        leaving[server] = leaves;
        publish(server);
    }

    /** Puts into the stock what a server has now. */
    void publish(int server) {
        publish(server, STRANDED);
        int rack = market.topology().rack(server);
        for (int kind = SPOT; kind <= FULL; kind++) {
            if (offered[rack * KINDS + kind] == server) {
                publish(server, kind);
            }
        }
    }

    private void publish(int server, int kind) {
        long number = offer(server, kind);
        int free = free(number);
        if (free == 0) {
            stock.remove(number);
            return;
        }
        double cores = kind == STRANDED ? 0 : freeCores(server);
        stock.put(new Offer(number, CostMeter.KINDS.get(kind), place(server), free, cores));
    }

    /** Finds the servers of each rack that have the most free cores now. */
    void renew() {
        Topology topology = market.topology();
        for (int rack = 0; rack < places.length; rack++) {
            int most = BestFit.NONE;
            int next = BestFit.NONE;
            for (int server = topology.rackStart(rack); server < topology.rackStart(rack + 1); server++) {
                if (free(offer(server, FULL)) == 0) {
                    continue;
                }
                if (most == BestFit.NONE || freeCores(server) > freeCores(most)) {
                    next = most;
                    most = server;
                } else if (next == BestFit.NONE || freeCores(server) > freeCores(next)) {
                    next = server;
                }
            }
            offer(rack, FULL, most);
            offer(rack, SPOT, spot ? next : BestFit.NONE);
        }
    }

    private void offer(int rack, int kind, int server) {
        int before = offered[rack * KINDS + kind];
        if (before != BestFit.NONE && before != server) {
            stock.remove(offer(before, kind));
        }
        offered[rack * KINDS + kind] = server;
        if (server != BestFit.NONE) {
            publish(server, kind);
        }
    }
}
