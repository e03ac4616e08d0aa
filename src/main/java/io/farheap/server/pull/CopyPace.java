package io.farheap.server.pull;

import io.farheap.connection.WatermarkExchange;
import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.plane.PullPace;
import io.farheap.control.plane.WatermarkEndpoint;
import io.farheap.verbs.Context;
import io.farheap.verbs.VerbsException;
import java.util.concurrent.locks.LockSupport;

/** The server's end of a {@link PullPace}. One thread at a time. */
public final class CopyPace implements AutoCloseable {

    private static final long STALL_NANOS = 10_000_000_000L;
    /**
     * Longest spinning: a client that clears ahead never makes the server wait that long, and one that does not must
     * not take a core for nothing.
     */
    private static final long SPIN_NANOS = 200_000;

    private static final long PARK_NANOS = 20_000;
    private static final long MOST_PARK_NANOS = 500_000;
    private static final int PARKS = 16;

    private final WatermarkExchange exchange;
    private final long offset;
    private final long end;
    private final int pieceBytes;
    private long cleared;

    /**
     * @param bytes of the region
     * @throws ControlException INVALID_ARGUMENT if the pace is not valid, or the device refuses the client's endpoint
     */
    public CopyPace(Context context, PullPace pace, long bytes) {
        if (pace.offset() < 0 || pace.offset() >= pace.end() || pace.end() > bytes) {
            throw new ControlException(
                    Code.INVALID_ARGUMENT,
                    "a pull of bytes " + pace.offset() + " to " + pace.end() + " of a region; it has " + bytes);
        }
        if (pace.pieceBytes() < PullPace.MIN_PIECE_BYTES || pace.pieceBytes() > PullPace.MAX_PIECE_BYTES) {
            throw new ControlException(
                    Code.INVALID_ARGUMENT,
                    "a pull by pieces of " + pace.pieceBytes() + " bytes; they have " + PullPace.MIN_PIECE_BYTES
                            + " to " + PullPace.MAX_PIECE_BYTES);
        }
        this.offset = pace.offset();
        this.end = pace.end();
        this.pieceBytes = pace.pieceBytes();
        this.cleared = offset;
        exchange = new WatermarkExchange(context, offset);
        try {
            exchange.connect(
                    pace.client().endpoint(),
                    pace.client().remoteAddress(),
                    pace.client().rkey());
        } catch (VerbsException e) {
            exchange.close();
            throw new ControlException(Code.INVALID_ARGUMENT, e.getMessage(), e);
        }
    }

    WatermarkEndpoint described() {
        return new WatermarkEndpoint(exchange.endpoint(), exchange.address(), exchange.remoteKey());
    }

    long offset() {
        return offset;
    }

    long end() {
        return end;
    }

    int pieceBytes() {
        return pieceBytes;
    }

    void begin() {
        exchange.tell(offset);
    }

    /**
     * The offset up to which the client has cleared.
     *
     * @throws ControlException PULL_FAILED if it ends the pull, or its mark is not valid
     */
    long cleared() {
        long mark = exchange.theirs();
        if (mark != cleared) {
            if (mark < cleared || mark > end) {
                throw new ControlException(
                        Code.PULL_FAILED,
                        mark == PullPace.STOP
                                ? "the client ended the pull"
                                : "the client cleared up to byte " + mark + " after " + cleared + " of " + end);
            }
            cleared = mark;
        }
        return mark;
    }

    /**
     * Waits a moment, since there is nothing to do until the client clears more.
     *
     * @param since {@code nanoTime} when there was something to do
     */
    void await(long since) {
        exchange.check();
        long waited = System.nanoTime() - since;
        if (waited > STALL_NANOS) {
            throw new ControlException(
                    Code.PULL_FAILED, "the client has cleared nothing for " + STALL_NANOS / 1_000_000_000L + " s");
        }
        if (waited < SPIN_NANOS) {
            Thread.onSpinWait();
        } else {
            // The longer it has waited, the longer it sleeps: a region that is prepared ahead of its turn waits for
            // other regions.
            LockSupport.parkNanos(Math.clamp(waited / PARKS, PARK_NANOS, MOST_PARK_NANOS));
        }
    }

    /** Writes to the client the offset up to which all has been copied. */
    void copied(long end) {
        exchange.tell(end);
    }

    /** Returns when all of that has reached the client. */
    void finish() {
        exchange.flush();
    }

    @Override
    public void close() {
        exchange.close();
    }
}
