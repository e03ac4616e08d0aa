package io.farheap.tier.tiered;

import io.farheap.tier.device.Device;
import io.farheap.tier.handle.HighWaterMark;
import io.farheap.tier.handle.PendingAppends;
import io.farheap.tier.handle.PendingAppendsList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A device in a {@link io.farheap.tier.TieredDevice}, and the part of the log that it has: all from {@link #low} on,
 * except for the part below its own beginning, which it has dropped, and its holes. Any thread.
 */
public final class Tier {

    /** Ids are below it. */
    public static final int IDS = Byte.SIZE;

    public final Device device;
    /** The number by which handles know the tier; another tier may get it once no handle uses this one. */
    final int id;

    final Holes holes = new Holes();
    /** Appends that failed here and that the tier does not have yet. */
    final TierDebts debts = new TierDebts();
    /** The appends of each handle that this tier has not ended. */
    final PendingAppendsList appends = new PendingAppendsList();

    public final AtomicLong reads = new AtomicLong();
    public final AtomicLong lost = new AtomicLong();
    /** Guards {@code low} as it is lowered, and appends below it. */
    private final ReentrantLock filling = new ReentrantLock();

    private volatile long low;
    /**
     * After a change of tiers: appends with lower numbers may be pending here although they have ended, since another
     * tier was their commit point; 0 if there are none.
     */
    private final AtomicLong unsettled = new AtomicLong();
    /** The range that is being copied to this tier, and whether it was appended to meanwhile. */
    private long fillFrom;

    private long fillTo;
    private boolean overtaken;

    /**
     * How many handles have a handle of its device open, and whether the device is closed; guarded by the log's lock.
     */
    int users;

    boolean removed;

    /**
     * Whether the tier has been part of the log since that was opened, so that a sync of its device covers all appends.
     */
    public final boolean original;

    /** Copies between tiers have it. */
    private final long alignment;

    /** @param alignment of the tiers together */
    Tier(Device device, int id, long low, boolean original, long alignment) {
        this.alignment = alignment;
        this.original = original;
        this.device = device;
        this.id = id;
        this.low = low;
    }

    /** The lowest address that the tier has. */
    public long begin() {
        return Math.max(low, device.begin());
    }

    /** The lowest address that can be copied from or to the tier: its beginning may be within a block. */
    long firstBlock() {
        return begin() + alignment - 1 & -alignment;
    }

    long low() {
        return low;
    }

    /**
     * Begins the tier's part of the log. The tier receives all appends from now on, so it has the log from the end of
     * those that were issued before.
     *
     * @param issued the highest end of an issued append, which is raised before the issuing thread calls {@link #takes}
     */
    void join(HighWaterMark issued) {
        filling.lock();
        try {
            low = issued.get();
        } finally {
            filling.unlock();
        }
    }

    boolean has(long address, long length) {
        return address >= low && address >= device.begin() && !misses(address, length);
    }

    /** Whether a part of a range was lost here, or was refused and is not here yet. */
    boolean misses(long address, long length) {
        return holes.overlap(address, length) || debts.overlap(address, length);
    }

    /**
     * The lowest address of an append that this tier has not ended; {@link Long#MAX_VALUE} if there is none. Copies to
     * the tier, which are listed with number 0, do not count: what they copy is owed until they have ended.
     */
    long lowestPending() {
        return appends.lowest(1);
    }

    /** Whether an append with a number below {@code below}, which this tier has not ended, overlaps a range. */
    boolean pends(long from, long to, long below) {
        return appends.overlap(from, to, below);
    }

    /** Whether an append other than {@code own}, which this tier has not ended, overlaps a range. */
    boolean pendsBeside(PendingAppends own, long from, long to) {
        return appends.overlapBeside(own, from, to);
    }

    /**
     * Says that tiers are changing. Until {@link #settles} was called and the appends below its number have ended, an
     * append that has ended for the application may still be pending here.
     */
    void unsettle() {
        unsettled.set(Long.MAX_VALUE);
    }

    /** Says that the change of tiers is visible to all appends from number {@code below} on. */
    void settles(long below) {
        unsettled.set(below);
    }

    /**
     * Whether an append in a range may be pending here although it has ended for the application.
     *
     * @param committed whether, with the current tiers, an append ends only after this tier has ended it
     */
    boolean lacks(long from, long to, boolean committed) {
        if (!committed) {
            return pends(from, to, Long.MAX_VALUE);
        }
        long below = unsettled.get();
        if (below == 0) {
            return false;
        }
        if (below != Long.MAX_VALUE && !pends(0, Long.MAX_VALUE, below)) {
            unsettled.compareAndSet(below, 0);
            return false;
        }
        return pends(from, to, below);
    }

    /**
     * Whether this tier can take appends up to {@code end} without dropping a part of the log that neither the next
     * tier nor the last one has yet.
     *
     * @param last the last tier, which may be {@code next}
     */
    boolean mayGoOnTo(long end, Tier next, Tier last) {
        long first = end - device.capacity();
        if (first <= 0) {
            return true;
        }
        if (next.lowestPending() < first) {
            return false;
        }
        // Reads of what the next tier owes go to the last one, and the next tier is given it from there.
        return !hasOwedBy(next, first, null)
                || next != last && last.lowestPending() >= first && !hasOwedBy(next, first, last);
    }

    /** Whether this tier has something that another one owes. */
    boolean hasOwedBy(Tier other) {
        return hasOwedBy(other, Long.MAX_VALUE, null);
    }

    /** Whether this tier has something, below an address, that another one owes and that {@code beside} lacks, too. */
    private boolean hasOwedBy(Tier other, long below, @Nullable Tier beside) {
        if (other.debts.isEmpty()) {
            return false;
        }
        long[] owed = other.debts.all();
        for (int i = 0; i < owed.length; i += 2) {
            long to = Math.min(owed[i + 1], below);
            // A part of it may be lost here: look at each piece.
            for (long at = Math.max(owed[i], Math.max(firstBlock(), other.firstBlock())); at < to; ) {
                long next = pieceEnd(at, beside == null ? to : beside.pieceEnd(at, to));
                if (has(at, next - at) && (beside == null || !beside.has(at, next - at))) {
                    return true;
                }
                at = next;
            }
        }
        return false;
    }

    /**
     * The end of the piece of a range that begins at {@code at}: this tier has all bytes of the piece, or none.
     *
     * @param to the end of the range
     */
    long pieceEnd(long at, long to) {
        long end = Math.min(to, (at & -Holes.CHUNK_BYTES) + Holes.CHUNK_BYTES);
        long first = firstBlock();
        return debts.boundary(at, first > at ? Math.min(first, end) : end);
    }

    /** Records that an append was not sent here, by a handle that could not open the tier and so does not list it. */
    void passedBy(long address, long length) {
        debts.addUnlisted(address, length, device.begin());
    }

    /** Records that an append failed here. */
    void failed(long address, long length) {
        debts.add(address, length, device.begin());
    }

    /**
     * Records that the tier has a range, as an append to it has succeeded, perhaps after one that had failed.
     *
     * @param since what {@link TierDebts#unlisted} returned before the append was listed as pending
     * @return whether some of it was owed
     */
    boolean wrote(long address, long length, long since) {
        return !debts.isEmpty() && debts.removeUnlessUnlisted(address, length, since);
    }

    /** Bytes that were refused here and are not here yet. */
    public long owedBytes() {
        return debts.bytes(begin());
    }

    /** Whether the tier lacks an append that it should have. */
    boolean incomplete() {
        return debts.from(begin());
    }

    /**
     * Whether an append, which is listed as pending already, is to be sent to this tier. It is not if it lies entirely
     * below the tier's part of the log: a later copy will include it.
     */
    boolean takes(long address, long length) {
        if (address >= low) {
            return true;
        }
        filling.lock();
        try {
            overtaken |= address < fillTo && address + length > fillFrom;
            return address + length > low;
        } finally {
            filling.unlock();
        }
    }

    /**
     * Begins to copy the range that ends at {@code low} from the next tiers. From now on, appends to the range are
     * noticed; the caller then waits for the pending ones.
     */
    void beginFill(long from, long to) {
        filling.lock();
        try {
            fillFrom = from;
            fillTo = to;
            overtaken = false;
        } finally {
            filling.unlock();
        }
    }

    /**
     * Ends the copy of a range: the tier has it from now on.
     *
     * @return false if the range was appended to meanwhile: copy it again
     */
    boolean endFill() {
        filling.lock();
        try {
            if (overtaken) {
                return false;
            }
            low = fillFrom;
            fillTo = 0;
            return true;
        } finally {
            filling.unlock();
        }
    }
}
