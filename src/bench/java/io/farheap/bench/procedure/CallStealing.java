package io.farheap.bench.procedure;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.ModelLateness;
import io.farheap.bench.report.Samples;
import io.farheap.bench.report.Validity;
import io.farheap.cache.Buffer;
import io.farheap.cache.Cache;
import io.farheap.cache.CacheSession;
import io.farheap.cache.Procedure;
import io.farheap.cache.Procedures;
import io.farheap.cache.contract.CallCompletion;
import io.farheap.control.grpc.ControlClient;
import io.farheap.procedure.CallStatus;
import java.util.Map;

/**
 * Measures which part of one session's calls is stolen: its ring belongs to one of two server threads, and the session
 * sleeps while its calls are executed.
 */
final class CallStealing {

    private static final int UNDER_WAY = 64;
    private static final long CALL_NANOS = 50_000;
    private static final long MANY_TURNS = 300_000;

    private final Cache cache;
    private final String server;
    private final Procedure procedure;
    private int underWay;
    private long ended;

    private final CallCompletion done = (token, status, code, bytes) -> {
        underWay--;
        ended++;
        if (status != CallStatus.DONE) {
            throw new IllegalStateException("a call ended as " + CallStatus.describe(status));
        }
    };

    CallStealing(Cache cache, String server) {
        this.cache = cache;
        this.server = server;
        this.procedure = cache.procedures().register(CountdownProcedure.class, Procedures.READS | Procedures.UNORDERED);
    }

    void run(BenchReport report, ModelLateness late, int repeat, long nanos) {
        Samples share = new Samples();
        Samples rate = new Samples();
        try (ControlClient control = ControlClient.connect(server);
                CacheSession session = cache.openSession();
                Buffer buffer = cache.allocate(4096)) {
            long turns = 0;
            // The last of these turns run compiled code.
            for (int i = 0; i < 10; i++) {
                double one = (double) (one(session, buffer, MANY_TURNS) - one(session, buffer, 0)) / MANY_TURNS;
                turns = (long) (CALL_NANOS / Math.max(0.1, one));
            }
            late.restart();
            for (int turn = -2; turn < repeat; turn++) {
                Map<String, Long> before = control.describe().counters();
                long from = ended;
                long begun = System.nanoTime();
                load(session, buffer, turns, nanos);
                double seconds = (System.nanoTime() - begun) / 1e9;
                Map<String, Long> after = control.describe().counters();
                if (turn >= 0) {
                    share.add((double) counted("procedures.stolen", before, after)
                            / Math.max(1, counted("procedures.calls.done", before, after)));
                    rate.add((ended - from) / seconds);
                }
            }
        }
        Validity validity = late.validity();
        System.out.printf(
                "%nsteal: of calls of about 50 us whose ring is on one of two threads the other executes %.0f%% (%.0f..%.0f); %,.0f calls/s%n",
                100 * share.median(), 100 * share.least(), 100 * share.most(), rate.median());
        report.row()
                .put("op", "steal")
                .put("stolen_share", share.median())
                .put("least_stolen_share", share.least())
                .put("most_stolen_share", share.most())
                .put("calls_per_s", rate.median())
                .put("late_pct", validity.latePercent())
                .put("invalid", validity.invalid())
                .put("computed", false);
    }

    private static long counted(String name, Map<String, Long> before, Map<String, Long> after) {
        return after.getOrDefault(name, 0L) - before.getOrDefault(name, 0L);
    }

    /** @return ns of a single call, the least of some turns */
    private long one(CacheSession session, Buffer buffer, long turns) {
        buffer.segment().set(JAVA_LONG, 0, turns);
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 50; i++) {
            long begun = System.nanoTime();
            session.callBlocking(procedure, 0, buffer, 0, 8, 64, 8);
            least = Math.min(least, System.nanoTime() - begun);
        }
        return least;
    }

    private void load(CacheSession session, Buffer buffer, long turns, long nanos) {
        buffer.segment().set(JAVA_LONG, 0, turns);
        long begun = System.nanoTime();
        while (System.nanoTime() - begun < nanos) {
            while (underWay < UNDER_WAY && session.call(procedure, 0, buffer, 0, 8, 64, 8, done, 0)) {
                underWay++;
            }
            session.flush();
            session.awaitProgress();
        }
        session.drain();
    }
}
