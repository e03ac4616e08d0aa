package io.farheap.bench.ablation;

import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.MedianRatio;
import io.farheap.bench.report.Quartiles;
import io.farheap.bench.report.SideSetup;
import io.farheap.bench.report.Validity;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A row of {@code bench ablation}: a step over its turns.
 *
 * @param operation read or write
 * @param p50 median latency of each turn, in ns
 * @param p99 99th percentile of the latency of each turn, in ns
 * @param rate operations/s
 * @param setup the means of the step
 * @param settled whether the step had settled before its first turn that counts
 * @param validity of its turns together
 */
record AblationRow(
        String operation,
        AblationStep step,
        Quartiles p50,
        Quartiles p99,
        Quartiles rate,
        SideSetup setup,
        boolean settled,
        Validity validity) {

    /**
     * Returns the factor of the rate over that of the step with one optimisation less.
     *
     * @param above its row; null if there is none
     * @return NaN if one of the rows is invalid, or if there is no such row
     */
    double over(@Nullable AblationRow above) {
        return above == null
                ? Double.NaN
                : MedianRatio.ofRates(validity.worse(above.validity), rate.median(), above.rate.median());
    }

    /**
     * Puts the fields of the row.
     *
     * @param size of a record, in bytes
     * @param span of bytes over which the records are spread
     */
    void put(BenchReport.Row json, long size, long span, int turns, @Nullable AblationRow above) {
        json.put("op", operation)
                .put("size", size)
                .put("span", span)
                .put("step", step.name())
                .put("issued_by", step.by().name().toLowerCase(Locale.ROOT))
                .put("one_sided", step.oneSided())
                .put("queue_depth", step.configuration().queueDepth())
                .put("pinned", step.configuration().pinned())
                .put("inline_bytes", step.configuration().inlineBytes())
                .put("outstanding", setup.inFlight())
                .put("p50_ns", p50.median())
                .put("p99_ns", p99.median())
                .put("ops_per_s", rate.median())
                .put("p50_ns_p25", p50.low())
                .put("p50_ns_p75", p50.high())
                .put("p99_ns_p25", p99.low())
                .put("p99_ns_p75", p99.high())
                .put("ops_per_s_p25", rate.low())
                .put("ops_per_s_p75", rate.high())
                .put("over_above", over(above));
        setup.put(json).put("turns", turns);
        validity.put(json, settled);
    }
}
