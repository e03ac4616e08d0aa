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
import java.util.concurrent.ThreadFactory;
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
 * that a later append may change at the source while they are read are those that it writes to this tier afterwards. A
 * handle that could not open the tier does not list its appends there; what it adds to the tier's debts meanwhile stays
 * listed, and is copied again.
 *
 * <p>If the only other tier has lost a part, or finds it corrupt and does so in {@value #CORRUPT_READS} more reads, the
 * repair gives the part up: reads of it end as lost, and the log continues. The tier still owes the part, so its syncs
 * fail until an append has written the part or the log's beginning has passed it; otherwise a checkpoint would count as
 * durable although its log lacks the part. In a store neither happens, since a compaction stops at this part: the store
 * makes no more checkpoints.
 */
public final class TierRepair implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(TierRepair.class.getName());
    private static final long PIECE_BYTES = Holes.CHUNK_BYTES;
    /** If a piece cannot be read as a whole, as many bytes at a time are. */
    private static final long BLOCK_BYTES = OwnedMemory.PAGE_BYTES;

    private static final long FIRST_PAUSE_NANOS = 1_000_000;
    private static final long LONGEST_PAUSE_NANOS = 500_000_000;
    /** How often a part that reads as corrupt is read again: other splits of a coded page may agree. */
    private static final int CORRUPT_READS = 16;

    private final TieredLog log;
    private final ThreadFactory threads;
    /** The thread that runs; null if none does. Guarded by this object. */
    private @Nullable Thread thread;
    /** Whether the thread could not be started, and when to try again. Guarded by this object. */
    private boolean unstarted;

    private long startAgainAt;
    /** Whether a loss was logged. Only the thread uses it. */
    private boolean lossTold;
    /** Whether a failure was logged and nothing was copied since. Only the thread uses it. */
    private boolean warned;

    private volatile boolean closed;

    public TierRepair(TieredLog log) {
        this(log, Thread.ofPlatform().daemon().name("farheap-tier-repair").factory());
    }

    TierRepair(TieredLog log, ThreadFactory threads) {
        this.log = log;
        this.threads = threads;
    }

    /**
     * Starts the thread if it does not run: a tier owes something, or has got what another one owes. If it cannot be
     * started, a later call tries again. Any thread.
     */
    public synchronized void wake() {
        if (closed || thread != null || unstarted && System.nanoTime() - startAgainAt < 0 || !owed()) {
            return;
        }
        try {
            Thread made = threads.newThread(this::run);
            made.start();
            thread = made;
            unstarted = false;
        } catch (OutOfMemoryError e) {
            // The caller is a handle, which has to call an append back nevertheless.
            startAgainAt = System.nanoTime() + LONGEST_PAUSE_NANOS;
            if (!unstarted) {
                unstarted = true;
                LOG.log(
                        System.Logger.Level.WARNING,
                        "a tier cannot be given what it lacks, since no thread can be started, which is tried again: "
                                + e.getMessage(),
                        e);
            }
        }
    }

    /** Whether a tier owes something that another one has. */
    private boolean owed() {
        List<Tier> all = log.tiers().all();
        return all.stream().anyMatch(tier -> all.stream().anyMatch(other -> other != tier && other.hasOwedBy(tier)));
    }

    private void run() {
        boolean ended = false;
        while (!ended) {
            try {
                if (!closed) {
                    repair();
                }
                ended = ends();
            } catch (Throwable e) {
                // If the thread ended here, without memory for example, no other would be started.
                warn(e);
                if (!closed) {
                    LockSupport.parkNanos(this, LONGEST_PAUSE_NANOS);
                }
            }
        }
    }

    private void repair() {
        try (Copies copies = new Copies()) {
            run(copies);
        }
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
            } catch (Throwable e) {
                warn(e);
            }
            warned &= !some || !copies.shut.isEmpty();
            pause = some ? FIRST_PAUSE_NANOS : Math.min(2 * pause, LONGEST_PAUSE_NANOS);
            if (!closed) {
                LockSupport.parkNanos(this, pause);
            }
        }
    }

    /** Logs the first of the failures in a row. */
    private void warn(Throwable why) {
        if (!warned) {
            warned = true;
            LOG.log(
                    System.Logger.Level.WARNING,
                    "a tier cannot be given what it lacks, which is tried again: " + why.getMessage(),
                    why);
        }
    }

    /** The thread's handles and memory. */
    private final class Copies implements AutoCloseable {

        private final Arena arena = Arena.ofShared();
        private final MemorySegment piece = arena.allocate(PIECE_BYTES, OwnedMemory.PAGE_BYTES);
        private final List<TierLane> lanes = new ArrayList<>();
        /** Tiers that could not be opened in this round. */
        private final List<Tier> shut = new ArrayList<>();

        /** @return whether something was copied */
        boolean round() {
            List<Tier> all = log.tiers().all();
            leave(all);
            shut.clear();
            boolean some = false;
            for (Tier tier : all) {
                long[] owed = tier.debts.all();
                for (int i = 0; i < owed.length && !closed; i += 2) {
                    some |= copy(all, tier, Math.max(owed[i], tier.firstBlock()), owed[i + 1]);
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

        /**
         * Copies a range, the lowest part first, until a part cannot be copied at this moment. A part that no other
         * tier has is passed by.
         */
        private boolean copy(List<Tier> all, Tier tier, long from, long to) {
            boolean some = false;
            long next;
            for (long at = from; at < to && !closed; at = next) {
                next = pieceEnd(all, tier, at, to);
                if (copied(all, tier, at, next - at)) {
                    some = true;
                } else if (isHad(all, tier, at, next - at)) {
                    return some;
                }
            }
            return some;
        }

        /** The end of a piece of which each other tier has all bytes or none. */
        private static long pieceEnd(List<Tier> all, Tier tier, long at, long to) {
            long segmentBytes = tier.device.segmentBytes();
            long end = Math.min(to, (at & -segmentBytes) + segmentBytes);
            for (Tier other : all) {
                end = other == tier ? end : other.pieceEnd(at, end);
            }
            return end;
        }

        private static boolean isHad(List<Tier> all, Tier tier, long from, long length) {
            return all.stream().anyMatch(other -> other != tier && other.has(from, length));
        }

        private boolean copied(List<Tier> all, Tier tier, long from, long length) {
            TierLane lane = opened(tier);
            if (lane == null) {
                return false;
            }
            lane.appends.add(0, from, from + length, 0);
            try {
                // If an append has ended the debt meanwhile, a copy that failed midway would leave less than it found.
                return !tier.pendsBeside(lane.appends, from, from + length)
                        && tier.debts.cover(from, length)
                        && copied(all, lane, from, length);
            } finally {
                lane.appends.remove(0);
            }
        }

        private boolean copied(List<Tier> all, TierLane lane, long from, long length) {
            // A handle that could not open the tier does not list its appends there, but adds them to its debts. Such
            // an append is pending at the source, or has ended there and is read, or its debt is newer than this.
            long since = lane.of.debts.added();
            List<Tier> unread = new ArrayList<>();
            boolean later = false;
            for (Tier source : all) {
                if (source == lane.of || !source.has(from, length)) {
                    continue;
                }
                if (source.pends(from, from + length, Long.MAX_VALUE)) {
                    // The next source may have older bytes.
                    return false;
                }
                int status = read(source, from, length);
                if (status == IoStatus.OK) {
                    return written(lane, from, length, since);
                }
                if (isUnreadable(status)) {
                    unread.add(source);
                } else {
                    later = true;
                }
            }
            if (!later && !unread.isEmpty()) {
                giveUp(all, lane, unread, from);
            }
            return false;
        }

        private static boolean isUnreadable(int status) {
            return status == IoStatus.LOST || status == IoStatus.CORRUPT;
        }

        private int read(Tier source, long from, long length) {
            TierLane lane = opened(source);
            if (lane == null) {
                return IoStatus.FAILED;
            }
            int status = lane.read(from, length);
            for (int i = 0; i < CORRUPT_READS && status == IoStatus.CORRUPT; i++) {
                if (closed) {
                    // Nothing is given up that has not been read so often.
                    return IoStatus.FAILED;
                }
                LockSupport.parkNanos(this, LONGEST_PAUSE_NANOS / CORRUPT_READS);
                status = lane.read(from, length);
            }
            return status;
        }

        /**
         * Copies, block by block, the blocks that the tier owes of a chunk and that can be read. The others are lost:
         * if the tier waited until they can be read, its log would stop for good. The chunk becomes a hole of the
         * sources only after these copies, since a hole is a whole chunk.
         *
         * @param at an address in the chunk that cannot be read
         */
        private void giveUp(List<Tier> all, TierLane lane, List<Tier> sources, long at) {
            Tier tier = lane.of;
            long from = at & -Holes.CHUNK_BYTES;
            long to = from + Holes.CHUNK_BYTES;
            if (to > log.issuedEnd()) {
                // Appends to the rest of the chunk would be in the hole, too.
                return;
            }
            lane.appends.add(0, from, to, 0);
            long since = tier.debts.added();
            boolean pends = tier.pendsBeside(lane.appends, from, to)
                    || sources.stream().anyMatch(source -> source.pends(from, to, Long.MAX_VALUE));
            if (pends || !blocksCopied(all, lane, sources, from, to, since) || tier.debts.added() != since) {
                return;
            }
            for (Tier source : sources) {
                source.lost.incrementAndGet();
                source.holes.add(from, to - from, source.device.begin());
            }
            if (!lossTold) {
                lossTold = true;
                String where = "the log from " + from + " to " + to;
                LOG.log(
                        System.Logger.Level.WARNING,
                        where + " is lost, or a part of it: a tier has refused it, and no other tier can read it. Reads"
                                + " of that part end as lost. Further losses are counted, but not logged");
            }
        }

        /** @return false if something could not be copied at this moment, and may be another time */
        private boolean blocksCopied(
                List<Tier> all, TierLane lane, List<Tier> sources, long from, long to, long since) {
            TierDebts debts = lane.of.debts;
            for (Tier source : sources) {
                long next;
                for (long at = Math.max(from, lane.of.firstBlock()); at < to; at = next) {
                    long blockEnd = (at & -BLOCK_BYTES) + BLOCK_BYTES;
                    next = debts.boundary(at, pieceEnd(all, lane.of, at, blockEnd));
                    if (!debts.overlap(at, next - at) || !source.has(at, next - at)) {
                        continue;
                    }
                    int status = read(source, at, next - at);
                    boolean unreadable = isUnreadable(status);
                    if (!unreadable && (status != IoStatus.OK || !written(lane, at, next - at, since))) {
                        return false;
                    }
                }
            }
            return true;
        }

        private static boolean written(TierLane lane, long from, long length, long since) {
            int status = lane.write(from, length);
            // GONE is the answer if only a part of the piece is below the beginning; nothing below it counts as owed.
            if (status == IoStatus.OK) {
                lane.of.debts.removeUnlessAdded(from, length, since);
            }
            return status == IoStatus.OK;
        }

        /** @return null if the tier was removed, or cannot be opened: then it is tried again in the next round */
        private @Nullable TierLane opened(Tier of) {
            if (shut.contains(of)) {
                return null;
            }
            try {
                TierLane lane = TierLane.of(lanes, log, of, piece);
                return lane.open() ? lane : null;
            } catch (RuntimeException e) {
                shut.add(of);
                warn(e);
                return null;
            }
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
