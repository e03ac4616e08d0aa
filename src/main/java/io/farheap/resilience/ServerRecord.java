package io.farheap.resilience;

import io.farheap.remote.RemoteServer;
import java.util.concurrent.atomic.LongAdder;

/** What a space's sessions have met at one server. Any thread counts; the keeper alone judges. */
final class ServerRecord {

    final RemoteServer server;
    /** READs of splits that were asked; sessions add theirs in steps. */
    final LongAdder asked = new LongAdder();
    /** Splits that were found to be wrong. */
    final LongAdder wrong = new LongAdder();
    /** Splits that disagree with others, where nobody can tell which are wrong. */
    final LongAdder doubted = new LongAdder();
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
    private long wrongBefore;
    private long doubtedBefore;
    private long suspectSince;
    private boolean judgedSuspect;

    ServerRecord(RemoteServer server) {
        this.server = server;
    }

    /**
     * A window ends. What is in doubt makes a server suspect, so that reads ask more and may tell; it is no reason to
     * give slabs up: all of a range are in the same doubt, and most of them are right.
     *
     * @param least splits that a window is taken to have at least; where few were asked an error counts as one of them
     * @return whether its slabs are to be regenerated
     */
    boolean judge(Resilience resilience, long least, long now, long longest) {
        long askedNow = asked.sum();
        long wrongNow = wrong.sum();
        long doubtedNow = doubted.sum();
        long count = Math.max(least, askedNow - askedBefore);
        double rate = (double) (wrongNow - wrongBefore) / count;
        double doubt = (double) (doubtedNow - doubtedBefore) / count;
        askedBefore = askedNow;
        wrongBefore = wrongNow;
        doubtedBefore = doubtedNow;
        boolean above = rate > resilience.errorCorrectionLimit();
        if (above && !judgedSuspect) {
            suspectSince = now;
        }
        judgedSuspect = above;
        suspect = rate + doubt > resilience.errorCorrectionLimit();
        return rate > resilience.slabRegenerationLimit() || above && now - suspectSince > longest;
    }
}
