package io.farheap.bench.reclaim;

import io.farheap.bench.machine.Memcpy;
import io.farheap.bench.move.LoadWindow;
import io.farheap.bench.move.LostContent;
import io.farheap.bench.move.MigrationLoad;
import io.farheap.bench.move.MoveCase;
import io.farheap.bench.move.RecordContent;
import io.farheap.bench.report.ModelLateness;
import io.farheap.migration.MigrationResult;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A turn of a case: a server leaves a cache under a load. The reclaim is measured beside a quiet time, a memcpy of as
 * many bytes, repeated for a while, and a bare migration of the same regions between two servers of that size. The
 * order of these four rotates from turn to turn; what follows the reclaim runs on the server that took the regions,
 * since the other one has ended.
 */
final class ReclaimBench {

    private static final double GIB = 1L << 30;
    private static final long SETTLE_NANOS = 20_000_000;
    /** A window of a few ms has too few of the kernel's time slices to compare rates. */
    private static final long LEAST_MEMCPY_NANOS = 200_000_000;
    /** Warm-ups of the bare migration between two servers, there and back. */
    private static final int WARM_UPS = 1;

    // The windows of a turn.
    private static final int QUIET = 0;
    private static final int MEMCPY = 1;
    private static final int BARE = 2;
    static final int RECLAIM = 3;
    static final int WINDOWS = 4;

    private final ReclaimRig rig;
    private final MoveCase how;
    private final RecordContent content;
    private final Memcpy memcpy;
    private final ReclaimWindows order;
    /** How long the last bare migration took, of the warm-up or of the turn. */
    private long last = SETTLE_NANOS;

    /**
     * @param content that the cache has
     * @param turns of the case that count
     */
    ReclaimBench(ReclaimRig rig, MoveCase how, RecordContent content, Memcpy memcpy, int turns) {
        this.rig = rig;
        this.how = how;
        this.content = content;
        this.memcpy = memcpy;
        order = new ReclaimWindows(turns);
    }

    /**
     * Measures one turn under a load of reads, or of writes.
     *
     * @param turn negative in the warm-up
     * @throws IllegalStateException if the cache has not left a server within its notice
     */
    void run(boolean write, int turn, ReclaimFigures figures) {
        try (MigrationLoad load = new MigrationLoad(rig.cache(), write, 1, content)) {
            if (how.move() > 0) {
                startSpare(load);
            }
            new Turn(load, figures).run(turn);
        }
    }

    /** Starts a server for bare migrations and for the reclaim's regions, and warms it up. */
    private void startSpare(MigrationLoad load) {
        load.pause();
        rig.startSpare();
        for (int i = 0; i < WARM_UPS; i++) {
            last = Math.max(SETTLE_NANOS, rig.move(false).totalNanos());
            rig.move(true);
        }
        load.resume();
    }

    /** The windows of a turn. */
    private final class Turn implements ReclaimWindows.Steps {

        private final MigrationLoad load;
        private final ReclaimFigures figures;
        private final LoadWindow[] windows = new LoadWindow[WINDOWS];
        private MigrationResult bare = MigrationResult.NONE;
        private @Nullable ReclaimTimes reclaimed;
        private long copied;

        Turn(MigrationLoad load, ReclaimFigures figures) {
            this.load = load;
            this.figures = figures;
        }

        void run(int turn) {
            order.take(turn, how.move() > 0, this);
            add();
        }

        @Override
        public void startSpare() {
            ReclaimBench.this.startSpare(load);
        }

        @Override
        public void leaveSpare() {
            load.pause();
            rig.leaveSpare();
            load.resume();
        }

        @Override
        public void judge(Runnable windows) {
            try (ModelLateness lateness = new ModelLateness(rig.survivors())) {
                windows.run();
                figures.turns().addValidity(lateness.validity());
            }
        }

        @Override
        public void window(int number) {
            switch (number) {
                case QUIET -> windows[QUIET] = quiet(load);
                case MEMCPY -> {
                    windows[MEMCPY] = ReclaimBench.window(load);
                    copied = memcpy.runFor(LEAST_MEMCPY_NANOS);
                    windows[MEMCPY].end();
                }
                case BARE -> {
                    if (how.move() > 0) {
                        bare();
                    }
                }
                default -> reclaim();
            }
        }

        private void bare() {
            windows[BARE] = ReclaimBench.window(load);
            bare = rig.move(false);
            windows[BARE].end();
            last = Math.max(SETTLE_NANOS, windows[BARE].nanos());
            load.pause();
            rig.move(true);
            load.resume();
        }

        private void reclaim() {
            LoadWindow during = ReclaimBench.window(load);
            windows[RECLAIM] = during;
            ReclaimTimes times = null;
            if (how.move() > 0) {
                times = rig.reclaim(during::end);
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
            }
            reclaimed = times;
            figures.addLost(lost);
            load.resume();
        }

        private void add() {
            double gibPerSecond = Double.NaN;
            ReclaimTimes times = reclaimed;
            if (times != null) {
                gibPerSecond = times.gibPerSecond();
                figures.addBare(bare, windows[BARE].dropPercent(windows[QUIET]));
                figures.addReclaim(times, bare);
            }
            figures.turns()
                    .add(
                            windows[QUIET],
                            windows[MEMCPY],
                            windows[RECLAIM],
                            gibPerSecond,
                            gibPerSecond,
                            rig.cache().regionBytes() / GIB / (copied / 1e9),
                            Math.max(1, how.move()) * copied);
        }
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
