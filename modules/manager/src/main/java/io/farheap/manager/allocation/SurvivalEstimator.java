package io.farheap.manager.allocation;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * How long machines of a type live, from those that were seen: Kaplan and Meier's estimate, in which a machine that
 * still lives counts for as long as it has. Until {@value #ENOUGH} have ended it knows an average alone, which somebody
 * gave it, and takes lives to be exponential. Not thread-safe.
 */
public final class SurvivalEstimator {

    private static final int ENOUGH = 10;
    /** What was seen so long ago says little of today, and costs time. */
    private static final int MOST = 1_000;

    private final double givenMean;
    /** Hours to how many have ended, and how many were seen no longer. */
    private final TreeMap<Double, int[]> seen = new TreeMap<>();

    private int ends;
    private int count;
    /** Of the curve: hours to the part that lives longer. */
    private final TreeMap<Double, Double> curve = new TreeMap<>();

    private boolean stale;
    private double mean;

    /** @param givenMean hours */
    public SurvivalEstimator(double givenMean) {
        if (!(givenMean > 0)) {
            throw new IllegalArgumentException("an average life of " + givenMean + " h; it is more than 0");
        }
        this.givenMean = givenMean;
    }

    /**
     * A machine has ended, or will be seen no longer.
     *
     * @param hours that it has lived
     * @param ended false: it lives on
     */
    public void add(double hours, boolean ended) {
        if (count >= MOST) {
            halve();
        }
        seen.computeIfAbsent(Math.max(0, hours), _ -> new int[2])[ended ? 0 : 1]++;
        count++;
        ends += ended ? 1 : 0;
        stale = true;
    }

    /** Machines that were seen for as long. */
    public record SurvivalObservation(double hours, int ended, int longer) {}

    /** All that it has from {@link #add}, for another of these. */
    public List<SurvivalObservation> seen() {
        return seen.entrySet().stream()
                .map(at -> new SurvivalObservation(at.getKey(), at.getValue()[0], at.getValue()[1]))
                .toList();
    }

    /** What another has seen, in place of what this has. */
    public void load(List<SurvivalObservation> other) {
        seen.clear();
        count = 0;
        ends = 0;
        for (SurvivalObservation one : other) {
            seen.put(one.hours(), new int[] {one.ended(), one.longer()});
            count += one.ended() + one.longer();
            ends += one.ended();
        }
        stale = true;
    }

    /** Forgets every other one. */
    private void halve() {
        boolean keep = false;
        count = 0;
        ends = 0;
        for (int[] at : seen.values()) {
            for (int i = 0; i < at.length; i++) {
                int before = at[i];
                at[i] = before / 2 + (keep && before % 2 == 1 ? 1 : 0);
                keep = keep == (before % 2 == 0);
            }
            ends += at[0];
            count += at[0] + at[1];
        }
        seen.values().removeIf(at -> at[0] + at[1] == 0);
    }

    /** The part of machines that live for longer than so many hours. */
    public double beyond(double hours) {
        if (ends < ENOUGH) {
            return Math.exp(-hours / givenMean);
        }
        update();
        Map.Entry<Double, Double> step = curve.floorEntry(hours);
        return step == null ? 1 : step.getValue();
    }

    /** How likely a machine ends within some hours that has lived for others. */
    public double endsWithin(double age, double hours) {
        double now = beyond(age);
        return now == 0 ? 1 : 1 - beyond(age + hours) / now;
    }

    /** Hours. Of a curve that does not come down to 0, up to the oldest that was seen. */
    public double mean() {
        if (ends < ENOUGH) {
            return givenMean;
        }
        update();
        return mean;
    }

    private void update() {
        if (!stale) {
            return;
        }
        stale = false;
        curve.clear();
        double alive = 1;
        double area = 0;
        double last = 0;
        int atRisk = count;
        for (Map.Entry<Double, int[]> at : seen.entrySet()) {
            area += alive * (at.getKey() - last);
            last = at.getKey();
            if (at.getValue()[0] > 0) {
                alive *= 1 - (double) at.getValue()[0] / atRisk;
                curve.put(last, alive);
            }
            atRisk -= at.getValue()[0] + at.getValue()[1];
        }
        // Ten that end at once have a mean of nothing, which nobody can divide by.
        mean = Math.max(area, Double.MIN_NORMAL);
    }
}
