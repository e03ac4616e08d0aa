package io.farheap.resilience;

import io.farheap.remote.RemoteServer;
import java.util.concurrent.atomic.LongAdder;

/** What a space's sessions have met at one server. Any thread counts; the keeper's {@link Judge} alone judges. */
final class ServerRecord {

    final RemoteServer server;
    /** READs of splits that were asked; sessions add theirs in steps. */
    final LongAdder asked = new LongAdder();
    /** Splits that were found to be wrong. */
    final LongAdder wrong = new LongAdder();
    /** Splits that disagree with others, where nobody can tell which are wrong. */
    final LongAdder doubted = new LongAdder();
    /** Connections that failed, each with all that was under way there. */
    final LongAdder failed = new LongAdder();
    /** Those of them that had been made anew after a failure shortly before. */
    final LongAdder failedAgain = new LongAdder();
    /** Splits that were not there when a hedge or a timeout looked. */
    final LongAdder late = new LongAdder();

    /** Above the errorCorrectionLimit: reads that involve it ask more at once. */
    volatile boolean suspect;

    /** Its lease is lost, and what it had is void. */
    volatile boolean gone;

    ServerRecord(RemoteServer server) {
        this.server = server;
    }
}
