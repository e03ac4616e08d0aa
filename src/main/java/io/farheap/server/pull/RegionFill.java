package io.farheap.server.pull;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.plane.PullResult;
import io.farheap.control.plane.PullSource;
import io.farheap.verbs.Endpoint;
import io.farheap.verbs.QueuePair;
import io.farheap.verbs.SendRequests;
import io.farheap.verbs.VerbsException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The new server's end of a pull: fills a region by one-sided READs from other servers, several in flight. One thread
 * creates, connects, runs and closes it; another may {@link #cancel} it. It fails with a {@link VerbsException} of the
 * device, or a {@link ControlException} PULL_FAILED; the region's content is then undefined.
 */
public abstract class RegionFill implements AutoCloseable {

    private static final long STALL_NANOS = 10_000_000_000L;
    /** Longest spinning: a read that takes longer may be late by seconds, and must not take a core for that. */
    private static final long SPIN_NANOS = 10_000_000;

    private static final long PARK_NANOS = 100_000;
    private static final long CANCEL_MILLIS = 100;

    private final CountDownLatch ended = new CountDownLatch(1);
    private volatile boolean cancelled;

    /** The queue pair that reads a source. */
    public abstract Endpoint endpoint(int source);

    /**
     * Connects to a source, and reads a little of it, to another buffer than the region. A device that maps a peer's
     * memory at first use does so now; and until the lease knows of this pull, the region may be given back and granted
     * to another client.
     */
    public abstract void connect(int source, PullSource opened);

    /**
     * Fills the region.
     *
     * @param pace of the client; null to fill all of the region at once
     */
    public abstract PullResult run(@Nullable CopyPace pace);

    static void read(
            QueuePair queuePair,
            SendRequests requests,
            int slot,
            long into,
            int localKey,
            PullSource source,
            long at,
            int bytes) {
        requests.prepare(
                slot,
                SendRequests.READ,
                SendRequests.SIGNALED,
                into,
                bytes,
                localKey,
                source.remoteAddress() + at,
                source.rkey());
        int error = queuePair.postUnbounded(requests, slot);
        if (error != 0) {
            throw new VerbsException("cannot post a read", error);
        }
    }

    final void requireNotCancelled() {
        if (cancelled) {
            throw failed("the region was given back, or its lease ended, during the copy");
        }
    }

    /**
     * Waits a moment, since there is nothing to do until a read completes.
     *
     * @param progressAt {@code nanoTime} when the last one completed
     */
    static void awaitRead(long progressAt) {
        long waited = System.nanoTime() - progressAt;
        if (waited > STALL_NANOS) {
            throw failed("no read has completed for " + STALL_NANOS / 1_000_000_000L + " s");
        }
        if (waited < SPIN_NANOS) {
            Thread.onSpinWait();
        } else {
            LockSupport.parkNanos(PARK_NANOS);
        }
    }

    static ControlException failed(String why) {
        return new ControlException(Code.PULL_FAILED, why);
    }

    /**
     * Stops it; takes bounded time. Only for a pull that is running, or has run.
     *
     * @return whether none of its reads can reach the region any more
     */
    public final boolean cancel() {
        cancelled = true;
        try {
            return ended.await(CANCEL_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return ended.getCount() == 0;
        }
    }

    /** Records that nothing is written to the region after this. */
    final void letGo() {
        ended.countDown();
    }

    /** To be called again while the device is busy. */
    @Override
    public abstract void close();
}
