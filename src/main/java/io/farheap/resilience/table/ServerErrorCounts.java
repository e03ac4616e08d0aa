package io.farheap.resilience.table;

import io.farheap.remote.contract.RemoteServer;
import java.util.concurrent.atomic.LongAdder;

/**
 * The errors that a space's sessions have met at one server. Any thread counts; only the keeper's
 * {@code FailureDetector} judges.
 */
public final class ServerErrorCounts {

    /** Failures within this time count once, as each session notices the same failure by itself. */
    private static final long ONE_TIME_NANOS = 50_000_000;

    private static final long AGAIN_NANOS = 10_000_000_000L;

    public final RemoteServer server;
    /** READs of splits that were posted; sessions add theirs in batches. */
    public final LongAdder asked = new LongAdder();
    /** Splits that were found to be wrong. */
    public final LongAdder wrong = new LongAdder();
    /** Splits that disagree with others, if the splits do not show which of them are wrong. */
    public final LongAdder doubted = new LongAdder();
    /** Failures of connections, each of which fails all operations under way on it. */
    public final LongAdder failed = new LongAdder();
    /** Failures of connections that came at most 10 s after the one before. */
    public final LongAdder failedAgain = new LongAdder();
    /** Splits that had not come when a hedge, a timeout or a regeneration looked. */
    public final LongAdder late = new LongAdder();

    /** Whether the server is above the errorCorrectionLimit: then reads that involve it ask more splits at once. */
    public volatile boolean suspect;

    /** Whether its lease is lost and its slabs have been made void. */
    volatile boolean gone;

    private boolean everFailed;
    private long failedAt;

    public ServerErrorCounts(RemoteServer server) {
        this.server = server;
    }

    /**
     * Counts the failure of a session's connection.
     *
     * @param now in ns
     */
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
