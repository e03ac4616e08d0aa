package io.farheap.bench.procedure;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.bench.report.Samples;
import io.farheap.cache.Buffer;
import io.farheap.cache.Cache;
import io.farheap.cache.CacheSession;
import io.farheap.cache.Procedure;
import io.farheap.cache.contract.CallCompletion;
import io.farheap.procedure.CallStatus;
import java.util.SplittableRandom;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/** Follows a chain by one call, and by as many blocking reads, in turns; one at a time. */
final class ChaseCost {

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

    /** @param warmUps turns before those that count */
    void run(int warmUps, int turns, long turnNanos) {
        try (CacheSession session = cache.openSession();
                Buffer buffer = cache.allocate(4096)) {
            for (int turn = -warmUps; turn < turns; turn++) {
                double called = p50(turnNanos, calls, turn >= 0, () -> call(session, buffer));
                double readOne = p50(turnNanos, null, true, () -> read(session, buffer));
                if (turn >= 0) {
                    call.add(called);
                    read.add(readOne);
                }
            }
        }
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
