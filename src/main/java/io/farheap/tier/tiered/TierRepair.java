package io.farheap.tier.tiered;

import io.farheap.lifetime.Closeables;
import io.farheap.thread.ThreadJoiner;
import io.farheap.tier.device.IoStatus;
import io.farheap.tier.handle.OwnedMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Copies to tiers the parts of the log that they have refused ({@link TierDebts}), from tiers that have them. Its
 * thread runs while a tier owes something that another one has, and pauses longer and longer while nothing succeeds.
 *
 * <p>A copy must not undo a later append to the same range. So it is listed among the tier's pending appends, as the
 * oldest one: an append that comes later waits for it, as for any older append that it overlaps. If an append to the
 * range is listed already, at the tier or at the source, the copy is withdrawn and tried again later. Both list
 * themselves before they look, in a sequentially consistent order, so at least one of the two sees the other. The bytes
 * that a later append may change at the source while they are read are those that it writes to this tier afterwards.
 */
public final class TierRepair implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(TierRepair.class.getName());
    private static final long PIECE_BYTES = 256 * 1024;
    private static final long FIRST_PAUSE_NANOS = 1_000_000;
    private static final long LONGEST_PAUSE_NANOS = 500_000_000;

    private final TieredLog log;
    /** The thread that runs; null if none does. Guarded by this object. */
    private @Nullable Thread thread;

    private volatile boolean closed;

    public TierRepair(TieredLog log) {
        this.log = log;
    }

    /** Starts the thread if it does not run: a tier owes something, or has got what another one owes. Any thread. */
    public synchronized void wake() {
        if (!closed && thread == null && owed()) {
            thread = Thread.ofPlatform().daemon().name("farheap-tier-repair").start(this::run);
        }
    }

    /** Whether a tier owes something that another one has. */
    private boolean owed() {
        List<Tier> all = log.tiers().all();
        return all.stream().anyMatch(tier -> all.stream().anyMatch(other -> other != tier && other.hasOwedBy(tier)));
    }

    private void run() {
        do {
            try (Copies copies = new Copies()) {
                run(copies);
            } catch (RuntimeException e) {
                warn(e);
                LockSupport.parkNanos(this, LONGEST_PAUSE_NANOS);
            }
        } while (!ends());
    }

    /** @return whether the thread is to end: its handles are closed, and nothing is owed, or the log is closed */
    private synchronized boolean ends() {
        if (closed || !owed()) {
            thread = null;
            return true;
        }
        return false;
    }

    /** Copies until nothing is owed that another tier has. */
    private void run(Copies copies) {
        long pause = FIRST_PAUSE_NANOS;
        while (!closed && owed()) {
            boolean some = false;
            try {
                some = copies.round();
            } catch (RuntimeException e) {
                warn(e);
            }
            pause = some ? FIRST_PAUSE_NANOS : Math.min(2 * pause, LONGEST_PAUSE_NANOS);
            if (!closed) {
                LockSupport.parkNanos(this, pause);
            }
        }
    }

    private static void warn(RuntimeException why) {
        LOG.log(System.Logger.Level.WARNING, "a tier cannot be given what it lacks: " + why.getMessage(), why);
    }

    /** The thread's handles and memory. */
    private final class Copies implements AutoCloseable {

        private final Arena arena = Arena.ofShared();
        private final MemorySegment piece = arena.allocate(PIECE_BYTES, OwnedMemory.PAGE_BYTES);
        private final List<TierLane> lanes = new ArrayList<>();

        /** @return whether something was copied */
        boolean round() {
            List<Tier> all = log.tiers().all();
            leave(all);
            boolean some = false;
            for (Tier tier : all) {
                long[] owed = tier.debts.all();
                for (int i = 0; i < owed.length && !closed; i += 2) {
                    some |= copy(all, tier, Math.max(owed[i], tier.begin()), owed[i + 1]);
                }
            }
            return some;
        }

        /** Closes the handles of tiers that were removed. */
        private void leave(List<Tier> all) {
            for (Iterator<TierLane> each = lanes.iterator(); each.hasNext(); ) {
                TierLane lane = each.next();
                if (!all.contains(lane.of)) {
                    each.remove();
                    lane.close();
                }
            }
        }

        /** Copies a range, the lowest part first, until a part cannot be copied. */
        private boolean copy(List<Tier> all, Tier tier, long from, long to) {
            boolean some = false;
            long next;
            for (long at = from; at < to && !closed; at = next) {
                long segmentEnd = (at & -tier.device.segmentBytes()) + tier.device.segmentBytes();
                next = Math.min(Math.min(to, segmentEnd), at + PIECE_BYTES);
                if (!copied(all, tier, at, next - at)) {
                    return some;
                }
                some = true;
            }
            return some;
        }

        private boolean copied(List<Tier> all, Tier tier, long from, long length) {
            TierLane lane = lane(tier);
            if (!lane.open()) {
                return false;
            }
            lane.appends.add(0, from, from + length, 0);
            try {
                if (tier.pendsBeside(lane.appends, from, from + length)) {
                    return false;
                }
                for (Tier source : all) {
                    if (source != tier
                            && source.has(from, length)
                            && !source.pends(from, from + length, Long.MAX_VALUE)
                            && read(source, from, length)) {
                        return written(lane, tier, from, length);
                    }
                }
                return false;
            } finally {
                lane.appends.remove(0);
            }
        }

        private boolean read(Tier source, long from, long length) {
            int status = lane(source).open() ? lane(source).read(from, length) : IoStatus.GONE;
            if (status == IoStatus.LOST) {
                source.lost.incrementAndGet();
                source.holes.add(from, length, source.device.begin());
            }
            return status == IoStatus.OK;
        }

        private static boolean written(TierLane lane, Tier tier, long from, long length) {
            int status = lane.write(from, length);
            if (status == IoStatus.OK || status == IoStatus.GONE) {
                tier.wrote(from, length);
            }
            return status == IoStatus.OK;
        }

        private TierLane lane(Tier of) {
            for (TierLane lane : lanes) {
                if (lane.of == of) {
                    return lane;
                }
            }
            TierLane lane = new TierLane(log, of, piece);
            lanes.add(lane);
            return lane;
        }

        @Override
        public void close() {
            List<AutoCloseable> all = new ArrayList<>(lanes);
            all.add(arena);
            Closeables.all(all);
        }
    }

    /** Ends the thread; what is owed then is lacking in its tier. */
    @Override
    public void close() {
        Thread running;
        synchronized (this) {
            closed = true;
            running = thread;
        }
        if (running != null) {
            LockSupport.unpark(running);
            ThreadJoiner.join(running);
        }
    }
}
