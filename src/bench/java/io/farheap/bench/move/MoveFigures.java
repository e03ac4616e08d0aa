package io.farheap.bench.move;

import io.farheap.bench.report.BenchReport;

/**
 * Medians over the moves of a case.
 *
 * @param dropPercent of the load's requests per second, against the quiet times
 * @param memcpyDropPercent the same while the memcpy runs: what any copy beside the load costs it on this machine
 * @param longestMicros the longest request during a move
 * @param worstMicros the longest request during any move
 * @param quietMicros the longest request of a quiet time
 */
public record MoveFigures(
        double dropPercent,
        double memcpyDropPercent,
        double perSecond,
        double longestMicros,
        double worstMicros,
        double quietMicros,
        double gibPerSecond,
        double totalMillis,
        double memcpyGibPerSecond) {

    /** Returns the GiB a second of moves under reads and of the same moves under writes. */
    public static double gib(MoveFigures reads, MoveFigures writes) {
        return (reads.gibPerSecond + writes.gibPerSecond) / 2;
    }

    public static double memcpyGib(MoveFigures reads, MoveFigures writes) {
        return (reads.memcpyGibPerSecond + writes.memcpyGibPerSecond) / 2;
    }

    public static double millis(MoveFigures reads, MoveFigures writes) {
        return (reads.totalMillis + writes.totalMillis) / 2;
    }

    /** Adds a case's row to a report, for all benchmarks that move regions. */
    public static BenchReport.Row row(
            BenchReport report, MoveCase how, long regionBytes, MoveFigures reads, MoveFigures writes) {
        return report.row()
                .put("regions", (long) how.move())
                .put("unpaused_reads", how.options().unpausedReads())
                .put("pause", how.name())
                .put("region_bytes", regionBytes)
                .put("chunk_bytes", (long) how.options().chunkBytes())
                .put("window_bytes", how.options().windowBytes())
                .put("read_drop_pct", reads.dropPercent)
                .put("write_drop_pct", writes.dropPercent)
                .put("memcpy_read_drop_pct", reads.memcpyDropPercent)
                .put("memcpy_write_drop_pct", writes.memcpyDropPercent)
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
                .put("writes_per_s", writes.perSecond);
    }
}
