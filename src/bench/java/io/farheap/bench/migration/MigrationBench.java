package io.farheap.bench.migration;

import io.farheap.bench.machine.Memcpy;
import io.farheap.bench.move.LoadWindow;
import io.farheap.bench.move.MigrationLoad;
import io.farheap.bench.move.MoveCase;
import io.farheap.bench.move.MoveFigures;
import io.farheap.bench.move.MoveTurns;
import io.farheap.cache.Cache;
import io.farheap.migration.MigrationOptions;
import io.farheap.migration.MigrationResult;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

/**
 * Moves regions back and forth between two servers under a load. Each migration is measured beside a quiet time as long
 * as the last migration and beside a memcpy of as many bytes, under the same load.
 */
final class MigrationBench {

    private static final double GIB = 1L << 30;
    private static final long SETTLE_NANOS = 20_000_000;
    private static final int WARM_UPS = 2;

    private final Cache cache;
    private final String home;
    private final String spare;
    private final Memcpy memcpy;
    private final int repeat;

    /** @param home the server on which all regions are */
    MigrationBench(Cache cache, String home, String spare, Memcpy memcpy, int repeat) {
        this.cache = cache;
        this.home = home;
        this.spare = spare;
        this.memcpy = memcpy;
        this.repeat = repeat;
    }

    /** Measures a case under a load of reads, or of writes. */
    MoveFigures run(MoveCase how, boolean write) {
        MoveTurns turns = new MoveTurns();
        try (MigrationLoad load = new MigrationLoad(cache, write, 1)) {
            long last = SETTLE_NANOS;
            for (int turn = -WARM_UPS; turn < repeat; turn++) {
                LockSupport.parkNanos(SETTLE_NANOS);
                long wait = last;
                LoadWindow before = new LoadWindow(load);
                LockSupport.parkNanos(wait);
                before.endWithSomething();
                LoadWindow beside = new LoadWindow(load);
                long copied = memcpy.run(how.move());
                beside.end();
                LoadWindow during = new LoadWindow(load);
                MigrationResult moved = move(how, turn, wait);
                during.end();
                last = Math.max(SETTLE_NANOS, during.nanos());
                if (turn >= 0) {
                    turns.add(
                            before,
                            beside,
                            during,
                            moved.bytes() / GIB / (moved.copyNanos() / 1e9),
                            cache.regionBytes() / GIB / (copied / 1e9));
                }
            }
        }
        moveTo(home, new MoveCase(cache.regions(), MigrationOptions.DEFAULT));
        return turns.figures();
    }

    private MigrationResult move(MoveCase how, int turn, long nanos) {
        if (how.move() == 0) {
            LockSupport.parkNanos(nanos);
            return MigrationResult.NONE;
        }
        return moveTo((turn + WARM_UPS) % 2 == 0 ? spare : home, how);
    }

    private MigrationResult moveTo(String server, MoveCase how) {
        List<Integer> regions = IntStream.range(0, how.move())
                .filter(region -> !cache.serverOf(region).equals(server))
                .boxed()
                .toList();
        return cache.migrate(regions, server, how.options());
    }
}
