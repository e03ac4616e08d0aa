package io.farheap.bench.cache;

import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.MedianRatio;
import io.farheap.bench.report.Quartiles;
import io.farheap.bench.report.SideSetup;
import io.farheap.bench.report.Validity;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * One row of {@code bench cache}; rates in operations/s.
 *
 * @param size bytes of a record
 * @param span bytes over which records are scattered
 * @param single one-sided operations that are posted one by one
 * @param list the same with lists of {@code --queue-depth} work requests
 * @param listAll the same if the application asks for records by groups
 * @param oneSided the means of {@code single}; those of {@code list} differ by the group
 * @param group records that the application asks for with one request, for {@code listAll}
 * @param batches null if records are too large for batches
 * @param turns of each rate
 * @param settled whether all rates had settled before the first turn that counts
 */
record CacheRow(
        String operation,
        int size,
        long span,
        CacheBench.Latency latency,
        Quartiles single,
        Quartiles list,
        Quartiles listAll,
        SideSetup oneSided,
        int group,
        @Nullable Batches batches,
        int turns,
        boolean settled,
        Validity validity) {

    /**
     * Batches, which a server thread executes.
     *
     * @param requests in a batch
     * @param count batches in flight, beside the one that is being filled
     * @param asked rate of records that the application asks for one by one
     * @param together rate of records that the application asks for by groups
     * @param setup the means of {@code asked}; those of {@code together} differ by the group
     * @param group records that the application asks for with one request, for {@code together}
     */
    record Batches(int requests, int count, Quartiles asked, Quartiles together, SideSetup setup, int group) {

        /** Returns how long a record is on its way on average, in us: records in flight over their rate. */
        double inFlightMicros() {
            return setup.inFlight() * 1e6 / asked.median();
        }
    }

    /** Returns the factor of a rate over that of single operations: Redy's "raw network". NaN if the row is invalid. */
    double overSingle(Quartiles rate) {
        return MedianRatio.ofRates(validity, rate.median(), single.median());
    }

    /** Returns the factor of a rate over that of lists. NaN if the row is invalid. */
    double overList(Quartiles rate) {
        return MedianRatio.ofRates(validity, rate.median(), list.median());
    }

    /** Returns the factor of a rate over the better one of the two ways without batches. NaN if the row is invalid. */
    double overBest(Quartiles rate) {
        return MedianRatio.ofRates(validity, rate.median(), single.median(), list.median());
    }

    /**
     * Returns the factor of a rate over that of one-sided lists for which the application asks in the same way: by
     * groups. NaN if the row is invalid.
     */
    double overListAll(Quartiles rate) {
        return MedianRatio.ofRates(validity, rate.median(), listAll.median());
    }

    /** Returns the 99.9th percentile over the median. NaN if the row is invalid. */
    double tail() {
        Histogram times = latency.operation();
        return validity.compared(
                (double) times.getValueAtPercentile(99.9) / Math.max(1, times.getValueAtPercentile(50)));
    }

    void put(BenchReport.Row json) {
        Histogram times = latency.operation();
        Histogram idle = latency.idle();
        json.put("op", operation)
                .put("size", size)
                .put("span", span)
                .put("p50_ns", times.getValueAtPercentile(50))
                .put("p99_ns", times.getValueAtPercentile(99))
                .put("p999_ns", times.getValueAtPercentile(99.9))
                .put("max_ns", times.getMaxValue())
                .put("p999_over_p50", tail())
                .put("idle_p999_ns", idle.getValueAtPercentile(99.9))
                .put("idle_max_ns", idle.getMaxValue())
                .put("ops_per_s", single.median())
                .put("list_ops_per_s", list.median())
                .put("queue_depth", oneSided.inFlight());
        Batches batched = batches;
        if (batched != null) {
            json.put("batch", batched.requests())
                    .put("batches", batched.count())
                    .put("batched_ops_per_s", batched.asked().median())
                    .put("batched_over_single", overSingle(batched.asked()))
                    .put("batched_all_ops_per_s", batched.together().median())
                    .put("batched_all_over_single", overSingle(batched.together()))
                    .put("batched_in_flight_us", batched.inFlightMicros());
        }
        json.put("ops_per_s_p25", single.low())
                .put("ops_per_s_p75", single.high())
                .put("list_ops_per_s_p25", list.low())
                .put("list_ops_per_s_p75", list.high())
                .put("list_over_single", overSingle(list));
        json.put("list_all_ops_per_s", listAll.median())
                .put("list_all_ops_per_s_p25", listAll.low())
                .put("list_all_ops_per_s_p75", listAll.high())
                .put("list_all_over_single", overSingle(listAll))
                .put("list_all_over_list", overList(listAll))
                .put("list_all_group", group);
        oneSided.put(json).put("list_group", oneSided.inFlight());
        if (batched != null) {
            json.put("batched_ops_per_s_p25", batched.asked().low())
                    .put("batched_ops_per_s_p75", batched.asked().high())
                    .put("batched_over_list", overList(batched.asked()))
                    .put("batched_over_best", overBest(batched.asked()))
                    .put("batched_all_ops_per_s_p25", batched.together().low())
                    .put("batched_all_ops_per_s_p75", batched.together().high())
                    .put("batched_all_over_list", overList(batched.together()))
                    .put("batched_all_over_best", overBest(batched.together()))
                    .put("batched_all_over_list_all", overListAll(batched.together()));
            batched.setup().put(json, "batched_").put("batched_all_group", batched.group());
        }
        validity.put(json.put("turns", turns), settled);
    }
}
