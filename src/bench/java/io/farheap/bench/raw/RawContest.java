package io.farheap.bench.raw;

import io.farheap.bench.machine.ClockCost;
import io.farheap.bench.report.ModelLateness;
import io.farheap.bench.report.Quartiles;
import io.farheap.bench.report.Samples;
import io.farheap.bench.report.TurnWarmUp;
import io.farheap.bench.report.Turns;
import io.farheap.latency.LatencyTracking;
import io.farheap.verbs.RawLoop;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A C loop, the same loop in Java on {@code io.farheap.verbs}, and a cache's session with and without latency tracking,
 * taking turns at one queue depth, in an order that rotates. A turn is as many operations as take about a tenth of a
 * millisecond, under one pair of clock reads. Each side has local and remote memory of its own: on shared memory a side
 * would find in the processor's caches the data of the side before it.
 */
public final class RawContest implements AutoCloseable {

    /** For each side: long enough for the compiler, which works in parallel. */
    private static final long WARM_UP_NANOS = 300_000_000L;

    private static final int WARM_UP_PATIENCE = 3;
    private static final int COPY_OPERATIONS = 2_000_000;
    private static final int MIN_OPERATIONS = 32;
    private static final int MAX_OPERATIONS = 4_096;
    private static final int SAMPLES = 32;
    private static final int SAMPLE_EVERY = 16;
    private static final double P99 = 0.99;

    private static final int C = 0;
    private static final int VERBS = 1;
    private static final int TRACKED = 2;
    private static final int UNTRACKED = 3;

    private final RawTarget target;
    private final RawSession tracked;
    private final RawSession untracked;
    private final int depth;
    private final int list;

    /** @param server with two free regions, of at least {@code maxBytes} */
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

    RawRow measure(RawOperation operation, int bytes, int turns, ModelLateness lateness) {
        int wanted = Math.clamp(COPY_OPERATIONS / bytes, MIN_OPERATIONS, MAX_OPERATIONS);
        int operations = Math.max(wanted / depth, 1) * depth;
        tracked.aim(operation, bytes);
        untracked.aim(operation, bytes);
        try (RawLoop loop = target.loop(operation, bytes, depth, list);
                RawTarget.Verbs verbs = target.verbs(operation, bytes, depth, list)) {
            Samples rawSingle = new Samples();
            Samples javaSingle = new Samples();
            List<Turns.Side<RuntimeException>> sides = operation.atomic()
                    ? List.of(turns(side(loop), operations, rawSingle), turns(verbs, operations, javaSingle))
                    : List.of(
                            turns(side(loop), operations, rawSingle),
                            turns(verbs, operations, null),
                            turns(tracked, operations, javaSingle),
                            turns(untracked, operations, null));
            long least = sides.size() * WARM_UP_NANOS;
            Turns taken = Turns.take(
                    sides,
                    new TurnWarmUp(sides.size(), least, WARM_UP_PATIENCE * least, System::nanoTime),
                    turns,
                    lateness::restart);
            double clock = ClockCost.nanos();
            return new RawRow(
                    operation,
                    bytes,
                    depth,
                    list,
                    taken.of(C).quartiles(),
                    taken.of(VERBS).quartiles(),
                    operation.atomic() ? Quartiles.NONE : taken.of(TRACKED).quartiles(),
                    operation.atomic() ? Quartiles.NONE : taken.of(UNTRACKED).quartiles(),
                    rawSingle.quantile(P99) - clock,
                    javaSingle.quantile(P99) - clock,
                    taken.settled(),
                    lateness.validity());
        }
    }

    /**
     * Returns the turns of a side.
     *
     * @param single receives the times of single operations, if the queue depth is 1; null if they are not measured
     */
    private Turns.Side<RuntimeException> turns(RawSide side, int operations, @Nullable Samples single) {
        return turn -> {
            double each = (double) side.run(operations) / operations;
            if (single != null && depth == 1 && turn >= 0) {
                sample(side, single);
            }
            return each;
        };
    }

    private static void sample(RawSide side, Samples single) {
        long[] nanos = new long[SAMPLES];
        side.sample(SAMPLE_EVERY, nanos);
        for (long one : nanos) {
            single.add((double) one);
        }
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

    @Override
    public void close() {
        tracked.close();
        untracked.close();
    }
}
