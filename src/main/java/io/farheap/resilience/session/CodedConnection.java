package io.farheap.resilience.session;

import io.farheap.remote.contract.RemoteServer;
import io.farheap.resilience.table.ServerErrorCounts;

/** What a session knows of its connection to one server. The session's thread, but for {@link #unfenced}. */
final class CodedConnection {

    /** New servers are hedged at this until they are known. */
    private static final long FIRST_DELAY_NANOS = 100_000;

    private static final long LEAST_DELAY_NANOS = 5_000;
    private static final long MOST_DELAY_NANOS = 5_000_000;
    private static final int MEAN_SHIFT = 4;
    private static final int DEVIATIONS = 6;
    private static final int COUNTED_TOGETHER = 256;

    final RemoteServer server;
    final ServerErrorCounts record;

    boolean connected;
    /** A reconnect is under way, since {@link #since}. */
    boolean repairing;
    /** The latest reconnect found nobody. */
    boolean unreachable;
    /** By the session's clock. */
    long since;

    long retryAt;
    long backoff;
    /** Splits that requests went on without, and that have not come. */
    int late;
    /**
     * From a failure until the server's end is known to be destroyed: what was posted may still take effect. Read by
     * whoever gives its memory back.
     */
    volatile boolean unfenced;

    /** Somebody is to give memory of the server back, and waits for what this session has posted. */
    volatile boolean fenceWanted;

    private long mean = FIRST_DELAY_NANOS;
    private long deviation;
    private int asked;

    CodedConnection(RemoteServer server, ServerErrorCounts record, boolean connected) {
        this.server = server;
        this.record = record;
        this.connected = connected;
    }

    void learn(long nanos) {
        long error = nanos - mean;
        mean += error >> MEAN_SHIFT;
        deviation += Math.abs(error) - deviation >> MEAN_SHIFT;
    }

    /** How long after it was asked a split is late. */
    long hedgeDelay() {
        return Math.clamp(mean + DEVIATIONS * deviation, LEAST_DELAY_NANOS, MOST_DELAY_NANOS);
    }

    void countAsked() {
        if (++asked == COUNTED_TOGETHER) {
            record.asked.add(asked);
            asked = 0;
        }
    }

    /** Whether what is to come from it may be waited for. */
    boolean mayCome(long clock, long patience) {
        return connected || repairing && clock - since < patience;
    }
}
