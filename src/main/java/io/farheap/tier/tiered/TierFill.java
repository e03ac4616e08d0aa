package io.farheap.tier.tiered;

import io.farheap.lifetime.Closeables;
import io.farheap.tier.device.Device;
import io.farheap.tier.device.IoStatus;
import io.farheap.tier.handle.OwnedMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * Fills a tier: copies to it, a piece at a time, the part of the log that the next tiers have and that it has room for.
 * It starts below the part that the tier has and works downwards. Once a piece is copied, reads of it go to the tier.
 * If a piece is appended to while it is copied, it is copied again. Runs on one thread.
 */
public final class TierFill implements AutoCloseable {

    private static final long PIECE_BYTES = 256 * 1024;

    private final Device device;
    private final TieredLog log;
    private final Tier tier;
    private final double nanosPerByte;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment piece = arena.allocate(PIECE_BYTES, OwnedMemory.PAGE_BYTES);
    private final List<TierLane> lanes = new ArrayList<>();

    public TierFill(Device device, TieredLog log, Tier tier, long bytesPerSecond) {
        if (bytesPerSecond < 1) {
            throw new IllegalArgumentException(bytesPerSecond + " bytes a second; it must be at least 1");
        }
        this.device = device;
        this.log = log;
        this.tier = tier;
        this.nanosPerByte = 1e9 / bytesPerSecond;
    }

    private TierLane lane(Tier of) {
        return TierLane.of(lanes, log, of, piece);
    }

    /** @return how many bytes were copied */
    public long run() {
        long copied = 0;
        long due = System.nanoTime();
        while (!Thread.currentThread().isInterrupted()) {
            List<Tier> all = log.tiers().all();
            int index = all.indexOf(tier);
            long to = tier.low();
            long from = from(to);
            if (index < 0 || from >= to || !lane(tier).open()) {
                return copied;
            }
            tier.beginFill(from, to);
            List<Tier> sources = all.subList(index + 1, all.size());
            if (!awaitAppends(sources, from, to - from)) {
                return copied;
            }
            int status = copy(sources, from, to - from);
            if (status == IoStatus.GONE || from < tier.device.begin()) {
                // The log has grown so far that the tier has dropped this range.
                return copied;
            }
            if (status == IoStatus.LOST) {
                tier.holes.add(from, to - from, tier.device.begin());
            } else if (status != IoStatus.OK) {
                // What could not be copied at this moment is copied later.
                tier.failed(from, to - from);
            }
            if (tier.endFill() && status == IoStatus.OK) {
                copied += to - from;
            }
            // What the tier owes in its new part is copied from now on.
            log.owes();
            due = pause(due + (long) ((to - from) * nanosPerByte));
        }
        return copied;
    }

    /** The beginning of the piece that ends at an address; not below that address if there is nothing left to copy. */
    private long from(long to) {
        long floor = Math.max(log.begin(), log.issuedEnd() - tier.device.capacity());
        floor = Math.max(floor, tier.device.begin());
        long aligned = floor + device.alignment() - 1 & -device.alignment();
        long segment = to - 1 & -device.segmentBytes();
        return Math.max(aligned, Math.max(segment, to - PIECE_BYTES));
    }

    /** @return LOST if no source has the range any more; GONE if the tier has dropped it */
    private int copy(List<Tier> sources, long from, long length) {
        int status = IoStatus.LOST;
        for (Tier source : sources) {
            if (source.has(from, length) && lane(source).open()) {
                int read = lane(source).read(from, length);
                if (read == IoStatus.OK) {
                    return lane(tier).write(from, length);
                }
                status = read == IoStatus.LOST || read == IoStatus.GONE ? status : read;
            }
        }
        return status;
    }

    /** @return false if the thread was interrupted, while an append may be there in part */
    private boolean awaitAppends(List<Tier> sources, long from, long length) {
        for (Tier source : sources) {
            if (!awaitAppends(source, from, length)) {
                return false;
            }
        }
        return awaitAppends(tier, from, length);
    }

    private static boolean awaitAppends(Tier of, long from, long length) {
        while (of.pends(from, from + length, Long.MAX_VALUE)) {
            if (Thread.currentThread().isInterrupted()) {
                return false;
            }
            LockSupport.parkNanos(100_000);
        }
        return true;
    }

    private static long pause(long until) {
        while (!Thread.currentThread().isInterrupted() && until - System.nanoTime() > 0) {
            LockSupport.parkNanos(until - System.nanoTime());
        }
        return Math.max(until, System.nanoTime() - 100_000_000);
    }

    @Override
    public void close() {
        List<AutoCloseable> all = new ArrayList<>(lanes);
        all.add(arena);
        Closeables.all(all);
    }
}
