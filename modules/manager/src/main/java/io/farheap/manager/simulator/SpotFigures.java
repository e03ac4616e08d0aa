package io.farheap.manager.simulator;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * What a manager did on a simulated spot market.
 *
 * @param options of the simulation
 * @param ends spot machines that were taken back, by the manager's count, within what it remembers
 * @param meanAtFifty the estimated mean life in hours after {@value #ENOUGH_ENDS} ends, of which all machines of a rack
 *     that was taken are one; not a number if there were fewer
 * @param drawnAtFifty the average life in hours that those machines have drawn which had started then: what chance has
 *     made of the true mean
 * @param meanAtEnd the estimated mean life in hours at the end
 * @param moves moves that clients made, for whatever reason
 * @param early those ahead of a notice
 * @param needless early ones off machines that would have stayed for ten minutes more
 * @param samples observations of a spot server with free regions
 * @param closed those in which it offered none, by the rate at which caches leave
 * @param asked caches that were asked for
 * @param refused those that got no room
 * @param refusedBesideRoom those for which there was room on servers, on machines that come, or at the provider
 * @param started machines that the manager ordered
 * @param needed machines that one order book would have ordered: for all that waits, less all that comes
 * @param left regions on spot machines that got their notice
 * @param lost regions whose content was lost with a machine
 * @param lostInTurn those of caches that had to leave other machines within the same notice, without the next ones
 * @param lostAbsent those of caches whose client was away when its alert came, and would have been in time otherwise
 * @param failed reports of moves that the manager refused, and caches that it ended before their time
 */
record SpotFigures(
        SpotMarketOptions options,
        int ends,
        double meanAtFifty,
        double drawnAtFifty,
        double meanAtEnd,
        long moves,
        long early,
        long needless,
        long samples,
        long closed,
        long asked,
        long refused,
        long refusedBesideRoom,
        long started,
        long needed,
        long left,
        long lost,
        long lostInTurn,
        long lostAbsent,
        long failed) {

    /** So many machines have to end before the estimate of the mean is compared with the truth. */
    static final int ENOUGH_ENDS = 50;

    private static final double MEAN_TOLERANCE = 0.2;
    private static final double MOST_NEEDLESS = 0.05;
    private static final double MOST_STARTED = 1.2;
    private static final double MOST_LOST = 0.1;
    /** If racks are taken: a manager that does not spread machines over racks loses more. */
    private static final double MOST_LOST_WITH_RACKS = 0.05;

    /** Returns the part of moves that were not needed. */
    double needlessPart() {
        return moves == 0 ? 0 : (double) needless / moves;
    }

    /** Returns the part of the regions on machines with a notice that were lost. */
    double lostPart() {
        return left == 0 ? 0 : (double) lost / left;
    }

    /** Returns how many machines were started for each that was needed. */
    double startedPart() {
        return needed == 0 ? 1 : (double) started / needed;
    }

    /** Returns the targets that were missed, each as a part of a sentence; empty if all were met. */
    List<String> missed() {
        List<String> missed = new ArrayList<>();
        boolean enough = !Double.isNaN(meanAtFifty);
        if (enough && isOff(meanAtFifty)) {
            missed.add(String.format(
                    Locale.ROOT,
                    "the estimated mean after %d ends is %.2f h instead of %.2f h; lives were drawn of %.2f h",
                    ENOUGH_ENDS,
                    meanAtFifty,
                    options.meanHours(),
                    drawnAtFifty));
        }
        if (enough && isOff(meanAtEnd)) {
            missed.add(String.format(
                    Locale.ROOT,
                    "the estimated mean at the end is %.2f h instead of %.2f h",
                    meanAtEnd,
                    options.meanHours()));
        }
        if (needlessPart() > MOST_NEEDLESS) {
            missed.add(String.format(Locale.ROOT, "%.1f%% of moves were not needed", 100 * needlessPart()));
        }
        if (closed > 0) {
            missed.add(closed + " of " + samples + " times a spot server with free regions offered none");
        }
        if (refusedBesideRoom > 0) {
            missed.add(refusedBesideRoom + " of " + asked + " caches were refused beside room");
        }
        if (startedPart() > MOST_STARTED) {
            missed.add(started + " machines were started, and " + needed + " were needed");
        }
        // A few racks may happen to have more.
        if (lostPart() > (enough && options.lives() == SpotLifeForm.RACK ? MOST_LOST_WITH_RACKS : MOST_LOST)) {
            missed.add(lost + " of " + left + " regions on machines with a notice were lost");
        }
        if (failed > 0) {
            missed.add(failed + " times the manager refused a report, or ended a cache before its time");
        }
        return missed;
    }

    JsonObject json() {
        JsonObject json = new JsonObject();
        json.addProperty("lives", options.lives().text());
        json.addProperty("seed", options.seed());
        json.addProperty("days", options.days());
        json.addProperty("caches_at_a_time", options.caches());
        json.addProperty("true_mean_hours", options.meanHours());
        SimulationReport.put(json, "mean_hours_after_50_ends", meanAtFifty);
        SimulationReport.put(json, "drawn_mean_hours_after_50_ends", drawnAtFifty);
        SimulationReport.put(json, "mean_hours_at_end", meanAtEnd);
        json.addProperty("ends", ends);
        json.addProperty("moves", moves);
        json.addProperty("early_moves", early);
        json.addProperty("needless_moves", needless);
        json.addProperty("observations", samples);
        json.addProperty("observations_without_offer", closed);
        json.addProperty("caches_asked", asked);
        json.addProperty("caches_refused", refused);
        json.addProperty("caches_refused_beside_room", refusedBesideRoom);
        json.addProperty("machines_started", started);
        json.addProperty("machines_needed", needed);
        json.addProperty("regions_noticed", left);
        json.addProperty("regions_lost", lost);
        json.addProperty("regions_lost_in_turn", lostInTurn);
        json.addProperty("regions_lost_absent", lostAbsent);
        json.addProperty("refused_reports", failed);
        JsonArray targets = new JsonArray();
        missed().forEach(targets::add);
        json.add("missed_targets", targets);
        return json;
    }

    private boolean isOff(double mean) {
        return Math.abs(mean / options.meanHours() - 1) > MEAN_TOLERANCE;
    }
}
