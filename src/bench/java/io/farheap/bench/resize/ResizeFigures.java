package io.farheap.bench.resize;

import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.MedianRatio;
import io.farheap.bench.report.Samples;
import io.farheap.bench.report.SideSetup;
import io.farheap.bench.report.Validity;

/** The turns of one load beside resizes. The ratio is that of the medians over all turns. One thread at a time. */
final class ResizeFigures {

    /** Requests of the load are issued one after another. */
    private static final SideSetup QUIET = new SideSetup(0, 1, 1, 1);
    /** The thread that resizes keeps another core busy. */
    private static final SideSetup RESIZES = new SideSetup(0, 2, 1, 1);

    /**
     * One turn.
     *
     * @param before requests a second in the quiet time before the resizes
     * @param during requests a second beside the resizes
     * @param after requests a second in the quiet time after the resizes
     * @param longestMicros the longest request beside resizes
     * @param quietLongestMicros the longest request of both quiet times
     * @param resizeMillis of one resize, on average
     */
    record Turn(
            double before,
            double during,
            double after,
            double longestMicros,
            double quietLongestMicros,
            double resizeMillis) {

        /** Returns requests a second in both quiet times, which are equally long. */
        double quiet() {
            return (before + after) / 2;
        }
    }

    private final Samples during = new Samples();
    private final Samples quiet = new Samples();
    private final Samples before = new Samples();
    private final Samples after = new Samples();
    private final Samples ratios = new Samples();
    private final Samples same = new Samples();
    private final Samples longest = new Samples();
    private final Samples quietLongest = new Samples();
    private final Samples millis = new Samples();
    private boolean settled;
    private Validity validity = Validity.NO_MODEL;

    void add(Turn turn) {
        during.add(turn.during());
        quiet.add(turn.quiet());
        before.add(turn.before());
        after.add(turn.after());
        ratios.add(turn.during() / turn.quiet());
        same.add(turn.after() / turn.before());
        longest.add(turn.longestMicros());
        quietLongest.add(turn.quietLongestMicros());
        millis.add(turn.resizeMillis());
    }

    /**
     * Ends the turns.
     *
     * @param agreed whether the last three turns of the warm-up agreed within 5%
     * @param of all turns that count
     */
    void end(boolean agreed, Validity of) {
        settled = agreed;
        validity = of;
    }

    /** Returns the rate beside resizes over that of quiet times. NaN if the row is invalid. */
    double ratio() {
        return MedianRatio.ofRates(validity, during.median(), quiet.median());
    }

    /** Returns the rate of later quiet times over that of earlier ones. NaN if the row is invalid. */
    double sameRatio() {
        return MedianRatio.ofRates(validity, after.median(), before.median());
    }

    /** Returns the figures as a line of the table. */
    String line(boolean write) {
        return String.format(
                "%-8s%9.3f%20s%9.3f%20s%16.1f%,22.0f%20s  %s",
                write ? "writes" : "reads",
                ratio(),
                spread(ratios),
                sameRatio(),
                spread(same),
                millis.median(),
                longest.most(),
                String.format("(%,.0f)", quietLongest.most()),
                validity.remark(settled));
    }

    private String spread(Samples samples) {
        return validity.invalid() ? "" : String.format("(%.3f..%.3f)", samples.least(), samples.most());
    }

    void put(BenchReport.Row row, boolean write) {
        row.put("op", write ? "write" : "read")
                .put("ratio", ratio())
                .put("least_ratio", validity.compared(ratios.least()))
                .put("most_ratio", validity.compared(ratios.most()))
                .put("same", sameRatio())
                .put("least_same", validity.compared(same.least()))
                .put("most_same", validity.compared(same.most()))
                .put("resize_ms", millis.median())
                .put("longest_us", longest.most())
                .put("longest_median_us", longest.median())
                .put("quiet_longest_us", quietLongest.most())
                .put("quiet_longest_median_us", quietLongest.median())
                .put("ops_per_s", during.median())
                .put("ops_per_s_p25", during.lowerQuartile())
                .put("ops_per_s_p75", during.upperQuartile())
                .put("quiet_ops_per_s", quiet.median())
                .put("quiet_ops_per_s_p25", quiet.lowerQuartile())
                .put("quiet_ops_per_s_p75", quiet.upperQuartile());
        RESIZES.put(row);
        QUIET.put(row, "quiet_");
        validity.put(row, settled);
    }
}
