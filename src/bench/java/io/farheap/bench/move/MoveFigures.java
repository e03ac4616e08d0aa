package io.farheap.bench.move;

import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.MedianRatio;
import io.farheap.bench.report.Quartiles;
import io.farheap.bench.report.SideSetup;
import io.farheap.bench.report.Validity;

/**
 * Medians over the moves of a case.
 *
 * @param drop of the load's requests per second, against the quiet times, in percent
 * @param memcpyDropPercent the same while the memcpy runs: what any copy beside the load costs it on this machine
 * @param longestMicros the longest request during a move
 * @param worstMicros the longest request during any move
 * @param quietMicros the longest request of a quiet time
 * @param gibPerSecond of the phase that copies
 * @param wholeGibPerSecond of the whole move, with the preparation before the copy and the freeing after it
 * @param totalMillis of the whole move
 * @param forgone requests fewer than in a quiet time as long as the move
 * @param memcpyForgone the same for a memcpy of as many bytes
 * @param settled whether the warm-up's last turns agreed
 */
public record MoveFigures(
        Quartiles drop,
        double memcpyDropPercent,
        double perSecond,
        double longestMicros,
        double worstMicros,
        double quietMicros,
        double gibPerSecond,
        Quartiles wholeGibPerSecond,
        double totalMillis,
        double memcpyGibPerSecond,
        double forgone,
        double memcpyForgone,
        boolean settled,
        Validity validity) {

    /** Returns the median of the drop in percent. NaN if the figures are invalid. */
    public double dropPercent() {
        return validity.compared(drop.median());
    }

    /** The same as for the drop: NaN if the figures are invalid. */
    @Override
    public double memcpyDropPercent() {
        return validity.compared(memcpyDropPercent);
    }

    /**
     * Returns how many times as many requests as during the memcpy are not done because of a move.
     *
     * @return NaN if either of them costs no request, or if the figures are invalid
     */
    public double forgoneOverMemcpy() {
        return forgone > 0 && memcpyForgone > 0 ? validity.compared(forgone / memcpyForgone) : Double.NaN;
    }

    /** Returns the GiB a second of the copies of moves under reads, and of the same moves under writes. */
    public static double gib(MoveFigures reads, MoveFigures writes) {
        return (reads.gibPerSecond + writes.gibPerSecond) / 2;
    }

    /** Returns the GiB a second of whole moves under reads and of the same moves under writes. */
    public static double wholeGib(MoveFigures reads, MoveFigures writes) {
        return (reads.wholeGibPerSecond.median() + writes.wholeGibPerSecond.median()) / 2;
    }

    public static double memcpyGib(MoveFigures reads, MoveFigures writes) {
        return (reads.memcpyGibPerSecond + writes.memcpyGibPerSecond) / 2;
    }

    /** Returns the rate of whole moves over the memcpy's. NaN if no region moved, or if the figures are invalid. */
    public static double wholeOverMemcpy(MoveFigures reads, MoveFigures writes) {
        return MedianRatio.ofRates(validity(reads, writes), wholeGib(reads, writes), memcpyGib(reads, writes));
    }

    public static double millis(MoveFigures reads, MoveFigures writes) {
        return (reads.totalMillis + writes.totalMillis) / 2;
    }

    /** Returns the reservations about a case, for people; empty if there are none. */
    public static String remark(MoveFigures reads, MoveFigures writes) {
        return validity(reads, writes).remark(reads.settled && writes.settled);
    }

    private static Validity validity(MoveFigures reads, MoveFigures writes) {
        return reads.validity.worse(writes.validity);
    }

    /** Adds a case's row to a report, for all benchmarks that move regions. It has no comparison if it is invalid. */
    public static BenchReport.Row row(
            BenchReport report, MoveCase how, long regionBytes, MoveFigures reads, MoveFigures writes) {
        Validity validity = validity(reads, writes);
        BenchReport.Row row = report.row()
                .put("regions", (long) how.move())
                .put("unpaused_reads", how.options().unpausedReads())
                .put("pause", how.name())
                .put("region_bytes", regionBytes)
                .put("chunk_bytes", (long) how.options().chunkBytes())
                .put("window_bytes", how.options().windowBytes())
                .put("read_drop_pct", validity.compared(reads.drop.median()))
                .put("write_drop_pct", validity.compared(writes.drop.median()))
                .put("memcpy_read_drop_pct", validity.compared(reads.memcpyDropPercent))
                .put("memcpy_write_drop_pct", validity.compared(writes.memcpyDropPercent))
                .put("gib_per_s", gib(reads, writes))
                .put("memcpy_gib_per_s", memcpyGib(reads, writes))
                .put("migration_ms", millis(reads, writes))
                .put("longest_read_stall_us", reads.longestMicros)
                .put("longest_write_pause_us", writes.longestMicros)
                .put("worst_read_stall_us", reads.worstMicros)
                .put("worst_write_pause_us", writes.worstMicros)
                .put("quiet_read_stall_us", reads.quietMicros)
                .put("quiet_write_stall_us", writes.quietMicros)
                .put("reads_per_s", reads.perSecond)
                .put("writes_per_s", writes.perSecond)
                .put("read_drop_pct_p25", validity.compared(reads.drop.low()))
                .put("read_drop_pct_p75", validity.compared(reads.drop.high()))
                .put("write_drop_pct_p25", validity.compared(writes.drop.low()))
                .put("write_drop_pct_p75", validity.compared(writes.drop.high()))
                .put("whole_gib_per_s", wholeGib(reads, writes))
                .put("read_whole_gib_per_s_p25", reads.wholeGibPerSecond.low())
                .put("read_whole_gib_per_s_p75", reads.wholeGibPerSecond.high())
                .put("write_whole_gib_per_s_p25", writes.wholeGibPerSecond.low())
                .put("write_whole_gib_per_s_p75", writes.wholeGibPerSecond.high())
                .put("whole_over_memcpy", wholeOverMemcpy(reads, writes))
                .put("forgone_reads", reads.forgone)
                .put("memcpy_forgone_reads", reads.memcpyForgone)
                .put("forgone_reads_over_memcpy", validity.compared(reads.forgoneOverMemcpy()))
                .put("forgone_writes", writes.forgone)
                .put("memcpy_forgone_writes", writes.memcpyForgone)
                .put("forgone_writes_over_memcpy", validity.compared(writes.forgoneOverMemcpy()));
        // A region moves between servers, one after the other of a call; the memcpy has two places of a region.
        new SideSetup(0, 1, 1, how.move()).put(row);
        new SideSetup(2 * regionBytes, 1, 1, 1).put(row, "memcpy_");
        return validity.put(row, reads.settled && writes.settled);
    }
}
