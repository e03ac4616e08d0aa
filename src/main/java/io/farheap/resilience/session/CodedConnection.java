package io.farheap.resilience.session;

import io.farheap.remote.contract.RemoteServer;
import io.farheap.remote.server.LinkRecovery;
import io.farheap.resilience.table.ServerErrorCounts;

/**
 * The state of a session's connection to one server. The session's thread, but other threads read {@link #unfenced} and
 * set {@link #fenceWanted}.
 */
final class CodedConnection {

    /** The expected time of a read at a server that has not been measured yet. */
    private static final long FIRST_DELAY_NANOS = 100_000;

    private static final long LEAST_DELAY_NANOS = 5_000;
    private static final long MOST_DELAY_NANOS = 5_000_000;
    private static final int MEAN_SHIFT = 4;
    private static final int DEVIATIONS = 6;
    private static final int COUNTED_TOGETHER = 256;
    /** With the pauses between them, at least 155 ms in which its server refuses. */
    private static final int MOST_FAILED_RECONNECTS = 6;

    final RemoteServer server;
    final ServerErrorCounts record;

    boolean connected;
    final LinkRecovery recovery;
    /** When it was found unconnected, by the session's clock. */
    long since;

    /** Splits that their requests stopped waiting for, and that have not come. */
    int late;
    /**
     * Set from a failure until the server's end of the connection is known to be destroyed: posted operations may still
     * take effect. Read by the thread that gives the server's memory back.
     */
    volatile boolean unfenced;

    /** Another thread wants to give memory of the server back, and waits for this session's posted operations. */
    volatile boolean fenceWanted;

    private long mean = FIRST_DELAY_NANOS;
    private long deviation;
    private int asked;

    /** @param now by the session's clock */
    CodedConnection(RemoteServer server, ServerErrorCounts record, boolean connected, long now) {
        this.server = server;
        this.record = record;
        this.connected = connected;
        this.recovery = new LinkRecovery(now);
    }

    void learn(long nanos) {
        long error = nanos - mean;
        mean += error >> MEAN_SHIFT;
        deviation += Math.abs(error) - deviation >> MEAN_SHIFT;
    }

    /** How long, in ns, after it was asked a split counts as late. */
    long hedgeDelay() {
        return Math.clamp(mean + DEVIATIONS * deviation, LEAST_DELAY_NANOS, MOST_DELAY_NANOS);
    }

    void countAsked() {
        if (++asked == COUNTED_TOGETHER) {
            record.asked.add(asked);
            asked = 0;
        }
    }

    /**
     * Whether writes have stopped waiting for this server. One failed reconnect does not show that its memory is lost,
     * and regenerating a slab reads k others over the network. If the server's process has ended, all reconnects fail.
     */
    boolean isUnreachable() {
        return recovery.attempts() >= MOST_FAILED_RECONNECTS;
    }

    /** Whether a split from this server can be waited for. */
    boolean mayCome(long clock, long patience) {
        return connected || recovery.isMaking() && clock - since < patience;
    }
}
