package io.farheap.bench.resize;

import io.farheap.bench.move.LoadWindow;
import io.farheap.bench.move.MigrationLoad;
import io.farheap.bench.report.ModelLateness;
import io.farheap.bench.report.Rotation;
import io.farheap.bench.report.TurnWarmUp;
import io.farheap.cache.Cache;
import io.farheap.lifetime.CloseStack;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * Grows and shrinks a cache under a load on the part that stays; each resize is measured between two quiet times of the
 * same length. A load of reads and one of writes take turns, in an order that rotates; one stands still meanwhile.
 */
final class ResizeBench {

    private static final long SETTLE_NANOS = 20_000_000;
    private static final int MOST_WARM_UPS = 5;

    /** A load that takes turns with another. */
    interface Side {

        /** @return the rates of a turn, whose operations alone {@code late} has counted since */
        ResizeFigures.Turn turn();
    }

    private final Cache cache;
    private final long small;
    private final long large;
    private final ModelLateness lateness;

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
     * Measures under a load of reads, and under one of writes.
     *
     * @param turns of each that count, at least, each with this many resizes, an even number; three to five others come
     *     before
     * @param everyNanos from the beginning of a resize to that of the next, at least
     * @return the figures of reads, and those of writes
     */
    List<ResizeFigures> run(int turns, int resizes, long everyNanos) {
        try (CloseStack opened = new CloseStack()) {
            List<Side> sides = new ArrayList<>();
            for (boolean write : new boolean[] {false, true}) {
                sides.add(new Load(opened.add(new MigrationLoad(cache, write, 1)), resizes, everyNanos));
            }
            return take(sides, turns, lateness);
        }
    }

    /** Lets the loads take their turns. */
    static List<ResizeFigures> take(List<? extends Side> sides, int turns, ModelLateness lateness) {
        int counted = Rotation.turns(sides.size(), turns);
        Rotation rotation = new Rotation(sides.size(), counted);
        // The quiet times and the resizes of each load.
        TurnWarmUp warmUp = TurnWarmUp.untimed(2 * sides.size());
        List<ResizeFigures> figures = new ArrayList<>();
        List<ModelLateness.Total> late = new ArrayList<>();
        for (Side _ : sides) {
            figures.add(new ResizeFigures());
            late.add(new ModelLateness.Total());
        }
        for (int turn = -1; turn >= -MOST_WARM_UPS && warmUp.more(); turn--) {
            for (int place : rotation.order(turn)) {
                ResizeFigures.Turn taken = sides.get(place).turn();
                warmUp.add(2 * place, taken.quiet());
                warmUp.add(2 * place + 1, taken.during());
            }
        }
        for (int turn = 0; turn < counted; turn++) {
            for (int place : rotation.order(turn)) {
                lateness.restart();
                figures.get(place).add(sides.get(place).turn());
                lateness.addTo(late.get(place));
            }
        }
        for (int place = 0; place < sides.size(); place++) {
            boolean settled = warmUp.settled(2 * place) && warmUp.settled(2 * place + 1);
            figures.get(place).end(settled, late.get(place).validity());
        }
        return figures;
    }

    /** A load on the cache, which is paused between its turns. */
    private final class Load implements Side {

        private final MigrationLoad load;
        private final int resizes;
        private final long everyNanos;
        /** How long the resizes of the last turn took. */
        private long last = SETTLE_NANOS;

        Load(MigrationLoad load, int resizes, long everyNanos) {
            this.load = load;
            this.resizes = resizes;
            this.everyNanos = everyNanos;
            load.pause();
        }

        @Override
        public ResizeFigures.Turn turn() {
            load.resume();
            LockSupport.parkNanos(SETTLE_NANOS);
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
            load.pause();
            return new ResizeFigures.Turn(
                    before.perSecond(),
                    during.perSecond(),
                    after.perSecond(),
                    during.longestMicros(),
                    Math.max(before.longestMicros(), after.longestMicros()),
                    resizing / 1e6 / resizes);
        }
    }

    private static LoadWindow quiet(MigrationLoad load, long nanos) {
        LoadWindow quiet = new LoadWindow(load);
        LockSupport.parkNanos(Math.max(SETTLE_NANOS, nanos));
        quiet.endWithSomething();
        return quiet;
    }
}
