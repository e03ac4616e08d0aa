package io.farheap.manager.simulator;

import com.google.gson.JsonObject;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What becomes of one scheme's ranges if servers fail at once, and how evenly it loads servers.
 *
 * @param spare servers of a group beyond k + r, l; null without groups
 * @param lossFormula probability that data is lost, by the paper's formula
 * @param lossExact the same by an exact count. For two choices it is that of random servers, as in the paper
 * @param losses trials in which data was lost
 * @param trials simulated failures, each of a new placement
 * @param covered how many of the sets of r + 1 servers of a group have a range in common, of 1; the exact count takes
 *     all to have one. 1 without groups
 * @param imbalance slabs of the server with the most, for each that servers have on average, of the first trial
 * @param leftOver servers that are in no group and have no slabs
 * @param paper what the paper says of this row; null if it says nothing
 */
record PlacementRow(
        PlacementScheme scheme,
        PlacementOptions options,
        @Nullable Integer spare,
        double lossFormula,
        double lossExact,
        int losses,
        int trials,
        double covered,
        double imbalance,
        int leftOver,
        @Nullable String paper) {

    /** A simulation that by chance differs from the exact probability as rarely as this is taken to be wrong. */
    static final double RARE = 0.0027;

    static final String HEAD = String.format(
            Locale.ROOT,
            "%-14s %8s %6s %3s %3s %3s %7s %12s %12s %12s %10s %7s %9s %6s  %s",
            "scheme",
            "servers",
            "slabs",
            "k",
            "r",
            "l",
            "failed",
            "formula %",
            "exact %",
            "simulated %",
            "stderr %",
            "trials",
            "imbalance",
            "left",
            "paper");

    /** Returns the standard error that a simulation with that many trials has if the exact probability is right. */
    double standardError() {
        return Math.sqrt(lossExact * (1 - lossExact) / trials);
    }

    /** Returns the part of the trials in which data was lost. */
    double lossSimulated() {
        return (double) losses / trials;
    }

    /** Whether chance alone hardly makes the simulation differ so much from the exact probability. */
    boolean deviates() {
        return chance() < RARE;
    }

    /**
     * Returns the probability that as many losses as there were, or a number still further from the expected one, come
     * by chance, on either side: twice that of the nearer tail of the binomial distribution.
     */
    double chance() {
        return Math.clamp(2 * Math.min(atMost(losses), 1 - atMost(losses - 1)), 0.0, 1.0);
    }

    /** Returns the probability of at most some number of losses, if the exact probability is right. */
    private double atMost(int most) {
        if (lossExact == 0 || most >= trials) {
            return most < 0 ? 0 : 1;
        }
        if (lossExact == 1) {
            return 0;
        }
        // The logarithm of the probability of each number of losses, which itself may be too small for a double.
        double log = trials * Math.log1p(-lossExact);
        double odds = Math.log(lossExact) - Math.log1p(-lossExact);
        double sum = 0;
        for (int count = 0; count <= most; count++) {
            sum += Math.exp(log);
            log += odds + Math.log((double) (trials - count) / (count + 1));
        }
        return Math.min(1, sum);
    }

    /**
     * Returns how many trials it takes to see that a simulation is wrong that never loses data; infinite if none would
     * lose any.
     */
    double trialsNeeded() {
        return Math.ceil(Math.log(RARE / 2) / Math.log1p(-lossExact));
    }

    /** Returns what is to be said of the losses; null if the simulation confirms the exact probability. */
    @Nullable
    String remark() {
        if (deviates()) {
            return lossSimulated() < lossExact && covered < 1
                    ? String.format(
                            Locale.ROOT,
                            "fewer losses than by the exact count: %.0f%% of the sets of r + 1 servers of a group have "
                                    + "a range in common",
                            Math.floor(100 * covered))
                    : String.format(
                            Locale.ROOT,
                            "missed: by chance, as many or as few losses come with a probability of %.2g",
                            chance());
        }
        if (lossExact > 0 && trials < trialsNeeded()) {
            return String.format(
                    Locale.ROOT,
                    "too few trials: no loss at all would be no surprise; take at least %.0f",
                    trialsNeeded());
        }
        return null;
    }

    JsonObject json() {
        JsonObject json = new JsonObject();
        json.addProperty("scheme", scheme.text());
        json.addProperty("servers", options.servers());
        json.addProperty("slabs", options.slabs());
        json.addProperty("k", options.k());
        json.addProperty("r", options.r());
        json.addProperty("l", spare);
        json.addProperty("failed", options.failed());
        json.addProperty("loss_formula", lossFormula);
        json.addProperty("loss_exact", lossExact);
        json.addProperty("loss_simulated", lossSimulated());
        json.addProperty("loss_stderr", standardError());
        json.addProperty("trials", trials);
        json.addProperty("covered", covered);
        json.addProperty("imbalance", imbalance);
        json.addProperty("left_over", leftOver);
        json.addProperty("paper", paper);
        return json;
    }

    String text() {
        return String.format(
                        Locale.ROOT,
                        "%-14s %8d %6d %3d %3d %3s %7d %12.4g %12.4g %12.4g %10.2g %7d %9.2f %6d  %s",
                        scheme.text(),
                        options.servers(),
                        options.slabs(),
                        options.k(),
                        options.r(),
                        spare == null ? "" : spare,
                        options.failed(),
                        100 * lossFormula,
                        100 * lossExact,
                        100 * lossSimulated(),
                        100 * standardError(),
                        trials,
                        imbalance,
                        leftOver,
                        paper == null ? "" : paper)
                .stripTrailing();
    }
}
