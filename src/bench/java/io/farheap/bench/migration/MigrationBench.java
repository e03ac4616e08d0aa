package io.farheap.bench.migration;

import io.farheap.bench.machine.Memcpy;
import io.farheap.bench.move.LoadWindow;
import io.farheap.bench.move.MigrationLoad;
import io.farheap.bench.move.MoveCase;
import io.farheap.bench.move.MoveFigures;
import io.farheap.bench.move.MoveTurns;
import io.farheap.bench.report.ModelLateness;
import io.farheap.bench.report.Rotation;
import io.farheap.bench.report.TurnWarmUp;
import io.farheap.bench.report.Turns;
import io.farheap.cache.Cache;
import io.farheap.migration.MigrationOptions;
import io.farheap.migration.MigrationResult;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

/**
 * Moves regions from one server to another under a load of reads, and under one of writes. All cases take turns under
 * both loads, in an order that rotates. In each turn there are a quiet time as long as the case's last migration, a
 * memcpy of as many bytes, repeated for a while, and the migration, under the same load and in an order that rotates.
 * Then the regions move back, which is not measured. So both servers' memory was written shortly before each turn:
 * before a case is measured, its regions were on each of them at least {@value TurnWarmUp#AGREEING} times.
 */
final class MigrationBench {

    private static final double GIB = 1L << 30;
    private static final long SETTLE_NANOS = 20_000_000;
    /** A window of a few ms has too few of the kernel's time slices to compare rates. */
    private static final long LEAST_MEMCPY_NANOS = 200_000_000;

    // The windows of a turn.
    private static final int QUIET = 0;
    private static final int MEMCPY = 1;
    private static final int MOVE = 2;
    static final int WINDOWS = 3;

    private static final int LOADS = 2;

    /**
     * What was measured of a case, under each load.
     *
     * @param firstMillis the mean of its first moves under both loads, which do not count: some processes' code was not
     *     compiled
     */
    record Result(MoveCase how, MoveFigures reads, MoveFigures writes, double firstMillis) {}

    private final Cache cache;
    private final String home;
    private final String spare;
    private final Memcpy memcpy;
    private final ModelLateness lateness;
    private final int repeat;

    /** A case under one load. */
    private final class Side implements Turns.Side<RuntimeException> {

        private final MigrationLoad load;
        private final MoveCase how;
        private final Rotation rotation;
        private final MoveTurns turns = new MoveTurns();
        private final TurnWarmUp warmUp = TurnWarmUp.untimed(2);
        private final ModelLateness.Total late = new ModelLateness.Total();
        /** How long its last move took. */
        private long last = SETTLE_NANOS;

        private double firstMillis = Double.NaN;

        /** @param load is paused between the turns */
        Side(MigrationLoad load, MoveCase how, Rotation rotation) {
            this.load = load;
            this.how = how;
            this.rotation = rotation;
        }

        @Override
        public double run(int turn) {
            LoadWindow[] windows = new LoadWindow[WINDOWS];
            long wait = last;
            long copied = 0;
            MigrationResult moved = MigrationResult.NONE;
            load.resume();
            lateness.restart();
            for (int number : rotation.order(turn)) {
                LockSupport.parkNanos(SETTLE_NANOS);
                LoadWindow window = new LoadWindow(load);
                windows[number] = window;
                switch (number) {
                    case QUIET -> {
                        LockSupport.parkNanos(wait);
                        window.endWithSomething();
                    }
                    case MEMCPY -> {
                        copied = memcpy.runFor(LEAST_MEMCPY_NANOS);
                        window.end();
                    }
                    default -> {
                        if (how.move() == 0) {
                            LockSupport.parkNanos(wait);
                        } else {
                            moved = moveTo(spare, how);
                        }
                        window.end();
                        last = Math.max(SETTLE_NANOS, window.nanos());
                    }
                }
            }
            List<ModelLateness.Counts> counts = lateness.since();
            load.pause();
            if (how.move() > 0) {
                moveTo(home, new MoveCase(how.move(), MigrationOptions.DEFAULT));
            }
            double figure = how.move() == 0 ? windows[MOVE].perSecond() : (double) windows[MOVE].nanos();
            if (turn == -1) {
                firstMillis = windows[MOVE].nanos() / 1e6;
            }
            if (turn < 0) {
                warmUp.add(0, windows[QUIET].perSecond());
                warmUp.add(1, figure);
            } else {
                late.add(counts);
                add(windows, moved, copied);
            }
            return figure;
        }

        private void add(LoadWindow[] windows, MigrationResult moved, long copied) {
            double gib = moved.bytes() == 0 ? Double.NaN : moved.bytes() / GIB;
            turns.add(
                    windows[QUIET],
                    windows[MEMCPY],
                    windows[MOVE],
                    gib / (moved.copyNanos() / 1e9),
                    gib / (windows[MOVE].nanos() / 1e9),
                    cache.regionBytes() / GIB / (copied / 1e9),
                    Math.max(1, how.move()) * copied);
        }

        MoveFigures figures() {
            turns.settled(warmUp.settled());
            turns.addValidity(late.validity());
            return turns.figures();
        }
    }

    /**
     * @param home the server on which all regions are
     * @param lateness in this process and in both servers
     */
    MigrationBench(Cache cache, String home, String spare, Memcpy memcpy, ModelLateness lateness, int repeat) {
        this.cache = cache;
        this.home = home;
        this.spare = spare;
        this.memcpy = memcpy;
        this.lateness = lateness;
        this.repeat = repeat;
    }

    /**
     * Returns the order of the windows of a turn.
     *
     * @param sides that take turns
     * @param repeat how many turns of each are wanted; so many are taken that the sides favour none
     */
    static Rotation windows(int sides, int repeat) {
        return new Rotation(WINDOWS, Rotation.turns(sides, repeat));
    }

    /** Measures all cases, and returns their figures in the same order. */
    List<Result> run(List<MoveCase> cases) {
        List<Side> sides = new ArrayList<>();
        try (MigrationLoad reads = new MigrationLoad(cache, false, 1);
                MigrationLoad writes = new MigrationLoad(cache, true, 1)) {
            reads.pause();
            writes.pause();
            Rotation rotation = windows(LOADS * cases.size(), repeat);
            for (MoveCase how : cases) {
                sides.add(new Side(reads, how, rotation));
                sides.add(new Side(writes, how, rotation));
            }
            // As many turns that do not count as turns that do, unless all sides' moves agree before.
            int warmUps = Math.max(TurnWarmUp.AGREEING, repeat);
            Turns.<RuntimeException>take(sides, TurnWarmUp.untimed(sides.size()), warmUps, repeat, () -> {});
        }
        List<Result> results = new ArrayList<>();
        for (int number = 0; number < cases.size(); number++) {
            Side underReads = sides.get(2 * number);
            Side underWrites = sides.get(2 * number + 1);
            results.add(new Result(
                    cases.get(number),
                    underReads.figures(),
                    underWrites.figures(),
                    (underReads.firstMillis + underWrites.firstMillis) / 2));
        }
        return results;
    }

    private MigrationResult moveTo(String server, MoveCase how) {
        List<Integer> regions = IntStream.range(0, how.move())
                .filter(region -> !cache.serverOf(region).equals(server))
                .boxed()
                .toList();
        return cache.migrate(regions, server, how.options());
    }
}
