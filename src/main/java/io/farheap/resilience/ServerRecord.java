package io.farheap.resilience;

import io.farheap.remote.RemoteServer;
import java.util.concurrent.atomic.LongAdder;

/** What a space's sessions have met at one server. Any thread counts; the keeper's {@link Judge} alone judges. */
final class ServerRecord {

    /** Failures of so long are of one time: each session meets it for itself. */
    private static final long ONE_TIME_NANOS = 50_000_000;

    private static final long AGAIN_NANOS = 10_000_000_000L;

    final RemoteServer server;
    /** READs of splits that were asked; sessions add theirs in steps. */
    final LongAdder asked = new LongAdder();
    /** Splits that were found to be wrong. */
    final LongAdder wrong = new LongAdder();
    /** Splits that disagree with others, where nobody can tell which are wrong. */
    final LongAdder doubted = new LongAdder();
    /** Connections that failed, each with all that was under way there. */
    final LongAdder failed = new LongAdder();
    /** Times that some failed, at most 10 s after the time before. */
    final LongAdder failedAgain = new LongAdder();
    /** Splits that were not there when a hedge, a timeout or a regeneration looked. */
    final LongAdder late = new LongAdder();

    /** Above the errorCorrectionLimit: reads that involve it ask more at once. */
    volatile boolean suspect;

    /** Its lease is lost, and what it had is void. */
    volatile boolean gone;

    private boolean everFailed;
    private long failedAt;

    ServerRecord(RemoteServer server) {
        this.server = server;
    }

    /** A session's connection has failed. @param now in ns */
    synchronized void countFailure(long now) {
        failed.increment();
        long since = now - failedAt;
        if (everFailed && since < ONE_TIME_NANOS) {
            return;
        }
        if (everFailed && since < AGAIN_NANOS) {
            failedAgain.increment();
        }
        everFailed = true;
        failedAt = now;
    }
}
