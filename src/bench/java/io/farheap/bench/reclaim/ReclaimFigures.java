package io.farheap.bench.reclaim;

import io.farheap.bench.move.LostContent;
import io.farheap.bench.move.MoveTurns;
import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.MedianRatio;
import io.farheap.bench.report.Samples;
import io.farheap.bench.report.Validity;
import io.farheap.migration.MigrationResult;
import java.util.Locale;
import java.util.Optional;

/** Reclaims of a case under one load. */
final class ReclaimFigures {

    private static final double GIB = 1L << 30;

    private final MoveTurns turns = new MoveTurns();
    private final Samples notice = new Samples();
    private final Samples alert = new Samples();
    private final Samples copy = new Samples();
    private final Samples move = new Samples();
    private final Samples release = new Samples();
    private final Samples end = new Samples();
    private final Samples total = new Samples();
    private final Samples gib = new Samples();
    private final Samples bareDrop = new Samples();
    private final Samples bareGib = new Samples();
    private final Samples bareCallGib = new Samples();
    private final Samples ratios = new Samples();
    private int reclaims;
    private int lossy;
    private int killed;
    private LostContent lost = LostContent.NONE;
    private long failed;

    MoveTurns turns() {
        return turns;
    }

    void addBare(MigrationResult bare, double dropPercent) {
        bareDrop.add(dropPercent);
        bareGib.add(rate(bare.bytes(), bare.copyNanos()));
        bareCallGib.add(rate(bare.bytes(), bare.totalNanos()));
    }

    void addReclaim(ReclaimTimes times) {
        reclaims++;
        killed += times.killed() ? 1 : 0;
        add(notice, times.noticeMillis());
        add(alert, times.alertMillis());
        if (times.left() == 0) {
            // The server was killed before: the bytes that were lost tell what that cost.
            return;
        }
        copy.add(times.copyMillis());
        move.add(times.moveMillis());
        add(release, times.releaseMillis());
        add(end, times.endMillis());
        total.add(times.totalMillis());
        gib.add(times.gibPerSecond());
    }

    /** Adds a time, unless one of the events between which it passes did not happen. */
    private static void add(Samples samples, double figure) {
        if (!Double.isNaN(figure)) {
            samples.add(figure);
        }
    }

    /** @param bare the bare migration of the same turn */
    void addReclaim(ReclaimTimes times, MigrationResult bare) {
        addReclaim(times);
        ratios.add(times.gibPerSecond() / rate(bare.bytes(), bare.copyNanos()));
    }

    /** @param some content that one reclaim has lost */
    void addLost(LostContent some) {
        lost = lost.plus(some);
        lossy += some.bytes() > 0 ? 1 : 0;
    }

    /** Adds requests that failed although their cache had lost nothing and its memory servers were left in time. */
    void addFailed(long requests) {
        failed += requests;
    }

    long lost() {
        return lost.bytes();
    }

    /**
     * Returns a sentence for people about what was lost under these loads.
     *
     * @return empty if nothing was lost, and no request has failed
     */
    static Optional<String> warning(ReclaimFigures... loads) {
        LostContent lost = LostContent.NONE;
        int lossy = 0;
        int reclaims = 0;
        long failed = 0;
        for (ReclaimFigures load : loads) {
            lost = lost.plus(load.lost);
            lossy += load.lossy;
            reclaims += load.reclaims;
            failed += load.failed;
        }
        if (lossy > 0) {
            return Optional.of(String.format(
                    Locale.ROOT,
                    "DATA WAS LOST: %d of %d reclaims have lost %,d bytes in %d regions",
                    lossy,
                    reclaims,
                    lost.bytes(),
                    lost.regions()));
        }
        return failed == 0
                ? Optional.empty()
                : Optional.of(
                        String.format(Locale.ROOT, "REQUESTS FAILED: %,d, in caches that had lost nothing", failed));
    }

    int reclaims() {
        return reclaims;
    }

    /** Returns how many reclaims have lost data. */
    int lossy() {
        return lossy;
    }

