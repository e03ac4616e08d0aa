package io.farheap.bench.report;

/**
 * The statement of a report about its times.
 *
 * @param clockNanos the cost of reading the clock
 * @param subtracted whether this cost is subtracted from the times of single operations
 * @param omission whether the times have coordinated omission: an operation is issued when an earlier one has ended, so
 *     that a stall counts once, and not for each operation that it delays
 */
public record TimingNote(long clockNanos, boolean subtracted, boolean omission) {

    /** Puts the statement into the fields of the whole run. */
    public void put(BenchReport report) {
        report.summary()
                .put("clock_ns", clockNanos)
                .put("clock_subtracted", subtracted)
                .put("coordinated_omission", omission);
    }

    /** Returns the statement as a line for people. */
    public String sentence() {
        return "reading the clock takes " + clockNanos + " ns, "
                + (subtracted ? "subtracted from" : "included in") + " the times of single operations; "
                + (omission
                        ? "an operation is issued when an earlier one has ended, so a stall counts once (coordinated "
                                + "omission)"
                        : "operations are timed from when they are due, so a stall counts for each one that it delays");
    }
}
