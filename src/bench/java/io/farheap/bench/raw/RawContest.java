package io.farheap.bench.raw;

import io.farheap.bench.machine.ClockCost;
import io.farheap.latency.LatencyTracking;
import io.farheap.verbs.RawLoop;
import java.util.Arrays;

/**
 * A C loop, the same loop in Java on {@code io.farheap.verbs}, and a cache's session with and without latency tracking,
 * taking turns at one queue depth. A turn is as many operations as take about a tenth of a millisecond, under one pair
 * of clock reads.
 */
public final class RawContest implements AutoCloseable {

    /**
     * Medians over the turns, in ns per operation; the session's are NaN if it has no such operation. The 99th
     * percentiles are of single operations, less the cost of reading the clock, and NaN above queue depth 1.
     */
    record Row(
            RawOperation operation,
            int size,
            int depth,
            int list,
            double raw,
            double rawLow,
            double rawHigh,
            double verbs,
            double session,
            double untracked,
            double rawP99,
            double javaP99) {

        /**
         * Returns the figure for users of Java: the session's, or that of verbs if the session has no such operation.
         */
        double java() {
            return Double.isNaN(session) ? verbs : session;
        }
    }

    private static final int WARM_UP_TURNS = 20;
    private static final long WARM_UP_NANOS = 300_000_000L;
    private static final int COPY_OPERATIONS = 2_000_000;
    private static final int MIN_OPERATIONS = 32;
    private static final int MAX_OPERATIONS = 4_096;
    private static final int SAMPLES = 32;
    private static final int SAMPLE_EVERY = 16;

    private final RawTarget target;
    private final RawSession tracked;
    private final RawSession untracked;
    private final int depth;
    private final int list;

    /** @param server with three free regions, of at least {@code maxBytes} */
    RawContest(String server, RawTarget target, int maxBytes, int depth, int list) {
        this.target = target;
        this.depth = depth;
        this.list = list;
        tracked = new RawSession(server, maxBytes, depth, list, LatencyTracking.SAMPLED);
        try {
            untracked = new RawSession(server, maxBytes, depth, list, LatencyTracking.NONE);
        } catch (Throwable e) {
            tracked.close();
            throw e;
        }
    }

    Row measure(RawOperation operation, int bytes, int turns) {
        int wanted = Math.clamp(COPY_OPERATIONS / bytes, MIN_OPERATIONS, MAX_OPERATIONS);
        int operations = Math.max(wanted / depth, 1) * depth;
        tracked.aim(operation, bytes);
        untracked.aim(operation, bytes);
        try (RawLoop loop = target.loop(operation, bytes, depth, list);
                RawTarget.Verbs verbs = target.verbs(operation, bytes, depth, list)) {
            RawSide[] sides = operation.atomic()
                    ? new RawSide[] {side(loop), verbs}
                    : new RawSide[] {side(loop), verbs, tracked, untracked};
            double[][] nanos = new double[4][turns];
            Arrays.fill(nanos[2], Double.NaN);
            Arrays.fill(nanos[3], Double.NaN);
            long[][] samples = new long[2][SAMPLES * turns];
            for (RawSide side : sides) {
                warmUp(side, operations);
            }
            for (int turn = -WARM_UP_TURNS; turn < turns; turn++) {
                for (int i = 0; i < sides.length; i++) {
                    double each = (double) sides[i].run(operations) / operations;
                    if (turn >= 0) {
                        nanos[i][turn] = each;
                    }
                }
                if (depth == 1 && turn >= 0) {
                    sample(sides[0], samples[0], turn);
                    sample(sides[operation.atomic() ? 1 : 2], samples[1], turn);
                }
            }
            double clock = ClockCost.nanos();
            return new Row(
                    operation,
                    bytes,
                    depth,
                    list,
                    percentile(nanos[0], 0.5),
                    percentile(nanos[0], 0.25),
                    percentile(nanos[0], 0.75),
                    percentile(nanos[1], 0.5),
                    percentile(nanos[2], 0.5),
                    percentile(nanos[3], 0.5),
                    depth == 1 ? percentile(toDoubles(samples[0]), 0.99) - clock : Double.NaN,
                    depth == 1 ? percentile(toDoubles(samples[1]), 0.99) - clock : Double.NaN);
        }
    }

    /** Runs long enough for the compiler, which works in parallel. */
    private static void warmUp(RawSide side, int operations) {
        long end = System.nanoTime() + WARM_UP_NANOS;
        while (System.nanoTime() - end < 0) {
            side.run(operations);
        }
    }

    private static void sample(RawSide side, long[] all, int turn) {
        long[] some = new long[SAMPLES];
        side.sample(SAMPLE_EVERY, some);
        System.arraycopy(some, 0, all, turn * SAMPLES, SAMPLES);
    }

    private static RawSide side(RawLoop loop) {
        return new RawSide() {
            @Override
            public long run(int operations) {
                return loop.run(operations);
            }

            @Override
            public void sample(int every, long[] nanos) {
                loop.sample(every, nanos);
            }
        };
    }

    private static double[] toDoubles(long[] values) {
        return Arrays.stream(values).asDoubleStream().toArray();
    }

    public static double percentile(double[] values, double share) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[(int) Math.min(sorted.length - 1L, Math.round(share * (sorted.length - 1)))];
    }

    @Override
    public void close() {
        tracked.close();
        untracked.close();
    }
}
