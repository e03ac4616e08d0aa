package io.farheap.bench.reclaim;

import io.farheap.bench.machine.Memcpy;
import io.farheap.bench.move.LoadWindow;
import io.farheap.bench.move.LostContent;
import io.farheap.bench.move.MigrationLoad;
import io.farheap.bench.move.MoveCase;
import io.farheap.bench.move.RecordContent;
import io.farheap.bench.report.ModelLateness;
import io.farheap.bench.report.Rotation;
import io.farheap.migration.MigrationResult;
import java.util.concurrent.locks.LockSupport;

/**
 * A turn of a case: a server leaves a cache under a load. The reclaim is measured beside a quiet time, a memcpy of as
 * many bytes, repeated for a while, and a bare migration of the same regions between the same servers. The order of
 * these three rotates from turn to turn; the reclaim is the last, since the server then ends.
 */
final class ReclaimBench {

    private static final double GIB = 1L << 30;
    private static final long SETTLE_NANOS = 20_000_000;
    /** A window of a few ms has too few of the kernel's time slices to compare rates. */
    private static final long LEAST_MEMCPY_NANOS = 200_000_000;
    /** Warm-ups of the bare migration between two servers, there and back. */
    private static final int WARM_UPS = 1;

    // The windows of a turn before the reclaim.
    private static final int QUIET = 0;
    private static final int MEMCPY = 1;
    private static final int BARE = 2;
    private static final int WINDOWS = 3;

    private final ReclaimRig rig;
    private final MoveCase how;
    private final RecordContent content;
    private final Memcpy memcpy;
    private final Rotation rotation = new Rotation(WINDOWS);
    /** How long the last bare migration took, of the warm-up or of the turn. */
    private long last = SETTLE_NANOS;

    /** @param content that the cache has */
    ReclaimBench(ReclaimRig rig, MoveCase how, RecordContent content, Memcpy memcpy) {
        this.rig = rig;
        this.how = how;
        this.content = content;
        this.memcpy = memcpy;
    }

    /**
     * Measures one turn under a load of reads, or of writes.
     *
     * @param turn negative in the warm-up
     * @throws IllegalStateException if the cache has not left a server within its notice
     */
    void run(boolean write, int turn, ReclaimFigures figures) {
        try (MigrationLoad load = new MigrationLoad(rig.cache(), write, 1, content)) {
            turn(load, turn, figures);
        }
    }

    private void turn(MigrationLoad load, int turn, ReclaimFigures figures) {
        if (how.move() > 0) {
            load.pause();
            rig.startSpare();
            for (int i = 0; i < WARM_UPS; i++) {
                last = Math.max(SETTLE_NANOS, rig.move(false).totalNanos());
                rig.move(true);
            }
            load.resume();
        }
        // The spare server copies the regions, and has them when the turn has ended.
        try (ModelLateness lateness = new ModelLateness(rig.survivors())) {
            measure(load, turn, figures);
            figures.turns().addValidity(lateness.validity());
        }
    }

    private void measure(MigrationLoad load, int turn, ReclaimFigures figures) {
        LoadWindow[] windows = new LoadWindow[WINDOWS];
        MigrationResult bare = MigrationResult.NONE;
        long copied = 0;
        for (int number : rotation.order(turn)) {
            switch (number) {
                case QUIET -> windows[QUIET] = quiet(load);
                case MEMCPY -> {
                    windows[MEMCPY] = window(load);
                    copied = memcpy.runFor(LEAST_MEMCPY_NANOS);
                    windows[MEMCPY].end();
                }
                default -> {
                    if (how.move() > 0) {
                        windows[BARE] = window(load);
                        bare = rig.move(false);
                        windows[BARE].end();
                        last = Math.max(SETTLE_NANOS, windows[BARE].nanos());
                        load.pause();
                        rig.move(true);
                        load.resume();
                    }
                }
            }
        }
        if (how.move() > 0) {
            load.pause();
            rig.leaveSpare();
            load.resume();
            figures.addBare(bare, windows[BARE].dropPercent(windows[QUIET]));
        }
        LoadWindow during = window(load);
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
        LostContent lost = content.lost(rig.cache());
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
                        windows[QUIET],
                        windows[MEMCPY],
                        during,
                        gibPerSecond,
                        gibPerSecond,
                        rig.cache().regionBytes() / GIB / (copied / 1e9),
                        Math.max(1, how.move()) * copied);
    }

    /** A window that begins when the load has settled. */
    private static LoadWindow window(MigrationLoad load) {
        LockSupport.parkNanos(SETTLE_NANOS);
        return new LoadWindow(load);
    }

    /** A window in which nothing but the load runs, as long as the last bare migration. */
    private LoadWindow quiet(MigrationLoad load) {
        LoadWindow quiet = window(load);
        LockSupport.parkNanos(last);
        quiet.endWithSomething();
        return quiet;
    }
}
