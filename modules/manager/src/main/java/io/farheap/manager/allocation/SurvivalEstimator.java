package io.farheap.manager.allocation;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Estimates how long machines of a type live from those that were observed, by Kaplan and Meier's estimate: a machine
 * that still lives counts for as long as it has lived. Until {@value #ENOUGH} machines have ended it uses only the
 * average that it was given, and takes lives to be exponential. Beyond the last end it takes the rate at which the
 * older half of the machines has ended to continue, for prices and for the average alone. Not thread-safe.
 */
public final class SurvivalEstimator {

    private static final int ENOUGH = 10;
    private static final int MINUTES_AN_HOUR = 60;
    /** Most observations that are kept: older ones say little of today, and cost time. */
    private static final int MOST = 1_000;

    private double givenMean;
    /** In the order in which they were added. */
    private final List<SurvivalObservation> seen = new ArrayList<>();

    private int ends;
    private int count;
    /**
     * The time before which nothing is known any more, since what was observed then was forgotten; 0 if nothing was. A
     * machine that had started before counts from the age that it had then.
     */
    private double since;

    /** The ages of machines that live now. */
    private double[] living = {};

    private double livingAt;

    /** The ages from which on machines were observed, in their order; that of most is 0. */
    private double[] entries = {};
    /** The ages until which they were observed, in their order. */
    private double[] exits = {};
    /** The ages at which any ended, each once, in their order. */
    private double[] steps = {};
    /** The part of machines that live for longer than each of {@link #steps}. */
    private double[] parts = {};

    /** In how many different minutes machines have ended at the age of each of {@link #steps} or at a greater one. */
    private int[] events = {};

    private boolean stale;
    private double mean;
    /** How many of the machines that live end in an hour, beyond the last step. */
    private double lastRate;

    /** @param givenMean hours that machines live on average, until enough were observed */
    public SurvivalEstimator(double givenMean) {
        this.givenMean = requireMean(givenMean);
    }

    private static double requireMean(double hours) {
        if (!(hours > 0)) {
            throw new IllegalArgumentException("an average life of " + hours + " h; it is more than 0");
        }
        return hours;
    }

    /** Replaces the average that it was given; what was observed stays. */
    void given(double hours) {
        givenMean = requireMean(hours);
    }

    /** As {@link #add(double, boolean, double)}, of machines of which it is not known when they lived. */
    public void add(double hours, boolean ended) {
        add(hours, ended, 0);
    }

    /**
     * Adds a machine that has ended, or that will not be observed any longer.
     *
     * @param hours that it has lived
     * @param ended false if it lives on
     * @param at the time, in hours since the epoch; in later calls it is about as late or later
     */
    public void add(double hours, boolean ended, double at) {
        if (count >= MOST) {
            forgetHalf();
        }
        double life = Math.max(0, hours);
        SurvivalObservation last = seen.isEmpty() ? null : seen.getLast();
        if (last != null && last.hours == life && last.at == at) {
            seen.removeLast();
        } else {
            last = new SurvivalObservation(life, 0, 0, at);
        }
        seen.add(new SurvivalObservation(life, last.ended + (ended ? 1 : 0), last.longer + (ended ? 0 : 1), at));
        count++;
        ends += ended ? 1 : 0;
        stale = true;
    }

    /**
     * Replaces the machines that live now: they count as machines that were not observed any longer.
     *
     * @param ages hours that each of them has lived; not copied
     * @param at the time, in hours since the epoch
     */
    public void living(double[] ages, double at) {
        living = ages;
        livingAt = at;
        stale = true;
    }

    /**
     * Machines that were observed for equally long.
     *
     * @param hours that they have lived
     * @param ended how many ended then
     * @param longer how many were not observed any longer, and may have lived on
     * @param at when that was, in hours since the epoch; 0 if unknown
     */
    public record SurvivalObservation(double hours, int ended, int longer, double at) {}

    /** Returns all observations of machines that do not live now, for {@link #load} of another estimator. */
    public List<SurvivalObservation> seen() {
        return List.copyOf(seen);
    }

    /** Returns the time before which nothing is known, in hours since the epoch; 0 if nothing was forgotten. */
    public double since() {
        return since;
    }

    /** Returns how many of the {@linkplain #seen observed} machines have ended. */
    public int ends() {
        return ends;
    }

    /**
     * Replaces the observations by those of another estimator.
     *
     * @param from its {@link #since}
     */
    public void load(double from, List<SurvivalObservation> other) {
        seen.clear();
        seen.addAll(other);
        since = from;
        recount();
    }

    private void recount() {
        ends = seen.stream().mapToInt(SurvivalObservation::ended).sum();
        count = ends + seen.stream().mapToInt(SurvivalObservation::longer).sum();
        stale = true;
    }

    /** Forgets the older half of the machines, but none of those that were observed last. */
    private void forgetHalf() {
        int older = 0;
        for (int machines = 0; older < seen.size() - 1 && machines < count / 2; older++) {
            SurvivalObservation one = seen.get(older);
            machines += one.ended + one.longer;
            since = Math.max(since, one.at);
        }
        seen.subList(0, older).clear();
        recount();
    }

    /** Returns the part of machines, 0 to 1, that live for longer than this. */
    public double beyond(double hours) {
        if (ends < ENOUGH) {
            return Math.exp(-hours / givenMean);
        }
        update();
        double part = part(hours);
        double last = steps[steps.length - 1];
        return hours > last ? part * Math.exp(-lastRate * (hours - last)) : part;
    }

    /** Returns the part that lives for longer by the observed ends alone. */
    private double part(double hours) {
        int step = upTo(steps, hours);
        return step == 0 ? 1 : parts[step - 1];
    }

    /**
     * Returns how likely a machine of some age ends within the next hours, by the ends that were observed; 0 if fewer
     * than {@value #ENOUGH} machines were observed at that age or have ended at a greater one. Machines that have ended
     * within the same minute count as one of these: a market may take a rack at once, whatever the ages there.
     */
    public double endsWithin(double age, double hours) {
        if (ends < ENOUGH) {
            return 1 - Math.exp(-hours / givenMean);
        }
        update();
        double now = part(age);
        return now == 0 || upTo(entries, age) - upTo(exits, age) < ENOUGH || eventsAfter(age) < ENOUGH
                ? 0
                : 1 - part(age + hours) / now;
    }

    private int eventsAfter(double age) {
        int step = upTo(steps, age);
        return step == steps.length ? 0 : events[step];
    }

    /** Sets {@link #events}. */
    private void countEvents() {
        events = new int[steps.length];
        Set<Long> minutes = new HashSet<>();
        List<SurvivalObservation> oldestFirst = seen.stream()
                .filter(one -> one.ended > 0)
                .sorted(Comparator.comparingDouble(SurvivalObservation::hours).reversed())
                .toList();
        int next = 0;
        int unknown = 0;
        for (int i = steps.length - 1; i >= 0; i--) {
            for (; next < oldestFirst.size() && oldestFirst.get(next).hours >= steps[i]; next++) {
                SurvivalObservation one = oldestFirst.get(next);
                if (one.at == 0) {
                    unknown += one.ended;
                } else {
                    minutes.add((long) (one.at * MINUTES_AN_HOUR));
                }
            }
            events[i] = unknown + minutes.size();
        }
    }

    /** Returns the average life in hours. */
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
        double[] ended = gather();
        steps = Arrays.stream(ended).distinct().toArray();
        parts = new double[steps.length];
        double alive = 1;
        double area = 0;
        double last = 0;
        int next = 0;
        int begun = 0;
        int gone = 0;
        for (int i = 0; i < steps.length; i++) {
            double age = steps[i];
            int first = next;
            while (next < ended.length && ended[next] == age) {
                next++;
            }
            while (begun < entries.length && entries[begun] <= age) {
                begun++;
            }
            while (gone < exits.length && exits[gone] < age) {
                gone++;
            }
            area += alive * (age - last);
            last = age;
            // Others that were observed only from a greater age on have lived longer.
            int others = next - first == begun - gone && begun < entries.length ? 1 : 0;
            alive *= 1 - (double) (next - first) / (begun - gone + others);
            parts[i] = alive;
        }
        countEvents();
        lastRate = rate(ended);
        // Machines that all ended at once would give a mean of 0, by which callers could not divide.
        mean = Math.max(area + (alive == 0 ? 0 : alive / lastRate), Double.MIN_NORMAL);
    }

    /** Sets {@link #entries} and {@link #exits}. Returns the ages at which machines ended, in their order. */
    private double[] gather() {
        entries = new double[count + living.length];
        exits = new double[count + living.length];
        double[] ended = new double[ends];
        int machine = 0;
        int end = 0;
        for (SurvivalObservation one : seen) {
            Arrays.fill(ended, end, end + one.ended, one.hours);
            end += one.ended;
            int to = machine + one.ended + one.longer;
            Arrays.fill(entries, machine, to, entry(one.hours, one.at));
            Arrays.fill(exits, machine, to, one.hours);
            machine = to;
        }
        for (double age : living) {
            entries[machine] = entry(age, livingAt);
            exits[machine++] = age;
        }
        Arrays.sort(entries);
        Arrays.sort(exits);
        Arrays.sort(ended);
        return ended;
    }

    /** Returns the age from which on a machine was observed that had lived for so long at a time. */
    private double entry(double hours, double at) {
        return since == 0 ? 0 : Math.clamp(hours - Math.max(0, at - since), 0, hours);
    }

    /** Returns the ends in an hour of a machine's life, of the half of the machines that was oldest at its end. */
    private double rate(double[] ended) {
        int middle = Arrays.binarySearch(steps, ended[ended.length / 2]);
        double from = middle == 0 ? 0 : steps[middle - 1];
        double observed = 0;
        for (double exit : exits) {
            observed += Math.max(0, exit - from);
        }
        for (double entry : entries) {
            observed -= Math.max(0, entry - from);
        }
        long those =
                Arrays.stream(ended).filter(age -> middle == 0 || age > from).count();
        return those / Math.max(observed, Double.MIN_NORMAL);
    }

    /** Returns how many of some ordered numbers are not greater than one. */
    private static int upTo(double[] ordered, double limit) {
        int low = 0;
        int high = ordered.length;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (ordered[middle] <= limit) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }
}
