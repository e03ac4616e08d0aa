package io.farheap.manager.allocation;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Estimates how long machines of a type live from those that were observed, by Kaplan and Meier's estimate: a machine
 * that still lives counts for as long as it has lived. Until {@value #ENOUGH} machines have ended it uses only the
 * average that it was given, and takes lives to be exponential. Not thread-safe.
 */
public final class SurvivalEstimator {

    private static final int ENOUGH = 10;
    /** Most observations that are kept: older ones say little of today, and cost time. */
    private static final int MOST = 1_000;

    private final double givenMean;
    /** By hours: how many machines ended then, and how many were observed no longer. */
    private final TreeMap<Double, int[]> seen = new TreeMap<>();

    private int ends;
    private int count;
    /** The survival curve: hours to the part of machines that lives longer. */
    private final TreeMap<Double, Double> curve = new TreeMap<>();

    private boolean stale;
    private double mean;

    /** @param givenMean hours that machines live on average, until enough were observed */
    public SurvivalEstimator(double givenMean) {
        if (!(givenMean > 0)) {
            throw new IllegalArgumentException("an average life of " + givenMean + " h; it is more than 0");
        }
        this.givenMean = givenMean;
    }

    /**
     * Adds a machine that has ended, or that will not be observed any longer.
     *
     * @param hours that it has lived
     * @param ended false if it lives on
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

    /**
     * Machines that were observed for equally long.
     *
     * @param hours that they have lived
     * @param ended how many ended then
     * @param longer how many were not observed any longer, and may have lived on
     */
    public record SurvivalObservation(double hours, int ended, int longer) {}

    /** Returns all observations, for {@link #load} of another estimator. */
    public List<SurvivalObservation> seen() {
        return seen.entrySet().stream()
                .map(at -> new SurvivalObservation(at.getKey(), at.getValue()[0], at.getValue()[1]))
                .toList();
    }

    /** Replaces the observations by those of another estimator. */
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

    /** Forgets every other observation. */
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

    /** Returns the part of machines, 0 to 1, that live for longer than this. */
    public double beyond(double hours) {
        if (ends < ENOUGH) {
            return Math.exp(-hours / givenMean);
        }
        update();
        Map.Entry<Double, Double> step = curve.floorEntry(hours);
        return step == null ? 1 : step.getValue();
    }

    /**
     * Returns how likely a machine of some age ends within the next hours; 0 beyond the last end that was observed, of
     * which nothing is known.
     */
    public double endsWithin(double age, double hours) {
        double now = beyond(age);
        return now == 0 ? 0 : 1 - beyond(age + hours) / now;
    }

    /**
     * Returns the average life in hours; if the curve does not come down to 0, up to the oldest life that was observed.
     */
    public double mean() {
        if (ends < ENOUGH) {
            return givenMean;
        }
        update();
        return mean;
    }

    /** Whether enough machines have ended for the estimates to rest on them, and not on the given average. */
    public boolean isObserved() {
        return ends >= ENOUGH;
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
        // Machines that all ended at once would give a mean of 0, by which callers could not divide.
        mean = Math.max(area, Double.MIN_NORMAL);
    }
}
