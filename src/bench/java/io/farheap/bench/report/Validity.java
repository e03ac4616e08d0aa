package io.farheap.bench.report;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Whether the figures of a row may be compared. With softverbs' NIC model they may not if over 1% of the operations of
 * any process were late: such a row is invalid, and has no ratio. READs do not count: only the poll of its completion
 * shows when a READ was executed. So a row of READs alone is not judged.
 *
 * @param latePercent of the process that had the highest share of late operations; 0 without a model, and NaN if no
 *     operation could be late
 */
public record Validity(double latePercent) {

    /** The validity of figures for which no model was used. */
    public static final Validity NO_MODEL = new Validity(0);

    /** The validity of figures for which a model was used, but READs alone. */
    public static final Validity NOT_JUDGED = new Validity(Double.NaN);

    private static final double MOST_LATE_PERCENT = 1;
    private static final String LATE = "late_pct";
    private static final String INVALID = "invalid";

    /** Returns the validity of a row of a report, which {@link #put} wrote. */
    public static Validity read(JsonObject row) {
        JsonElement late = row.get(LATE);
        double percent = late.isJsonNull() ? Double.NaN : late.getAsDouble();
        // A percentage is rounded in the report, so that a row with 1.0004% is invalid and has 1.
        boolean rounded = row.get(INVALID).getAsBoolean() && !(percent > MOST_LATE_PERCENT);
        return new Validity(rounded ? Math.nextUp(MOST_LATE_PERCENT) : percent);
    }

    public boolean invalid() {
        return latePercent > MOST_LATE_PERCENT;
    }

    /** Whether it is known which part of the operations was late. */
    public boolean judged() {
        return !Double.isNaN(latePercent);
    }

    /** Returns a ratio, or another comparison of sides, as it may be shown: NaN if the row is invalid. */
    public double compared(double comparison) {
        return invalid() ? Double.NaN : comparison;
    }

    /**
     * Returns the validity of figures that were measured partly under this one and partly under another. If one of the
     * parts was not judged, the whole is not, unless the other part is invalid.
     */
    public Validity worse(Validity other) {
        if (judged() == other.judged()) {
            return other.latePercent > latePercent ? other : this;
        }
        Validity known = judged() ? this : other;
        return known.invalid() ? known : NOT_JUDGED;
    }

    /** Puts the fields that say whether a row's figures may be compared; the percentage is null if it is not known. */
    public BenchReport.Row put(BenchReport.Row row, boolean settled) {
        return row.put("settled", settled).put(LATE, latePercent).put(INVALID, invalid());
    }

    /** Returns the reservations about a row of a table, for people; empty if there are none. */
    public String remark(boolean settled) {
        List<String> remarks = new ArrayList<>();
        if (invalid()) {
            remarks.add(String.format(Locale.ROOT, "INVALID: %.2f%% late", latePercent));
        }
        if (!judged()) {
            remarks.add("not judged: READs alone");
        }
        if (!settled) {
            remarks.add("not settled");
        }
        return String.join(", ", remarks);
    }
}
