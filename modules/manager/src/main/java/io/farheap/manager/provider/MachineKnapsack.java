package io.farheap.manager.provider;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Finds the cheapest machines that together have room for some regions: exactly, as a knapsack that has to be full. Of
 * choices that cost the same it takes the one with the fewest machines.
 */
final class MachineKnapsack {

    /** For more regions than this it counts in larger units, and rounds the room of a machine down to those. */
    private static final int MOST_UNITS = 1 << 14;

    /** Several machines of one offer, taken together or not at all. */
    private record Bundle(MachineOffer lot, int machines, int units, double cost) {}

    private MachineKnapsack() {}

    static Optional<Quote> of(List<MachineOffer> menu, CapacityRequest wish) {
        int unit = (wish.regions() - 1) / MOST_UNITS + 1;
        int units = (wish.regions() - 1) / unit + 1;
        List<Bundle> bundles = new ArrayList<>();
        for (MachineOffer lot : menu) {
            int each = Math.min(units, wish.room().applyAsInt(lot) / unit);
            if (each > 0) {
                double cost = lot.price() + wish.burden().applyAsDouble(lot);
                int most = Math.min(lot.available(), (units - 1) / each + 1);
                // Each number of machines, up to the greatest, is a sum of some of these sizes.
                for (int size = 1; most > 0; size *= 2) {
                    int machines = Math.min(size, most);
                    bundles.add(
                            new Bundle(lot, machines, (int) Math.min(units, (long) machines * each), machines * cost));
                    most -= machines;
                }
            }
        }
        return fill(bundles, units);
    }

    private static Optional<Quote> fill(List<Bundle> bundles, int units) {
        // By units: the least cost of machines with room for at least these units, of the bundles considered so far.
        double[] cost = new double[units + 1];
        int[] machines = new int[units + 1];
        boolean[][] taken = new boolean[bundles.size()][units + 1];
        Arrays.fill(cost, 1, units + 1, Double.POSITIVE_INFINITY);
        for (int i = 0; i < bundles.size(); i++) {
            Bundle bundle = bundles.get(i);
            for (int want = units; want > 0; want--) {
                int rest = Math.max(0, want - bundle.units());
                double with = cost[rest] + bundle.cost();
                int count = machines[rest] + bundle.machines();
                if (with < cost[want]
                        || with == cost[want] && with < Double.POSITIVE_INFINITY && count < machines[want]) {
                    cost[want] = with;
                    machines[want] = count;
                    taken[i][want] = true;
                }
            }
        }
        if (cost[units] == Double.POSITIVE_INFINITY) {
            return Optional.empty();
        }
        List<MachineOffer> chosen = new ArrayList<>();
        int want = units;
        for (int i = bundles.size() - 1; i >= 0; i--) {
            if (taken[i][want]) {
                Bundle bundle = bundles.get(i);
                for (int j = 0; j < bundle.machines(); j++) {
                    chosen.add(bundle.lot());
                }
                want = Math.max(0, want - bundle.units());
            }
        }
        return Optional.of(new Quote(chosen, cost[units]));
    }
}
