package io.farheap.bench.resilience;

import io.farheap.bench.report.BenchReport;
import io.farheap.command.Plot;
import io.farheap.resilience.contract.Health;
import java.io.PrintStream;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Puts figures into the report and the table, each beside its baseline. One thread. */
final class ResultRows {

    /**
     * The consequences of a fault.
     *
     * @param regenerateMillis from the fault until all is whole again, the median of all times; NaN if it does not
     *     become whole, or nothing was lost
     * @param times how often that happened
     * @param bytesRead by regeneration
     * @param bytesRebuilt by regeneration
     * @param bytesByServers the part of these that the new slabs' servers rebuilt
     */
    record Repair(double regenerateMillis, int times, long bytesRead, long bytesRebuilt, long bytesByServers) {

        static final Repair NONE = new Repair(Double.NaN, 0, 0, 0, 0);

        static Repair of(double regenerateMillis, Health health) {
            return new Repair(
                    regenerateMillis,
                    Double.isNaN(regenerateMillis) ? 0 : 1,
                    health.regenerationBytesRead(),
                    health.regenerationBytesRebuilt(),
                    health.regenerationBytesByServers());
        }
    }

    /**
     * A figure.
     *
     * @param ownWithout results of the same requests of the same side without the fault, or null
     * @param same results of all kinds for the same requests with the same fault, as far as they have run
     * @param baseline for ratios of reads (one copy), and of writes (two copies); or null
     * @param bytesLocal memory of this process that the side has beside its clients' buffers
     * @param inFlight requests that are under way at a time
     */
    record FigureRow(
            MemoryKind kind,
            RequestKind access,
            String fault,
            RequestTally tally,
            Map<MemoryKind, RequestTally> same,
            @Nullable RequestTally ownWithout,
            @Nullable RequestTally baseline,
            double memoryOverhead,
            long bytesLocal,
            int inFlight,
            Repair repair) {}

    /** Of a row: one thread makes all requests, and each by itself. */
    private static final int THREADS = 1;

    private static final int GROUP = 1;

    private final BenchReport report;
    private final PrintStream out;
    private final ResiliencePlots plots = new ResiliencePlots();
    private final Map<String, Long> wrongBytes = new HashMap<>();

    ResultRows(BenchReport report, PrintStream out) {
        this.report = report;
        this.out = out;
    }

    /** Reports a kind that cannot be measured here. */
    void absent(String system, String reason) {
        out.printf("absent: %s: %s%n", system, reason);
        report.row().put("system", system).put("absent", reason);
    }

    void title(String fault) {
        out.printf(
                "%n%-40s%10s%10s%10s%7s%7s%7s%9s%8s%7s%7s%12s%9s%8s%9s%n",
                "fault " + fault + ": system, request",
                "p50 ns",
                "p99 ns",
                "p99.9 ns",
                "x p50",
                "x p99",
                "x cpu",
                "p99/none",
                "memory",
                "wire",
                "wrong",
                "longest us",
                "lost",
                "corrupt",
                "whole ms");
    }

    void add(FigureRow figure) {
        RequestTally tally = figure.tally();
        if (!tally.validity().invalid()) {
            plots.add(figure);
        }
        RequestTally baseline = figure.baseline();
        RequestTally without = figure.ownWithout();
        double medianRatio = baseline == null ? Double.NaN : tally.medianRatio(baseline);
        double cpuRatio = baseline == null ? Double.NaN : tally.cpuRatio(baseline);
        double tailRatio = baseline == null ? Double.NaN : tally.tailRatio(baseline);
        double toNone = without == null ? Double.NaN : tally.tailRatio(without);
        double wire = tally.wireOverhead(figure.access().bytes());
        RequestKind access = figure.access();
        Repair repair = figure.repair();
        BenchReport.Row row = figure.kind()
                .put(report.row())
                .put("op", access.op())
                .put("size", access.bytes())
                .put("fault", figure.fault())
                .put("p50_ns", tally.median())
                .put("p99_ns", tally.tail())
                .put("p999_ns", tally.percentile(99.9))
                .put("ratio_p50", medianRatio)
                .put("ratio_p99", tailRatio)
                .put("cpu_ns", tally.cpu())
                .put("cpu_overhead", cpuRatio)
                .put("ratio_p99_to_none", toNone)
                .put("memory_overhead", figure.memoryOverhead())
                .put("loss_probability", LossProbability.of(figure.kind()))
                .put("wire_overhead", wire)
                .put("wrong_bytes", tally.wrongBytes())
                .put("unread_pages", tally.unreadPages())
                .put("stall_us", tally.longestMicros())
                .put("regenerate_ms", repair.regenerateMillis())
                .put("regenerate_times", repair.times())
                .put("regeneration_bytes_read", repair.bytesRead())
                .put("regeneration_bytes_rebuilt", repair.bytesRebuilt())
                .put("regeneration_bytes_by_servers", repair.bytesByServers())
                .put("requests", tally.requests())
                .put("lost", tally.lost())
                .put("corrupt", tally.shown())
                .put("bytes_local", figure.bytesLocal())
                .put("in_flight", figure.inFlight())
                .put("threads", THREADS)
                .put("group", GROUP)
                .put("cores", cores(figure.kind()))
                .put("p50_ns_p25", tally.quartiles().low())
                .put("p50_ns_p75", tally.quartiles().high());
        tally.validity().put(row, tally.settled());
        count(figure.fault(), tally.wrongBytes());
        out.printf(
                "%-40s %9.0f %9.0f %9.0f %6.2f %6.2f %6.2f %8.2f %7.2f %6.2f %6d %11.1f %8d %7d %8.1f  %s%n",
                "  " + figure.kind().name() + " " + access.op() + " " + access.bytes(),
                tally.median(),
                tally.tail(),
                tally.percentile(99.9),
                medianRatio,
                tailRatio,
                cpuRatio,
                toNone,
                figure.memoryOverhead(),
                wire,
                tally.wrongBytes(),
                tally.longestMicros(),
                tally.lost(),
                tally.shown(),
                repair.regenerateMillis(),
                tally.validity().remark(tally.settled()));
        PaperFigures.put(row, figure.kind(), access, figure.fault(), figure.same(), without)
                .forEach(this::note);
    }

    /** A thread that writes the backup runs beside the one that makes the requests. */
    private static int cores(MemoryKind kind) {
        return kind.name().equals(MemoryKind.SSD_BACKUP) ? THREADS + 1 : THREADS;
    }

    /** Returns plots of the rows so far. */
    Plot[] plots() {
        return plots.plots();
    }

    /** Adds wrong bytes of a row. */
    void count(String fault, long wrong) {
        wrongBytes.merge(fault, wrong, Long::sum);
    }

    /** Returns the wrong bytes of all rows, except those of one fault. */
    long wrongBytesBut(String fault) {
        return wrongBytes.entrySet().stream()
                .filter(entry -> !entry.getKey().equals(fault))
                .mapToLong(Map.Entry::getValue)
                .sum();
    }

    /** Prints a line about the fault of the last rows. */
    void note(String line) {
        out.println("  " + line);
    }

    /** Returns the report of the whole run. */
    BenchReport report() {
        return report;
    }
}
