package io.farheap.bench.reclaim;

import io.farheap.bench.machine.Memcpy;
import io.farheap.bench.move.LoadWindow;
import io.farheap.bench.move.MigrationLoad;
import io.farheap.bench.move.MoveCase;
import io.farheap.bench.move.RecordContent;
import io.farheap.bench.report.ModelLateness;
import io.farheap.migration.MigrationResult;
import java.util.concurrent.locks.LockSupport;

/**
 * A server that leaves a cache under a load, again and again: each reclaim is measured beside a quiet time, a memcpy of
 * as many bytes, and a bare migration of the same regions between the same servers.
 */
final class ReclaimBench {

    private static final double GIB = 1L << 30;
    private static final long SETTLE_NANOS = 20_000_000;
    /** Warm-ups of the bare migration between two servers, there and back. */
    private static final int WARM_UPS = 1;

    private final ReclaimRig rig;
    private final MoveCase how;
    private final RecordContent content;
    private final Memcpy memcpy;

    /** @param content that the cache has */
    ReclaimBench(ReclaimRig rig, MoveCase how, RecordContent content, Memcpy memcpy) {
        this.rig = rig;
        this.how = how;
        this.content = content;
        this.memcpy = memcpy;
    }

    /**
     * Measures under a load of reads, or of writes.
     *
     * @param warmUps reclaims before the first that counts
     * @throws IllegalStateException if the cache has not left a server within its notice
     */
    ReclaimFigures run(boolean write, int warmUps, int repeat) {
        ReclaimFigures figures = new ReclaimFigures();
        try (MigrationLoad load = new MigrationLoad(rig.cache(), write, 1, content)) {
            for (int turn = -warmUps; turn < repeat; turn++) {
                // Warm-ups go into figures of their own.
                turn(load, turn < 0 ? new ReclaimFigures() : figures);
            }
        }
        return figures;
    }

    private void turn(MigrationLoad load, ReclaimFigures figures) {
        if (how.move() > 0) {
            load.pause();
            rig.startSpare();
            for (int i = 0; i < WARM_UPS; i++) {
                rig.move(false);
                rig.move(true);
            }
            load.resume();
        }
        // The spare server copies the regions, and has them when the turn has ended.
        try (ModelLateness lateness = new ModelLateness(rig.survivors())) {
            measure(load, figures);
            figures.turns().addValidity(lateness.validity());
        }
    }

    private void measure(MigrationLoad load, ReclaimFigures figures) {
        MigrationResult bare = MigrationResult.NONE;
        LoadWindow before = quiet(load, SETTLE_NANOS);
        LoadWindow beside = new LoadWindow(load);
        long copied = memcpy.run(how.move());
        beside.end();
        if (how.move() > 0) {
            LoadWindow during = new LoadWindow(load);
            bare = rig.move(false);
            during.end();
            double dropPercent = during.dropPercent(before);
            load.pause();
            rig.move(true);
            rig.leaveSpare();
            load.resume();
            figures.addBare(bare, dropPercent);
            before = quiet(load, during.nanos());
        }
        LoadWindow during = new LoadWindow(load);
        double gibPerSecond = Double.NaN;
        ReclaimTimes times = null;
        if (how.move() > 0) {
            times = rig.reclaim(during::end);
            gibPerSecond = times.gibPerSecond();
        } else {
            LockSupport.parkNanos(SETTLE_NANOS);
            during.end();
        }
        load.pause();
        long lost = content.lost(rig.cache());
        if (times != null) {
            if (times.killed() || times.stayed() > 0) {
                throw new IllegalStateException("a memory server was not left within its notice: " + times);
            }
            rig.awaitTold();
            figures.addReclaim(times, bare);
        }
        load.resume();
        figures.addLost(lost);
        figures.turns()
                .add(
                        before,
                        beside,
                        during,
                        gibPerSecond,
                        gibPerSecond,
                        rig.cache().regionBytes() / GIB / (copied / 1e9));
    }

    private static LoadWindow quiet(MigrationLoad load, long nanos) {
        LockSupport.parkNanos(SETTLE_NANOS);
        LoadWindow quiet = new LoadWindow(load);
        LockSupport.parkNanos(Math.max(SETTLE_NANOS, nanos));
        quiet.endWithSomething();
        return quiet;
    }
}
