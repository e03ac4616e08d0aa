package io.farheap.server.pool;

import io.farheap.server.fence.FailPoint;
import io.farheap.thread.FailSafeLog;
import io.farheap.thread.ThreadJoiner;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntConsumer;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Zeroes the regions of leases that have ended, on a thread of its own: a large lease must not delay the end of others.
 * Thread-safe.
 */
public final class RegionZeroer implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(RegionZeroer.class.getName());
    private static final long PIECE_BYTES = 1 << 20;
    private static final long RETRY_NANOS = 1_000_000_000L;

    private final IntFunction<MemorySegment> segments;
    private final IntConsumer zeroed;
    private final ConcurrentLinkedQueue<Integer> regions = new ConcurrentLinkedQueue<>();
    private final Thread thread;
    public final FailPoint fault = new FailPoint();
    private volatile boolean stopped;

    /**
     * @param segments the memory of each region, by its id
     * @param zeroed called for each zeroed region, on that thread
     * @param threads creates the thread
     */
    RegionZeroer(IntFunction<MemorySegment> segments, IntConsumer zeroed, ThreadFactory threads) {
        this.segments = segments;
        this.zeroed = zeroed;
        thread = threads.newThread(this::run);
        thread.start();
    }

    /** Zeroes these regions later; they become free then. */
    void add(List<Integer> more) {
        regions.addAll(more);
        LockSupport.unpark(thread);
    }

    private void run() {
        while (!stopped) {
            try {
                zeroNext();
            } catch (Throwable e) {
                // If even logging fails, it is tried again all the same.
                LockSupport.parkNanos(this, RETRY_NANOS);
            }
        }
    }

    private void zeroNext() {
        Integer region = regions.peek();
        if (region == null) {
            LockSupport.park(this);
            return;
        }
        try {
            fault.strike();
            if (zero(segments.apply(region), this)) {
                zeroed.accept(region);
            }
            regions.remove();
        } catch (Throwable e) {
            FailSafeLog.log(LOG, () -> "an error while region " + region + " was zeroed; it is tried again", e);
            LockSupport.parkNanos(this, RETRY_NANOS);
        }
    }

    static void zero(MemorySegment segment) {
        zero(segment, null);
    }

    /**
     * Zeroes a region in pieces, because a fill delays safepoints for as long as it runs.
     *
     * @param stoppable null to continue to the end
     * @return false if it was stopped halfway
     */
    private static boolean zero(MemorySegment segment, @Nullable RegionZeroer stoppable) {
        for (long at = 0; at < segment.byteSize(); at += PIECE_BYTES) {
            if (stoppable != null && stoppable.stopped) {
                return false;
            }
            segment.asSlice(at, Math.min(PIECE_BYTES, segment.byteSize() - at)).fill((byte) 0);
        }
        return true;
    }

    /** Ends the thread within the time of a piece; regions that are not zeroed stay taken. */
    @Override
    public void close() {
        stopped = true;
        LockSupport.unpark(thread);
        ThreadJoiner.join(thread);
    }
}
