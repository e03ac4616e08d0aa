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
 * @param lossSimulated part of the trials in which data was lost
 * @param trials simulated failures, each of a new placement
 * @param imbalance slabs of the server with the most, for each that servers have on average
 * @param leftOver servers that are in no group and have no slabs
 * @param paper what the paper says of this row; null if it says nothing
 */
record PlacementRow(
        PlacementScheme scheme,
        PlacementOptions options,
        @Nullable Integer spare,
        double lossFormula,
        double lossExact,
        double lossSimulated,
        int trials,
        double imbalance,
        int leftOver,
        @Nullable String paper) {

    /** How far the simulation may be from the exact probability, in standard errors. */
    static final double TOLERANCE = 3;

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

    /** Whether chance alone hardly makes the simulation differ so much from the exact probability. */
    boolean deviates() {
        return Math.abs(lossSimulated - lossExact) > TOLERANCE * standardError();
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
        json.addProperty("loss_simulated", lossSimulated);
        json.addProperty("loss_stderr", standardError());
        json.addProperty("trials", trials);
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
                        100 * lossSimulated,
                        100 * standardError(),
                        trials,
                        imbalance,
                        leftOver,
                        paper == null ? "" : paper)
                .stripTrailing();
    }
}
