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

    public double median() {
        if (values.isEmpty()) {
            return Double.NaN;
        }
        List<Double> sorted = values.stream().sorted().toList();
        int middle = sorted.size() / 2;
        return sorted.size() % 2 == 1 ? sorted.get(middle) : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
    }

    public double least() {
        return values.isEmpty() ? Double.NaN : Collections.min(values);
    }

    public double most() {
        return values.isEmpty() ? Double.NaN : Collections.max(values);
    }
}
