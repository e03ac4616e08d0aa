package io.farheap.manager.simulator;

import io.farheap.manager.allocation.MachineType;
import io.farheap.manager.allocation.Menu;
import io.farheap.manager.allocation.Offer.Kind;
import io.farheap.manager.allocation.Prices;
import java.util.List;
import java.util.Map;

/**
 * Sums what caches pay, and what they would have paid for other memory. Prices are assumed, near those of a public
 * cloud; only their ratios count. Times are minutes, money is dollars. One thread at a time.
 */
final class CostMeter {

    static final long GIB = 1 << 30;
    static final Kind STRANDED = new Kind("stranded", true, GIB);
    static final Kind SPOT = new Kind("vm", true, GIB);
    static final Kind FULL = new Kind("vm", false, GIB);
    /** The kind of an offer is at the offer's number modulo their count. */
    static final List<Kind> KINDS = List.of(STRANDED, SPOT, FULL);

    /** Of a machine that is let to caches. */
    static final int GIB_PER_CORE = 8;

    private static final int CORES = 8;
    static final double PRICE = 0.504;
    static final double SPOT_PRICE = 0.126;
    static final double NOTICE_SECONDS = 30;
    static final double START_SECONDS = 20;

    /** Price of moving a GiB once, for the load that it puts on other work. */
    static final double MOVE_PRICE = 0.0001;

    private static final double LOSS_PRICE = 0.01;
    private static final double LOSS_PER_RECLAIM = 0.01;
    private static final double LIFE_HOURS = 1;

    /** Cores of the client's own machine; without a cache it would have to be the next larger one. */
    private static final int CLIENT_CORES = 8;

    private final Prices rents = new Prices(menu(0, 0));
    private double last;
    private double minutesOfCaches;
    private double minutesMissed;
    private double paid;
    private double full;
    private double larger;
    private final double[] regionMinutes = new double[KINDS.size()];
    private final int[] regions = new int[KINDS.size()];
    private int caches;
    private int missing;
    private double paidRate;
    private double fullRate;
    private double largerRate;

    static Menu menu() {
        return menu(MOVE_PRICE, LOSS_PRICE);
    }

    private static Menu menu(double movePrice, double lossPrice) {
        return Menu.of(
                List.of(
                        new MachineType(
                                "stranded",
                                "",
                                0,
                                SimulationParameters.SERVER_GIB * GIB,
                                0,
                                0,
                                NOTICE_SECONDS,
                                0,
                                LIFE_HOURS),
                        new MachineType(
                                "vm",
                                "",
                                CORES,
                                CORES * GIB_PER_CORE * GIB,
                                PRICE,
                                SPOT_PRICE,
                                NOTICE_SECONDS,
                                START_SECONDS,
                                LIFE_HOURS)),
                movePrice,
                lossPrice,
                LOSS_PER_RECLAIM);
    }

    /** A cache begins (1) or ends (-1). */
    void count(SimulatedCache cache, int sign, double now) {
        accrue(now);
        caches += sign;
        fullRate += sign * rents.hourly(FULL, cache.gib(), Double.POSITIVE_INFINITY, cache.threads());
        largerRate += sign * larger(cache.gib());
    }

    /** Returns dollars an hour that a machine with so much more memory costs more. */
    static double larger(int gib) {
        int cores = CLIENT_CORES;
        while (cores * GIB_PER_CORE < CLIENT_CORES * GIB_PER_CORE + gib) {
            cores *= 2;
        }
        return (cores - CLIENT_CORES) * PRICE / CORES;
    }

    /** A cache has more (or, below 0, fewer) regions of a kind. */
    void rent(SimulatedCache cache, int kind, int more, double now) {
        accrue(now);
        regions[kind] += more;
        paidRate += rents.hourly(KINDS.get(kind), more, 1, cache.threads());
    }

    /** One more (or, for -1, one fewer) cache lacks a part of its memory. */
    void miss(int sign, double now) {
        accrue(now);
        missing += sign;
    }

    /** Adds a time during which a cache lacked a part of its memory. */
    void missed(double minutes) {
        minutesMissed += minutes;
    }

    void moved(int gib) {
        paid += gib * MOVE_PRICE;
    }

    void accrue(double now) {
        double minutes = now - last;
        last = now;
        minutesOfCaches += caches * minutes;
        minutesMissed += missing * minutes;
        paid += paidRate * minutes / 60;
        full += fullRate * minutes / 60;
        larger += largerRate * minutes / 60;
        for (int kind = 0; kind < regions.length; kind++) {
            regionMinutes[kind] += regions[kind] * minutes;
        }
    }

    double costPercentOfFullPrice() {
        return 100 * paid / full;
    }

    double costPercentOfLargerMachines() {
        return 100 * paid / larger;
    }

    /** Returns the percentage of the time of caches during which a part of the cache had no memory. */
    double objectivesMissedPercent() {
        return 100 * minutesMissed / minutesOfCaches;
    }

    /** Returns the percentage of the caches' memory on each kind of machine. */
    Map<String, Double> memoryPercents() {
        double sum = 0;
        for (double minutes : regionMinutes) {
            sum += minutes;
        }
        return Map.of(
                "stranded", 100 * regionMinutes[0] / sum,
                "spot", 100 * regionMinutes[1] / sum,
                "full_price", 100 * regionMinutes[2] / sum);
    }
}
