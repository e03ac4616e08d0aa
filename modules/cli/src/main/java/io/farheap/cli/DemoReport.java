package io.farheap.cli;

import io.farheap.latency.LatencyInterval;
import io.farheap.memory.Plurals;
import io.farheap.migration.MigrationResult;
import java.io.PrintStream;
import java.util.LinkedHashMap;
import java.util.Map;
import org.HdrHistogram.Histogram;

/** What the demo measured, as a table and as JSON. */
record DemoReport(
        String device,
        String command,
        long bytesLoaded,
        long bytesVerified,
        long mismatches,
        long failures,
        LatencyInterval before,
        LatencyInterval during,
        LatencyInterval after,
        MigrationResult migration,
        long operations,
        double loadSeconds) {

    private static final double GIB = 1L << 30;

    void print(PrintStream out) {
        out.printf(
                "%n64-byte operations of one thread, one at a time, from issue to callback, in ns (closed loop, clock reads included)%n%n");
        out.printf("%-8s%-14s%12s%10s%10s%14s%14s%14s%n", "", "", "count", "p50", "p90", "p99", "p99.9", "max");
        row(out, "read", "before", before.reads());
        row(out, "", "while moving", during.reads());
        row(out, "", "after", after.reads());
        row(out, "write", "before", before.writes());
        row(out, "", "while moving", during.writes());
        row(out, "", "after", after.writes());
        out.printf(
                "%nmoved            %s, %,d bytes, copied at %.2f GiB/s; the whole migration took %.1f ms%n",
                regions(migration.regions()), migration.bytes(), migrationGibPerSecond(), migration.totalNanos() / 1e6);
        out.printf(
                "while moving     %,d reads served; longest read %,d us, longest write %,d us (a region's writes were held for up to %,d us)%n",
                during.reads().getTotalCount(),
                during.reads().getMaxValue() / 1000,
                during.writes().getMaxValue() / 1000,
                migration.longestPauseNanos() / 1000);
        out.printf(
                "load             %,d operations in %.1f s: %.2f million/s%n",
                operations, loadSeconds, operations / loadSeconds / 1e6);
        out.printf(
                "verified         %,d bytes against the file and the shadow: %s%n",
                bytesVerified,
                mismatches == 0 && failures == 0
                        ? "every byte is right"
                        : mismatches + " WRONG, " + failures + " operations failed");
    }

    String json() {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("device", device);
        fields.put("command", command);
        fields.put("bytes_loaded", bytesLoaded);
        fields.put("bytes_verified", bytesVerified);
        fields.put("mismatches", mismatches);
        fields.put("failed_operations", failures);
        fields.put("regions_migrated", migration.regions());
        fields.put("migrated_bytes", migration.bytes());
        fields.put("migration_gib_per_s", round(migrationGibPerSecond()));
        fields.put("migration_ms", round(migration.totalNanos() / 1e6));
        fields.put("reads_during_migration", during.reads().getTotalCount());
        fields.put("writes_during_migration", during.writes().getTotalCount());
        fields.put("longest_read_stall_us", round(during.reads().getMaxValue() / 1e3));
        fields.put("longest_write_pause_us", round(during.writes().getMaxValue() / 1e3));
        fields.put("longest_region_hold_us", round(migration.longestPauseNanos() / 1e3));
        percentiles(fields, "read", before.reads());
        percentiles(fields, "write", before.writes());
        percentiles(fields, "moving_read", during.reads());
        percentiles(fields, "moving_write", during.writes());
        fields.put("ops_per_s", Math.round(operations / loadSeconds));
        StringBuilder json = new StringBuilder("{");
        fields.forEach((name, value) -> json.append(json.length() > 1 ? ", " : "")
                .append('"')
                .append(name)
                .append("\": ")
                .append(value instanceof String text ? '"' + escape(text) + '"' : value));
        return json.append('}').toString();
    }

    /** Returns a count of regions, such as {@code 5 regions}. */
    static String regions(long count) {
        return Plurals.of(count, "region");
    }

    private double migrationGibPerSecond() {
        return migration.copyNanos() == 0 ? 0 : migration.bytes() / GIB / (migration.copyNanos() / 1e9);
    }

    private static void row(PrintStream out, String operation, String phase, Histogram histogram) {
        out.printf("%-8s%-14s%,12d", operation, phase, histogram.getTotalCount());
        out.printf(
                "%,10d%,10d%,14d%,14d%,14d%n",
                histogram.getValueAtPercentile(50),
                histogram.getValueAtPercentile(90),
                histogram.getValueAtPercentile(99),
                histogram.getValueAtPercentile(99.9),
                histogram.getMaxValue());
    }

    private static void percentiles(Map<String, Object> fields, String name, Histogram histogram) {
        fields.put(name + "_p50_ns", histogram.getValueAtPercentile(50));
        fields.put(name + "_p99_ns", histogram.getValueAtPercentile(99));
        fields.put(name + "_p999_ns", histogram.getValueAtPercentile(99.9));
        fields.put(name + "_max_ns", histogram.getMaxValue());
    }

    private static double round(double value) {
        return Math.round(value * 1000) / 1000.0;
    }

    private static String escape(String text) {
        return text.replace("\\", "\\\\").replace("\"", "\\\"");
    }
}
