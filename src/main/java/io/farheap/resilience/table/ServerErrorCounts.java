package io.farheap.resilience.table;

import io.farheap.remote.contract.RemoteServer;
import java.util.concurrent.atomic.LongAdder;

/**
 * What a space's sessions have met at one server. Any thread counts; the keeper's {@code FailureDetector} alone judges.
 */
public final class ServerErrorCounts {

    /** Failures of so long are of one time: each session meets it for itself. */
    private static final long ONE_TIME_NANOS = 50_000_000;

    private static final long AGAIN_NANOS = 10_000_000_000L;

    public final RemoteServer server;
    /** READs of splits that were asked; sessions add theirs in steps. */
    public final LongAdder asked = new LongAdder();
    /** Splits that were found to be wrong. */
    public final LongAdder wrong = new LongAdder();
    /** Splits that disagree with others, where nobody can tell which are wrong. */
    public final LongAdder doubted = new LongAdder();
    /** Connections that failed, each with all that was under way there. */
    public final LongAdder failed = new LongAdder();
    /** Times that some failed, at most 10 s after the time before. */
    public final LongAdder failedAgain = new LongAdder();
    /** Splits that were not there when a hedge, a timeout or a regeneration looked. */
    public final LongAdder late = new LongAdder();

    /** Above the errorCorrectionLimit: reads that involve it ask more at once. */
    public volatile boolean suspect;

    /** Its lease is lost, and what it had is void. */
    volatile boolean gone;

    private boolean everFailed;
    private long failedAt;

    public ServerErrorCounts(RemoteServer server) {
        this.server = server;
    }

    /** A session's connection has failed. @param now in ns */
    public synchronized void countFailure(long now) {
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
