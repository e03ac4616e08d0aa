package io.farheap.bench.report;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** The values of one figure, turn by turn. NaN if there are none. */
public final class Samples {

    private final List<Double> values = new ArrayList<>();

    public void add(double value) {
        values.add(value);
    }

    public void addAll(Samples others) {
        values.addAll(others.values);
    }

    /** Forgets all values. */
    public void clear() {
        values.clear();
    }

    public double median() {
        return quantile(0.5);
    }

    public double lowerQuartile() {
        return quantile(0.25);
    }

    public double upperQuartile() {
        return quantile(0.75);
    }

    public Quartiles quartiles() {
        return new Quartiles(lowerQuartile(), median(), upperQuartile());
    }

    /**
     * Returns a quantile, interpolated if it falls between two values: the median of two values is their mean.
     *
     * @param share from 0 for the least value to 1 for the highest
     */
    public double quantile(double share) {
        if (values.isEmpty()) {
            return Double.NaN;
        }
        List<Double> sorted = values.stream().sorted().toList();
        double place = share * (sorted.size() - 1);
        int below = (int) place;
        double part = place - below;
        return part == 0 ? sorted.get(below) : sorted.get(below) + part * (sorted.get(below + 1) - sorted.get(below));
    }

    public double least() {
        return values.isEmpty() ? Double.NaN : Collections.min(values);
    }

    public double most() {
        return values.isEmpty() ? Double.NaN : Collections.max(values);
    }
}
