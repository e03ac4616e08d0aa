package io.farheap.resilience;

import io.farheap.remote.RemoteServer;
import java.util.concurrent.atomic.LongAdder;

/** What a space's sessions have met at one server. Any thread counts; the keeper alone judges. */
final class ServerRecord {

    final RemoteServer server;
    /** READs of splits that were asked; sessions add theirs in steps. */
    final LongAdder asked = new LongAdder();
    /** Splits that were found to be wrong, or may be. */
    final LongAdder wrong = new LongAdder();
    /** Operations that ended in error. */
    final LongAdder failed = new LongAdder();
    /** Splits that were not there when a hedge or a timeout looked. */
    final LongAdder late = new LongAdder();

    /** Above the errorCorrectionLimit: reads that involve it ask more at once. */
    volatile boolean suspect;

    /** Its lease is lost, and what it had is void. */
    volatile boolean gone;

    // The keeper's: sums at the beginning of the window, and since when it is suspect.
    private long askedBefore;
    private long errorsBefore;
    private long suspectSince;
    private boolean judgedSuspect;

    ServerRecord(RemoteServer server) {
        this.server = server;
    }

    /**
     * The part of its splits that were wrong in the window that ends now. Where few were asked an error counts as one
     * of {@code least}.
     */
    private double errorRate(long least) {
        long askedNow = asked.sum();
        long errorsNow = wrong.sum();
        long count = Math.max(least, askedNow - askedBefore);
        double rate = (double) (errorsNow - errorsBefore) / count;
        askedBefore = askedNow;
        errorsBefore = errorsNow;
        return rate;
    }

    /**
     * A window ends.
     *
     * @param least splits that a window is taken to have at least
     * @return whether its slabs are to be regenerated
     */
    boolean judge(Resilience resilience, long least, long now, long longest) {
        double rate = errorRate(least);
        boolean above = rate > resilience.errorCorrectionLimit();
        if (above && !judgedSuspect) {
            suspectSince = now;
        }
        judgedSuspect = above;
        suspect = above;
        return rate > resilience.slabRegenerationLimit() || above && now - suspectSince > longest;
    }
}
