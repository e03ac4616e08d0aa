package io.farheap.bench.procedure;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.bench.machine.FirstCore;
import io.farheap.cache.Buffer;
import io.farheap.cache.Cache;
import io.farheap.cache.CacheSession;
import io.farheap.cache.Procedure;
import io.farheap.cache.contract.CallCompletion;
import io.farheap.cache.contract.Completion;
import java.util.SplittableRandom;
import org.HdrHistogram.Histogram;

/**
 * Keeps as many calls, or reads of 16 bytes, under way as a session accepts; on the first core. Every 64th call is
 * timed.
 */
final class CallLoad implements AutoCloseable {

    private static final int PLACES = 128;
    private static final int PLACE_BYTES = 64;
    private static final int TIMED_MASK = 63;

    private final FirstCore core;
    private final CacheSession session;
    private final Buffer buffer;
    private final PointerChains chains;
    private final SplittableRandom random;
    private final int[] free = new int[PLACES];
    private final long[] begun = new long[PLACES];
    private int freeCount;
    private long ended;
    private long failed;
    final Histogram latency = new Histogram(3);

    private final CallCompletion called = (token, status, code, bytes) -> {
        failed += status == 0 ? 0 : 1;
        end((int) token);
    };
    private final Completion read = (token, status) -> {
        failed += status == 0 ? 0 : 1;
        end((int) token);
    };

    CallLoad(FirstCore core, Cache cache, PointerChains chains, long seed) {
        this.chains = chains;
        this.random = new SplittableRandom(seed);
        this.core = core;
        this.session = core.run(cache::openSession);
        this.buffer = cache.allocate(PLACES * PLACE_BYTES);
        for (int i = 0; i < PLACES; i++) {
            free[freeCount++] = i;
        }
    }

    private void end(int place) {
        free[freeCount++] = place;
        ended++;
        if (begun[place] != 0) {
            latency.recordValue(System.nanoTime() - begun[place]);
        }
    }

    /** @return calls a second */
    double calls(Procedure procedure, long hops, long nanos) {
        return run(nanos, place -> {
            long at = (long) place * PLACE_BYTES;
            long start = chains.any(random);
            buffer.segment().set(JAVA_LONG, at, start);
            buffer.segment().set(JAVA_LONG, at + 8, hops);
            return session.call(procedure, start, buffer, at, 16, at + 16, 8, called, place);
        });
    }

    /** @return reads a second */
    double reads(long nanos) {
        return run(
                nanos, place -> session.read(chains.any(random), buffer, (long) place * PLACE_BYTES, 16, read, place));
    }

    private interface Issue {
        boolean at(int place);
    }

    private double run(long nanos, Issue issue) {
        return core.run(() -> load(nanos, issue));
    }

    private double load(long nanos, Issue issue) {
        long before = ended;
        long start = System.nanoTime();
        long now = start;
        long issued = 0;
        // A rate of 0, which a short turn on a busy machine may have, cannot be compared.
        while (now - start < nanos || ended == before) {
            for (int i = 0; i < 256; i++) {
                while (freeCount > 0) {
                    int place = free[freeCount - 1];
                    begun[place] = (issued & TIMED_MASK) == 0 ? System.nanoTime() : 0;
                    freeCount--;
                    if (!issue.at(place)) {
                        free[freeCount++] = place;
                        break;
                    }
                    issued++;
                }
                session.poll();
            }
            now = System.nanoTime();
        }
        double rate = (ended - before) * 1e9 / (now - start);
        session.drain();
        return rate;
    }

    /** Returns how many operations have failed. */
    long failed() {
        return failed;
    }

    @Override
    public void close() {
        core.run(session::close);
        buffer.close();
    }
}
