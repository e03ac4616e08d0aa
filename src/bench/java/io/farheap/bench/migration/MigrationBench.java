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
import io.farheap.cache.Cache;
import io.farheap.migration.MigrationOptions;
import io.farheap.migration.MigrationResult;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

/**
 * Moves regions back and forth between two servers under a load. In each turn there are a quiet time as long as the
 * last migration, a memcpy of as many bytes, and the migration, under the same load and in an order that rotates.
 */
final class MigrationBench {

    private static final double GIB = 1L << 30;
    private static final long SETTLE_NANOS = 20_000_000;
    private static final long WARM_UP_NANOS = 5_000_000_000L;

    // The windows of a turn.
    private static final int QUIET = 0;
    private static final int MEMCPY = 1;
    private static final int MOVE = 2;
    static final int WINDOWS = 3;

    private final Cache cache;
    private final String home;
    private final String spare;
    private final Memcpy memcpy;
    private final ModelLateness lateness;
    private final int repeat;
    private final Rotation rotation = new Rotation(WINDOWS);
    /** How long the last move took. */
    private long last;
    /** How many times regions were moved under this load. */
    private int moves;

    /** What was measured in a turn. */
    private record Turn(
            LoadWindow quiet, LoadWindow beside, LoadWindow during, MigrationResult moved, long memcpyNanos) {}

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

    /** Measures a case under a load of reads, or of writes. */
    MoveFigures run(MoveCase how, boolean write) {
        MoveTurns turns = new MoveTurns();
        last = SETTLE_NANOS;
        moves = 0;
        try (MigrationLoad load = new MigrationLoad(cache, write, 1)) {
            turns.settled(warmUp(load, how));
            lateness.restart();
            for (int turn = 0; turn < repeat; turn++) {
                add(turns, take(load, how, turn));
            }
            turns.addValidity(lateness.validity());
        }
        moveTo(home, new MoveCase(cache.regions(), MigrationOptions.DEFAULT));
        return turns.figures();
    }

    /**
     * Warms up for as many turns as count, and three at least, unless the load's rate and the move's agree before.
     *
     * @return whether they agree
     */
    private boolean warmUp(MigrationLoad load, MoveCase how) {
        TurnWarmUp warmUp = new TurnWarmUp(2, 0, WARM_UP_NANOS, System::nanoTime);
        int most = Math.max(TurnWarmUp.AGREEING, repeat);
        for (int turn = -1; turn >= -most && warmUp.more(); turn--) {
            Turn taken = take(load, how, turn);
            warmUp.add(0, taken.quiet().perSecond());
            warmUp.add(
                    1,
                    how.move() == 0
                            ? taken.during().perSecond()
                            : (double) taken.during().nanos());
        }
        return warmUp.settled();
    }

    private Turn take(MigrationLoad load, MoveCase how, int turn) {
        long wait = last;
        long copied = 0;
        MigrationResult moved = MigrationResult.NONE;
        LoadWindow[] windows = new LoadWindow[WINDOWS];
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
                    copied = memcpy.run(how.move());
                    window.end();
                }
                default -> {
                    moved = move(how, wait);
                    window.end();
                    last = Math.max(SETTLE_NANOS, window.nanos());
                }
            }
        }
        return new Turn(windows[QUIET], windows[MEMCPY], windows[MOVE], moved, copied);
    }

    private void add(MoveTurns turns, Turn taken) {
        MigrationResult moved = taken.moved();
        double gib = moved.bytes() == 0 ? Double.NaN : moved.bytes() / GIB;
        turns.add(
                taken.quiet(),
                taken.beside(),
                taken.during(),
                gib / (moved.copyNanos() / 1e9),
                gib / (taken.during().nanos() / 1e9),
                cache.regionBytes() / GIB / (taken.memcpyNanos() / 1e9));
    }

    private MigrationResult move(MoveCase how, long nanos) {
        if (how.move() == 0) {
            LockSupport.parkNanos(nanos);
            return MigrationResult.NONE;
        }
        return moveTo(moves++ % 2 == 0 ? spare : home, how);
    }

    private MigrationResult moveTo(String server, MoveCase how) {
        List<Integer> regions = IntStream.range(0, how.move())
                .filter(region -> !cache.serverOf(region).equals(server))
                .boxed()
                .toList();
        return cache.migrate(regions, server, how.options());
    }
}
