package io.farheap.bench.procedure;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.bench.report.ModelLateness;
import io.farheap.bench.report.Samples;
import io.farheap.bench.report.TurnWarmUp;
import io.farheap.bench.report.Turns;
import io.farheap.cache.Buffer;
import io.farheap.cache.Cache;
import io.farheap.cache.CacheSession;
import io.farheap.cache.Procedure;
import io.farheap.cache.contract.CallCompletion;
import io.farheap.procedure.CallStatus;
import java.util.List;
import java.util.SplittableRandom;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/** Follows a chain by one call, and by as many blocking reads, in turns; one at a time. */
final class ChaseCost {

    private static final long LEAST_WARM_UPS = 4;
    private static final long MOST_WARM_UPS = 20;

    private final Cache cache;
    private final PointerChains chains;
    private final Procedure procedure;
    private final int depth;
    private final SplittableRandom random = new SplittableRandom(2);

    /** p50 of each turn, in ns. */
    final Samples call = new Samples();

    final Samples read = new Samples();
    /** Calls of all turns. */
    final Histogram calls = new Histogram(3);

    private boolean ended;
    private final CallCompletion done = (token, status, code, bytes) -> {
        ended = true;
        if (status != CallStatus.DONE) {
            throw new IllegalStateException("a call ended as " + CallStatus.describe(status));
        }
    };

    /** @param depth hops; 0 compares an empty call with one read */
    ChaseCost(Cache cache, PointerChains chains, Procedure procedure, int depth) {
        this.cache = cache;
        this.chains = chains;
        this.procedure = procedure;
        this.depth = depth;
    }

    /**
     * Measures both sides.
     *
     * @param late restarts before the first turn that counts
     * @return whether they had warmed up by then
     */
    boolean run(int turns, long turnNanos, ModelLateness late) {
        try (CacheSession session = cache.openSession();
                Buffer buffer = cache.allocate(4096)) {
            List<Turns.Side<RuntimeException>> sides = List.of(
                    turn -> p50(turnNanos, calls, turn >= 0, () -> call(session, buffer)),
                    turn -> p50(turnNanos, null, true, () -> read(session, buffer)));
            Turns taken = Turns.take(sides, warmUp(turnNanos), turns, late::restart);
            call.addAll(taken.of(0));
            read.addAll(taken.of(1));
            return taken.settled();
        }
    }

    /** Returns the warm-up of two sides: two turns of each at least, and ten at most. */
    static TurnWarmUp warmUp(long turnNanos) {
        return new TurnWarmUp(2, LEAST_WARM_UPS * turnNanos, MOST_WARM_UPS * turnNanos, System::nanoTime);
    }

    private void call(CacheSession session, Buffer buffer) {
        long start = chains.any(random);
        buffer.segment().set(JAVA_LONG, 0, start);
        buffer.segment().set(JAVA_LONG, 8, depth);
        ended = false;
        while (!session.call(procedure, start, buffer, 0, 16, 64, 8, done, 0)) {
            session.poll();
        }
        session.flush();
        while (!ended) {
            session.poll();
        }
    }

    private void read(CacheSession session, Buffer buffer) {
        long node = chains.any(random);
        for (int i = 0; i < Math.max(1, depth); i++) {
            session.readBlocking(node, buffer, 128, 8);
            node = buffer.segment().get(JAVA_LONG, 128);
        }
    }

    /** Returns the p50, in ns, of an operation that is repeated for a time. */
    static double p50(long turnNanos, @Nullable Histogram all, boolean counts, Runnable operation) {
        Histogram one = new Histogram(3);
        long begun = System.nanoTime();
        long now = begun;
        while (now - begun < turnNanos) {
            operation.run();
            long after = System.nanoTime();
            one.recordValue(after - now);
            now = after;
        }
        if (all != null && counts) {
            all.add(one);
        }
        return (double) one.getValueAtPercentile(50);
    }
}
