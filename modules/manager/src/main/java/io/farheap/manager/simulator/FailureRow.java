package io.farheap.manager.simulator;

import com.google.gson.JsonObject;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What servers and racks that fail over time cost one scheme, beside a closed form.
 *
 * @param spare servers of a group beyond k + r, l; null without groups
 * @param failures servers that failed, alone or with their rack
 * @param lossEvents failures with which at least one range was lost
 * @param lossEventsError standard error of that number
 * @param rangesLost ranges that were lost
 * @param rangesLostError standard error of that number
 * @param repaired slabs that were made again
 * @param outside those of them for which the range's group had no server
 * @param cameBack slabs outside their group that have moved there since
 * @param chain of one range, which knows no racks that are no failure domains and no wait for other ranges
 */
record FailureRow(
        PlacementScheme scheme,
        PlacementOptions options,
        FailureOptions failing,
        @Nullable Integer spare,
        long failures,
        long lossEvents,
        double lossEventsError,
        long rangesLost,
        double rangesLostError,
        long repaired,
        long outside,
        long cameBack,
        BirthDeathChain chain) {

    static final double YEAR_DAYS = 365;

    static final String HEAD = String.format(
            Locale.ROOT,
            "%-14s %3s %8s %8s %9s %12s %11s %11s %11s %11s %11s %9s",
            "scheme",
            "l",
            "domains",
            "years",
            "failures",
            "loss %/year",
            "stderr %",
            "chain %",
            "ranges/year",
            "stderr",
            "chain",
            "outside");

    /** Returns the probability that data is lost in a year. */
    double lossInAYear() {
        return 1 - Math.exp(-lossEvents / failing.years());
    }

    double lossInAYearError() {
        return (1 - lossInAYear()) * lossEventsError / failing.years();
    }

    /** Returns the ranges that are lost in a year on average, by the chain. */
    double chainRanges() {
        return options.ranges() * YEAR_DAYS / chain.meanTimeToLoss();
    }

    JsonObject json() {
        JsonObject json = new JsonObject();
        json.addProperty("scheme", scheme.text());
        json.addProperty("servers", options.servers());
        json.addProperty("slabs", options.slabs());
        json.addProperty("k", options.k());
        json.addProperty("r", options.r());
        json.addProperty("l", spare);
        json.addProperty("domains", domains());
        json.addProperty("repairs", failing.repairs());
        json.addProperty("repair_s", failing.repairSeconds());
        json.addProperty("life_days", failing.lifeDays());
        if (failing.rackLifeDays() < Double.POSITIVE_INFINITY) {
            json.addProperty("rack_life_days", failing.rackLifeDays());
        }
        json.addProperty("years", failing.years());
        json.addProperty("servers_failed", failures);
        json.addProperty("slabs_repaired", repaired);
        json.addProperty("slabs_outside", outside);
        json.addProperty("slabs_came_back", cameBack);
        json.addProperty("loss_a_year", lossInAYear());
        json.addProperty("loss_a_year_stderr", lossInAYearError());
        json.addProperty("loss_a_year_chain", chain.probability(options.ranges(), YEAR_DAYS));
        json.addProperty("ranges_lost_a_year", rangesLost / failing.years());
        json.addProperty("ranges_lost_a_year_stderr", rangesLostError / failing.years());
        json.addProperty("ranges_lost_a_year_chain", chainRanges());
        return json;
    }

    String text() {
        return String.format(
                Locale.ROOT,
                "%-14s %3s %8s %8.4g %9d %12.4g %11.2g %11.4g %11.4g %11.2g %11.4g %9d",
                scheme.text(),
                spare == null ? "" : spare,
                domains(),
                failing.years(),
                failures,
                100 * lossInAYear(),
                100 * lossInAYearError(),
                100 * chain.probability(options.ranges(), YEAR_DAYS),
                rangesLost / failing.years(),
                rangesLostError / failing.years(),
                chainRanges(),
                outside);
    }

    private String domains() {
        return failing.rackDomains() ? "racks" : "servers";
    }
}
