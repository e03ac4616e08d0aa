package io.farheap.bench.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Whether the figures of a row may be compared. With softverbs' NIC model they may not if over 1% of the operations of
 * any process were late: such a row is invalid, and has no ratio.
 *
 * @param latePercent of the process that had the highest share of late operations; 0 without a model
 */
public record Validity(double latePercent) {

    /** The validity of figures for which no model was used. */
    public static final Validity NO_MODEL = new Validity(0);

    private static final double MOST_LATE_PERCENT = 1;

    public boolean invalid() {
        return latePercent > MOST_LATE_PERCENT;
    }

    /** Returns a ratio, or another comparison of sides, as it may be shown: NaN if the row is invalid. */
    public double compared(double comparison) {
        return invalid() ? Double.NaN : comparison;
    }

    /** Returns the validity of figures that were measured partly under this one and partly under another. */
    public Validity worse(Validity other) {
        return other.latePercent > latePercent ? other : this;
    }

    /** Puts the fields that say whether a row's figures may be compared. */
    public BenchReport.Row put(BenchReport.Row row, boolean settled) {
        return row.put("settled", settled).put("late_pct", latePercent).put("invalid", invalid());
    }

    /** Returns the reservations about a row of a table, for people; empty if there are none. */
    public String remark(boolean settled) {
        List<String> remarks = new ArrayList<>();
        if (invalid()) {
            remarks.add(String.format(Locale.ROOT, "INVALID: %.2f%% late", latePercent));
        }
        if (!settled) {
            remarks.add("not settled");
        }
        return String.join(", ", remarks);
    }
}
