package io.farheap.bench.resize;

import io.farheap.bench.move.LoadWindow;
import io.farheap.bench.move.MigrationLoad;
import io.farheap.bench.report.ModelLateness;
import io.farheap.bench.report.TurnWarmUp;
import io.farheap.cache.Cache;
import java.util.concurrent.locks.LockSupport;

/**
 * Grows and shrinks a cache under a load on the part that stays; each resize is measured between two quiet times of the
 * same length.
 */
final class ResizeBench {

    private static final long SETTLE_NANOS = 20_000_000;
    private static final int MOST_WARM_UPS = 5;

    private final Cache cache;
    private final long small;
    private final long large;
    private final ModelLateness lateness;
    /** How long the resizes of the last turn took. */
    private long last;

    /**
     * @param cache of {@code small} bytes
     * @param lateness in this process and in the server
     */
    ResizeBench(Cache cache, long small, long large, ModelLateness lateness) {
        this.cache = cache;
        this.small = small;
        this.large = large;
        this.lateness = lateness;
    }

    /**
     * Measures under a load of reads, or of writes.
     *
     * @param turns that count, each with this many resizes, an even number; three to five others come before
     * @param everyNanos from the beginning of a resize to that of the next, at least
     */
    ResizeFigures run(boolean write, int turns, int resizes, long everyNanos) {
        ResizeFigures figures = new ResizeFigures();
        last = SETTLE_NANOS;
        try (MigrationLoad load = new MigrationLoad(cache, write, 1)) {
            TurnWarmUp warmUp = TurnWarmUp.untimed(2);
            for (int turn = 0; turn < MOST_WARM_UPS && warmUp.more(); turn++) {
                ResizeFigures.Turn taken = turn(load, resizes, everyNanos);
                warmUp.add(0, taken.quiet());
                warmUp.add(1, taken.during());
            }
            lateness.restart();
            for (int turn = 0; turn < turns; turn++) {
                figures.add(turn(load, resizes, everyNanos));
            }
            figures.end(warmUp.settled(), lateness.validity());
        }
        return figures;
    }

    private ResizeFigures.Turn turn(MigrationLoad load, int resizes, long everyNanos) {
        LoadWindow before = quiet(load, last);
        LoadWindow during = new LoadWindow(load);
        long resizing = 0;
        for (int resize = 0; resize < resizes; resize++) {
            long begun = System.nanoTime();
            cache.reshape(resize % 2 == 0 ? large : small);
            long taken = System.nanoTime() - begun;
            resizing += taken;
            if (taken < everyNanos) {
                LockSupport.parkNanos(everyNanos - taken);
            }
        }
        during.endWithSomething();
        last = during.nanos();
        LoadWindow after = quiet(load, last);
        return new ResizeFigures.Turn(
                before.perSecond(),
                during.perSecond(),
                after.perSecond(),
                during.longestMicros(),
                Math.max(before.longestMicros(), after.longestMicros()),
                resizing / 1e6 / resizes);
    }

    private static LoadWindow quiet(MigrationLoad load, long nanos) {
        LoadWindow quiet = new LoadWindow(load);
        LockSupport.parkNanos(Math.max(SETTLE_NANOS, nanos));
        quiet.endWithSomething();
        return quiet;
    }
}
