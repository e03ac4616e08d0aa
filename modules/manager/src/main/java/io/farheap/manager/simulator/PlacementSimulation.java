package io.farheap.manager.simulator;

import io.farheap.manager.allocation.CodingGroup;
import io.farheap.manager.allocation.GroupServer;
import io.farheap.manager.allocation.RangePlacement;
import java.util.Arrays;
import java.util.List;
import java.util.SortedMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Places all ranges of a cluster by one scheme, lets random servers fail at once, and looks whether a range has lost
 * more than r slabs; again and again, with a new placement each time. Each server is a failure domain of its own, as in
 * the paper (Hydra, section 7.2.1). One thread.
 */
final class PlacementSimulation {

    /** The paper's cluster (figure 15), of which it says how much CodingSets gain. */
    private static final int PAPER_SERVERS = 1_000;
    /** The cluster of which the paper says how much better CodingSets balance (figure 16). */
    private static final int PAPER_MOST_SERVERS = 1_000_000;

    private final PlacementOptions options;
    private final PlacementScheme scheme;
    private final int spare;
    private final List<GroupServer> servers;
    /** Slabs of each server. */
    private final int[] loads;

    private final boolean[] dead;
    /** All servers, of which those at the beginning fail. */
    private final int[] order;

    /** @param spare servers of a group beyond k + r, l; unused without groups */
    PlacementSimulation(PlacementOptions options, PlacementScheme scheme, int spare) {
        if (scheme.grouped() && (spare < 0 || options.splits() + spare > options.servers())) {
            throw new IllegalArgumentException("groups of k + r + l = " + options.splits() + " + " + spare
                    + " servers in a cluster of " + options.servers() + "; take l from 0 to "
                    + (options.servers() - options.splits()));
        }
        this.options = options;
        this.scheme = scheme;
        this.spare = spare;
        servers = PlacedCluster.servers(options.servers(), 1);
        loads = new int[options.servers()];
        dead = new boolean[options.servers()];
        order = new int[options.servers()];
        for (int i = 0; i < order.length; i++) {
            order[i] = i;
        }
    }

    /** Returns what the trials have shown. The same options give the same row. */
    PlacementRow run() {
        SplittableRandom random = new SplittableRandom(options.seed());
        int lost = 0;
        double imbalance = 0;
        int leftOver = 0;
        SortedMap<Integer, Integer> parts = new TreeMap<>();
        for (int trial = 0; trial < options.trials(); trial++) {
            PlacedCluster cluster = new PlacedCluster(scheme, servers, options.splits(), spare, random);
            kill(random);
            // The balance is that of the first trial; the others end with the first range that is lost.
            if (loses(cluster.placement(), trial > 0)) {
                lost++;
            }
            if (trial == 0) {
                imbalance = imbalance();
                leftOver = cluster.leftOver();
                parts = scheme.grouped() ? cluster.parts(options.splits()) : parts;
            }
        }
        return new PlacementRow(
                scheme,
                options,
                scheme.grouped() ? spare : null,
                formula(),
                exact(parts),
                (double) lost / options.trials(),
                options.trials(),
                imbalance,
                leftOver,
                paper());
    }

    /** Chooses the servers that fail. */
    private void kill(RandomGenerator random) {
        int failed = options.failed();
        for (int i = 0; i < failed; i++) {
            dead[order[i]] = false;
        }
        for (int i = 0; i < failed; i++) {
            int other = i + random.nextInt(order.length - i);
            int server = order[other];
            order[other] = order[i];
            order[i] = server;
        }
        for (int i = 0; i < failed; i++) {
            dead[order[i]] = true;
        }
    }

    /**
     * Places ranges, and returns whether one is lost.
     *
     * @param brief whether to end with the first range that is lost
     */
    private boolean loses(RangePlacement placement, boolean brief) {
        Arrays.fill(loads, 0);
        boolean lost = false;
        for (int range = options.ranges(); range > 0 && !(brief && lost); range--) {
            List<GroupServer> chosen = placement.choose(options.splits(), server -> loads[(int) server.id()]);
            if (chosen == null) {
                throw new IllegalStateException("a cluster without limits of room has none");
            }
            int dying = 0;
            for (GroupServer server : chosen) {
                int id = (int) server.id();
                loads[id]++;
                dying += dead[id] ? 1 : 0;
            }
            lost |= dying > options.r();
        }
        return lost;
    }

    private double imbalance() {
        long all = 0;
        int most = 0;
        for (int load : loads) {
            all += load;
            most = Math.max(most, load);
        }
        return (double) most * loads.length / all;
    }

    private double formula() {
        int size = options.splits();
        double groups = options.ranges();
        if (scheme.grouped()) {
            // A part of a group is to a small code what a group is to others.
            int parts = CodingGroup.parts(options.splits() + spare, options.splits());
            size = (options.splits() + spare) / parts;
            groups = (double) options.servers() / size;
        }
        return DataLossFormula.paper(options.servers(), options.failed(), options.r(), size, groups);
    }

    private double exact(SortedMap<Integer, Integer> parts) {
        return scheme.grouped()
                ? DataLossFormula.groups(parts, options.servers(), options.failed(), options.r())
                : DataLossFormula.random(
                        options.servers(), options.failed(), options.k(), options.r(), options.ranges());
    }

    private @Nullable String paper() {
        boolean code = options.k() == 8 && options.r() == 2;
        boolean cluster = options.servers() == PAPER_SERVERS && options.slabs() == 16 && options.failed() == 10;
        if (!code) {
            return null;
        }
        return switch (scheme) {
            case CODING_SETS ->
                switch (spare) {
                    case 0 -> "balance 1.1 times better than random (7.2.1)";
                    case 2 -> cluster ? "loss an order of magnitude below random (7.2.1)" : null;
                    case 4 ->
                        options.servers() == PAPER_MOST_SERVERS ? "balance 1.5 times better than random (7.2.1)" : null;
                    default -> null;
                };
            case TWO_CHOICES -> "balance 0 to 20% better than CodingSets with l = 2 (7.2.1)";
            case RANDOM, EMPTIER_GROUP -> null;
        };
    }
}
