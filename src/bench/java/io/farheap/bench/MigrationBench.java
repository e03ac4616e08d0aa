package io.farheap.bench;

import io.farheap.cache.Cache;
import io.farheap.migration.MigrationOptions;
import io.farheap.migration.MigrationResult;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

/**
 * Regions that move back and forth between two servers under a load, each migration beside a quiet time as long as the
 * last one took and a memcpy of as many bytes, under the same load.
 */
final class MigrationBench {

    private static final double GIB = 1L << 30;
    private static final long SETTLE_NANOS = 20_000_000;
    private static final int WARM_UPS = 2;

    /**
     * What some regions move like.
     *
     * @param move how many; 0 for none, where what would be noise is measured
     * @param options how
     */
    record Case(int move, MigrationOptions options) {

        String name() {
            return move == 0 ? "none" : options.pause().name().toLowerCase();
        }
    }

    /**
     * Medians over the migrations of a case.
     *
     * @param dropPercent of the load's requests per second, against the quiet times
     * @param memcpyDropPercent the same while the memcpy runs: what any copy beside the load costs it on this machine
     * @param longestMicros that a request took during a migration
     * @param worstMicros of all migrations
     * @param quietMicros the longest of a quiet time
     */
    record Figures(
            double dropPercent,
            double memcpyDropPercent,
            double perSecond,
            double longestMicros,
            double worstMicros,
            double quietMicros,
            double gibPerSecond,
            double totalMillis,
            double memcpyGibPerSecond) {}

    private final Cache cache;
    private final String home;
    private final String spare;
    private final Memcpy memcpy;
    private final int repeat;

    /** @param home where all regions are */
    MigrationBench(Cache cache, String home, String spare, Memcpy memcpy, int repeat) {
        this.cache = cache;
        this.home = home;
        this.spare = spare;
        this.memcpy = memcpy;
        this.repeat = repeat;
    }

    /** Measures a case under a load of reads, or of writes. */
    Figures run(Case how, boolean write) {
        double[] drop = new double[repeat];
        double[] memcpyDrop = new double[repeat];
        double[] perSecond = new double[repeat];
        double[] longest = new double[repeat];
        double[] quiet = new double[repeat];
        double[] gib = new double[repeat];
        double[] total = new double[repeat];
        double[] copy = new double[repeat];
        try (MigrationLoad load = new MigrationLoad(cache, write, 1)) {
            long last = SETTLE_NANOS;
            for (int turn = -WARM_UPS; turn < repeat; turn++) {
                LockSupport.parkNanos(SETTLE_NANOS);
                long wait = last;
                Window before = new Window(load);
                LockSupport.parkNanos(wait);
                before.endWithSomething();
                Window beside = new Window(load);
                long copied = copy(how.move());
                beside.end();
                Window during = new Window(load);
                MigrationResult moved = move(how, turn, wait);
                during.end();
                last = Math.max(SETTLE_NANOS, during.nanos);
                if (turn >= 0) {
                    perSecond[turn] = before.perSecond();
                    drop[turn] = 100 * (1 - during.perSecond() / before.perSecond());
                    memcpyDrop[turn] = 100 * (1 - beside.perSecond() / before.perSecond());
                    longest[turn] = during.longest / 1e3;
                    quiet[turn] = before.longest / 1e3;
                    gib[turn] = moved.bytes() / GIB / (moved.copyNanos() / 1e9);
                    total[turn] = during.nanos / 1e6;
                    copy[turn] = cache.regionBytes() / GIB / (copied / 1e9);
                }
            }
        }
        moveTo(home, new Case(cache.regions(), MigrationOptions.DEFAULT));
        return new Figures(
                median(drop),
                median(memcpyDrop),
                median(perSecond),
                median(longest),
                Arrays.stream(longest).max().orElseThrow(),
                median(quiet),
                median(gib),
                median(total),
                median(copy));
    }

    /**
     * As much as moves, and a region where none does.
     *
     * @return nanoseconds for one region
     */
    private long copy(int regions) {
        int times = Math.max(1, regions);
        long nanos = 0;
        for (int i = 0; i < times; i++) {
            nanos += memcpy.run();
        }
        return nanos / times;
    }

    private MigrationResult move(Case how, int turn, long nanos) {
        if (how.move() == 0) {
            LockSupport.parkNanos(nanos);
            return MigrationResult.NONE;
        }
        return moveTo((turn + WARM_UPS) % 2 == 0 ? spare : home, how);
    }

    private MigrationResult moveTo(String server, Case how) {
        List<Integer> regions = IntStream.range(0, how.move())
                .filter(region -> !cache.serverOf(region).equals(server))
                .boxed()
                .toList();
        return cache.migrate(regions, server, how.options());
    }

    static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }

    /** What a load does meanwhile. */
    private static final class Window {

        private final MigrationLoad load;
        private final long started;
        private long done;
        private long nanos;
        private long longest;

        Window(MigrationLoad load) {
            this.load = load;
            load.forgetLongest();
            done = load.done();
            started = System.nanoTime();
        }

        /**
         * Ends once anything has been done: nothing can be compared with a rate of 0, which a busy machine's short time
         * may have.
         */
        void endWithSomething() {
            while (load.done() == done && load.running()) {
                Thread.yield();
            }
            end();
        }

        void end() {
            done = load.done() - done;
            nanos = System.nanoTime() - started;
            longest = load.longestNanos();
        }

        double perSecond() {
            return done / (nanos / 1e9);
        }
    }
}
