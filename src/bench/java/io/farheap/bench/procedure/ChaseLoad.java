package io.farheap.bench.procedure;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.bench.machine.FirstCore;
import io.farheap.cache.Buffer;
import io.farheap.cache.Cache;
import io.farheap.cache.CacheSession;
import io.farheap.cache.Procedure;
import io.farheap.cache.contract.CallCompletion;
import io.farheap.cache.contract.Completion;
import io.farheap.procedure.CallStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Keeps {@value #CHASES} chases under way on the first core: each is one call, or as many READs, of which the next one
 * begins when the last has ended. {@value #SESSIONS} sessions share them, since a queue pair of the ConnectX-5 model
 * accepts few operations. Whatever can be sent is sent at once.
 */
final class ChaseLoad implements AutoCloseable {

    static final int CHASES = 16;
    static final int SESSIONS = 2;

    private static final int PLACE_BYTES = 64;
    private static final long RESULT = 16;
    private static final int LOOK_EVERY = 64;

    private final FirstCore core;
    private final PointerChains chains;
    private final int depth;
    private final SplittableRandom random;
    private final List<CacheSession> sessions = new ArrayList<>();
    private final Buffer buffer;
    /** By the number of a chase. */
    private final long[] node = new long[CHASES];

    private final int[] readsLeft = new int[CHASES];

    /** Chases of which the next request has to be issued. */
    private int[] ready = new int[CHASES];

    private int[] issuing = new int[CHASES];
    private int readyCount;
    private long ended;
    private long failed;

    private final CallCompletion called = (token, status, code, bytes) -> {
        failed += status == CallStatus.DONE ? 0 : 1;
        ended++;
        ready[readyCount++] = (int) token;
    };
    private final Completion read = (token, status) -> {
        failed += status == 0 ? 0 : 1;
        hopped((int) token);
    };

    /** @param depth hops of a chase; 0 compares an empty call with one READ */
    ChaseLoad(FirstCore core, Cache cache, PointerChains chains, int depth, SplittableRandom random) {
        this.core = core;
        this.chains = chains;
        this.depth = depth;
        this.random = random;
        for (int i = 0; i < SESSIONS; i++) {
            CacheSession session = core.run(cache::openSession);
            sessions.add(session);
        }
        buffer = cache.allocate(CHASES * PLACE_BYTES);
        for (int chase = 0; chase < CHASES; chase++) {
            ready[readyCount++] = chase;
        }
    }

    private void hopped(int chase) {
        node[chase] = buffer.segment().get(JAVA_LONG, (long) chase * PLACE_BYTES + RESULT);
        if (--readsLeft[chase] == 0) {
            ended++;
        }
        ready[readyCount++] = chase;
    }

    /** @return chases a second, a call each */
    double calls(Procedure procedure, long nanos) {
        return run(nanos, (session, chase) -> {
            long at = (long) chase * PLACE_BYTES;
            long start = chains.any(random);
            buffer.segment().set(JAVA_LONG, at, start);
            buffer.segment().set(JAVA_LONG, at + Long.BYTES, depth);
            return session.call(procedure, start, buffer, at, 2 * Long.BYTES, at + RESULT, Long.BYTES, called, chase);
        });
    }

    /** @return chases a second, a READ for each hop */
    double reads(long nanos) {
        return run(nanos, (session, chase) -> {
            if (readsLeft[chase] == 0) {
                node[chase] = chains.any(random);
                readsLeft[chase] = Math.max(1, depth);
            }
            return session.read(node[chase], buffer, (long) chase * PLACE_BYTES + RESULT, Long.BYTES, read, chase);
        });
    }

    private interface Issue {
        boolean next(CacheSession session, int chase);
    }

    private double run(long nanos, Issue issue) {
        double rate = core.run(() -> load(nanos, issue));
        if (failed > 0) {
            throw new IllegalStateException(failed + " operations failed");
        }
        return rate;
    }

    private double load(long nanos, Issue issue) {
        long before = ended;
        long start = System.nanoTime();
        long now = start;
        // A rate of 0, which a short turn on a busy machine may have, cannot be compared.
        while (now - start < nanos || ended == before) {
            for (int i = 0; i < LOOK_EVERY; i++) {
                issueReady(issue);
                sessions.forEach(CacheSession::poll);
            }
            now = System.nanoTime();
        }
        double rate = (ended - before) * 1e9 / (now - start);
        sessions.forEach(CacheSession::drain);
        return rate;
    }

    private void issueReady(Issue issue) {
        if (readyCount == 0) {
            return;
        }
        int[] chases = ready;
        int count = readyCount;
        ready = issuing;
        issuing = chases;
        readyCount = 0;
        for (int i = 0; i < count; i++) {
            int chase = chases[i];
            if (!issue.next(sessions.get(chase % SESSIONS), chase)) {
                ready[readyCount++] = chase;
            }
        }
        sessions.forEach(CacheSession::flush);
    }

    @Override
    public void close() {
        sessions.forEach(session -> core.run(session::close));
        buffer.close();
    }
}
