package io.farheap.slo;

import java.util.Locale;

/**
 * Bounds for reads or for writes.
 *
 * @param latencyNanos the highest average latency; infinite if it does not matter
 * @param perSecond the lowest throughput; 0 if it does not matter
 */
public record Objective(double latencyNanos, double perSecond) {

    /** An objective without bounds. */
    public static final Objective NONE = new Objective(Double.POSITIVE_INFINITY, 0);

    public Objective {
        if (!(latencyNanos > 0)) {
            throw new IllegalArgumentException(
                    "a latency objective of " + latencyNanos + " ns; it is above 0, or infinite if it does not matter");
        }
        if (!(perSecond >= 0 && perSecond < Double.POSITIVE_INFINITY)) {
            throw new IllegalArgumentException(
                    "a throughput objective of " + perSecond + " per second; it is finite and at least 0");
        }
    }

    /** Whether the latency or the throughput matters; false for {@link #NONE} alone. */
    public boolean bounds() {
        return latencyNanos < Double.POSITIVE_INFINITY || perSecond > 0;
    }

    @Override
    public String toString() {
        return bounds() ? text(latencyNanos, perSecond) : "any";
    }

    /** As {@code 3.012 us at 0.33 M/s}. */
    public static String text(double nanos, double perSecond) {
        String micros = nanos < Double.POSITIVE_INFINITY ? String.format(Locale.ROOT, "%.4g", nanos / 1e3) : "any";
        return micros + String.format(Locale.ROOT, " us at %.4g M/s", perSecond / 1e6);
    }
}