    int killed() {
        return killed;
    }

    double bareDropPercent() {
        return turns.validity().compared(bareDrop.median());
    }

    double bareGib() {
        return bareGib.median();
    }

    /** Returns the rate of reclaims over that of bare copies: the ratio of their medians. NaN if the row is invalid. */
    double ratio() {
        return MedianRatio.ofRates(turns.validity(), gib.median(), bareGib.median());
    }

    /** Returns the rate of reclaims over that of bare migrations as a whole. NaN if the row is invalid. */
    private double callRatio() {
        return MedianRatio.ofRates(turns.validity(), gib.median(), bareCallGib.median());
    }

    double longestMillis() {
        return total.most();
    }

    private static double rate(long bytes, long nanos) {
        return bytes / GIB / (nanos / 1e9);
    }

    /** Returns the times of the phases: medians, in ms. */
    String phases() {
        return "%8.1f%8.1f%8.1f%8.1f%9.1f%8.1f%9.1f"
                .formatted(
                        notice.median(),
                        alert.median(),
                        move.median(),
                        copy.median(),
                        release.median(),
                        total.median(),
                        end.median());
    }

    /** Puts the fields beside those of a migration's row; means of the medians under both loads. */
    static void put(BenchReport.Row row, ReclaimFigures reads, ReclaimFigures writes) {
        Validity validity = reads.turns.validity().worse(writes.turns.validity());
        row.put("notice_ms", mean(reads.notice.median(), writes.notice.median()))
                .put("alert_ms", mean(reads.alert.median(), writes.alert.median()))
                .put("copy_ms", mean(reads.copy.median(), writes.copy.median()))
                .put("move_ms", mean(reads.move.median(), writes.move.median()))
                .put("release_ms", mean(reads.release.median(), writes.release.median()))
                .put("end_ms", mean(reads.end.median(), writes.end.median()))
                .put("least_gib_per_s", Math.min(reads.gib.least(), writes.gib.least()))
                .put("most_gib_per_s", Math.max(reads.gib.most(), writes.gib.most()))
                .put("bare_gib_per_s", mean(reads.bareGib.median(), writes.bareGib.median()))
                .put("bare_call_gib_per_s", mean(reads.bareCallGib.median(), writes.bareCallGib.median()))
                .put("ratio", validity.compared(mean(reads.ratio(), writes.ratio())))
                .put("least_ratio", validity.compared(Math.min(reads.ratios.least(), writes.ratios.least())))
                .put("most_ratio", validity.compared(Math.max(reads.ratios.most(), writes.ratios.most())))
                .put("call_ratio", validity.compared(mean(reads.callRatio(), writes.callRatio())))
                .put("bare_read_drop_pct", validity.compared(reads.bareDrop.median()))
                .put("bare_write_drop_pct", validity.compared(writes.bareDrop.median()))
                .put("reclaims", (long) reads.reclaims + writes.reclaims)
                .put("lost_bytes", reads.lost.bytes() + writes.lost.bytes())
                .put("lost_reclaims", (long) reads.lossy + writes.lossy)
                .put("lost_regions", (long) reads.lost.regions() + writes.lost.regions());
    }

    /** Puts the fields of reclaims with a kill at the end of their notice. */
    void putDeadline(BenchReport.Row row) {
        row.put("reclaims", (long) reclaims)
                .put("lost_reclaims", (long) lossy)
                .put("lost_bytes", lost.bytes())
                .put("killed", (long) killed)
                .put("notice_ms", notice.median())
                .put("alert_ms", alert.median())
                .put("copy_ms", copy.median())
                .put("move_ms", move.median())
                .put("release_ms", release.median())
                .put("end_ms", end.median())
                .put("reclaim_ms", total.median())
                .put("longest_reclaim_ms", total.most())
                .put("gib_per_s", gib.median())
                .put("lost_regions", (long) lost.regions())
                .put("failed_requests", failed);
    }

    static double mean(double one, double other) {
        return (one + other) / 2;
    }
}
