package io.farheap.bench.resize;

import io.farheap.bench.move.LoadWindow;
import io.farheap.bench.move.MigrationLoad;
import io.farheap.bench.report.Samples;
import io.farheap.cache.Cache;
import java.util.concurrent.locks.LockSupport;

/**
 * Grows and shrinks a cache under a load on the part that stays; each resize is measured between two quiet times of the
 * same length.
 */
final class ResizeBench {

    private static final long SETTLE_NANOS = 20_000_000;

    private final Cache cache;
    private final long small;
    private final long large;
    private final Samples ratio = new Samples();
    private final Samples same = new Samples();
    private final Samples longest = new Samples();
    private final Samples quietLongest = new Samples();
    private final Samples millis = new Samples();

    /** @param cache of {@code small} bytes */
    ResizeBench(Cache cache, long small, long large) {
        this.cache = cache;
        this.small = small;
        this.large = large;
    }

    /**
     * @param turns of so many resizes each, an even number; one more comes before, and does not count
     * @param everyNanos from the beginning of a resize to that of the next, at least
     */
    void run(boolean write, int turns, int resizes, long everyNanos) {
        try (MigrationLoad load = new MigrationLoad(cache, write, 1)) {
            long nanos = SETTLE_NANOS;
            for (int turn = -1; turn < turns; turn++) {
                LoadWindow before = quiet(load, nanos);
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
                LoadWindow after = quiet(load, during.nanos());
                nanos = during.nanos();
                if (turn >= 0) {
                    double quiet = (before.perSecond() + after.perSecond()) / 2;
                    ratio.add(during.perSecond() / quiet);
                    same.add(after.perSecond() / before.perSecond());
                    longest.add(during.longestMicros());
                    quietLongest.add(Math.max(before.longestMicros(), after.longestMicros()));
                    millis.add(resizing / 1e6 / resizes);
                }
            }
        }
    }

    private static LoadWindow quiet(MigrationLoad load, long nanos) {
        LoadWindow quiet = new LoadWindow(load);
        LockSupport.parkNanos(Math.max(SETTLE_NANOS, nanos));
        quiet.endWithSomething();
        return quiet;
    }

    /** Returns the ratios of operations a second to those of the quiet times around. */
    Samples ratio() {
        return ratio;
    }

    /** Returns the ratios between two quiet times. */
    Samples same() {
        return same;
    }

    /** Returns the longest request of each turn, us. */
    Samples longest() {
        return longest;
    }

    /** Returns the longest request of the quiet times around. */
    Samples quietLongest() {
        return quietLongest;
    }

    /** Returns how long resizes take. */
    Samples millis() {
        return millis;
    }
}
