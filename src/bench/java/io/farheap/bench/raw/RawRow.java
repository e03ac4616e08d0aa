package io.farheap.bench.raw;

import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.MedianRatio;
import io.farheap.bench.report.Quartiles;
import io.farheap.bench.report.SideSetup;
import io.farheap.bench.report.Validity;

/**
 * One row of {@code bench raw}, in ns per operation.
 *
 * @param list operations that are posted by one list
 * @param raw the C loop, the only peer of the other sides
 * @param session unknown if a session has no such operation, as {@code untracked}
 * @param rawP99 of single operations, less the cost of reading the clock; NaN above queue depth 1
 * @param javaP99 the same of the side of {@link #java()}
 * @param settled whether all sides had warmed up
 */
record RawRow(
        RawOperation operation,
        int size,
        int depth,
        int list,
        Quartiles raw,
        Quartiles verbs,
        Quartiles session,
        Quartiles untracked,
        double rawP99,
        double javaP99,
        boolean settled,
        Validity validity) {

    /** Returns the figure for users of Java: the session's, or that of verbs if the session has no such operation. */
    Quartiles java() {
        return session.known() ? session : verbs;
    }

    /** Returns how many times as long as in C an operation takes. NaN if the row is invalid. */
    double ratio(Quartiles side) {
        return MedianRatio.ofTimes(validity, side.median(), raw.median());
    }

    /** Returns the rate of Java over that of C. NaN if the row is invalid. */
    double rateRatio() {
        return MedianRatio.ofRates(validity, 1 / java().median(), 1 / raw.median());
    }

    /** Returns how many ns longer than in C an operation takes. NaN if the row is invalid. */
    double difference() {
        return validity.compared(java().median() - raw.median());
    }

    /** All sides have the same means: one thread, and local memory for the records of one list. */
    private SideSetup setup() {
        return new SideSetup((long) size * list, 1, depth, list);
    }

    void put(BenchReport.Row json, String device) {
        json.put("op", operation.text())
                .put("size", size)
                .put("queue_depth", depth)
                .put("wrs_per_post", list)
                .put("raw_p50_ns", raw.median())
                .put("java_p50_ns", java().median())
                .put("ratio_p50", ratio(java()))
                .put("raw_ops_per_s", 1e9 / raw.median())
                .put("java_ops_per_s", 1e9 / java().median())
                .put("ratio_ops", rateRatio())
                .put("raw_p99_ns", rawP99)
                .put("java_p99_ns", javaP99)
                .put("raw_p25_ns", raw.low())
                .put("raw_p75_ns", raw.high())
                .put("verbs_p50_ns", verbs.median())
                .put("session_p50_ns", session.median())
                .put("untracked_p50_ns", untracked.median())
                .put("device", device)
                .put("verbs_p25_ns", verbs.low())
                .put("verbs_p75_ns", verbs.high())
                .put("session_p25_ns", session.low())
                .put("session_p75_ns", session.high())
                .put("untracked_p25_ns", untracked.low())
                .put("untracked_p75_ns", untracked.high());
        validity.put(setup().put(json), settled);
    }
}
