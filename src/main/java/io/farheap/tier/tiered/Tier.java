package io.farheap.tier.tiered;

import io.farheap.tier.device.Device;
import io.farheap.tier.handle.HighWaterMark;
import io.farheap.tier.handle.PendingAppendsList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A device in a {@link io.farheap.tier.TieredDevice}, and what it has of the log: all from {@link #low} on, but for
 * what it has given up, below its beginning, and its holes. Any thread.
 */
public final class Tier {

    /** Ids are below it. */
    public static final int IDS = Byte.SIZE;

    public final Device device;
    /** By which handles know it; another's once nobody uses it. */
    final int id;

    final Holes holes = new Holes();
    /** Of each handle, the appends that it has not done. */
    final PendingAppendsList appends = new PendingAppendsList();

    public final AtomicLong reads = new AtomicLong();
    public final AtomicLong lost = new AtomicLong();
    /** Ends of appends that it refused. */
    private final HighWaterMark failed = new HighWaterMark(0);
    /** Held by who lowers {@code low}, and who appends below it. */
    private final ReentrantLock filling = new ReentrantLock();

    private volatile long low;
    /** Appends numbered below it may be pending though another tier was the commit point for them; 0 where none is. */
    private final AtomicLong unsettled = new AtomicLong();
    /** A range that is copied to it now, and whether somebody has appended there meanwhile. */
    private long fillFrom;

    private long fillTo;
    private boolean overtaken;

    /** Handles that have one of its device's open, under the log's lock; removed: no more will. */
    int users;

    boolean removed;

    /** Whether it has all that its device synced since the log was opened: it was there from then on. */
    public final boolean original;

    Tier(Device device, int id, long low, boolean original) {
        this.original = original;
        this.device = device;
        this.id = id;
        this.low = low;
    }

    /** What it has begins there. */
    public long begin() {
        return Math.max(low, device.begin());
    }

    long low() {
        return low;
    }

    /**
     * It gets appends from now on, so it has all from where those are, at most, that went out before.
     *
     * @param issued where the last one ends that went out; raised before its issuer asked {@link #takes}
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
        return address >= low && address >= device.begin() && !holes.overlap(address, length);
    }

    /** The lowest append that it has not done; {@link Long#MAX_VALUE} where there is none. */
    long lowestPending() {
        return appends.lowest();
    }

    /** Whether an append that it has not done, numbered below one, is in a range. */
    boolean pends(long from, long to, long below) {
        return appends.overlap(from, to, below);
    }

    /**
     * Whether tiers change: until it is told {@link #settles}, and those before that number have ended, what was called
     * back may be pending here.
     */
    void unsettle() {
        unsettled.set(Long.MAX_VALUE);
    }

    void settles(long below) {
        unsettled.set(below);
    }

    /**
     * Whether what is in a range may be pending though it was called back.
     *
     * @param committed whether appends are called back when this tier has ended them, as tiers are now
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

    /** Whether appends up to an address leave it what another tier, the next, has not got. */
    boolean mayGoOnTo(long end, Tier next) {
        long first = end - device.capacity();
        return first <= 0 || next.lowestPending() >= first;
    }

    /** It has not got an append. */
    void failed(long address, long length) {
        failed.raise(address + length);
        holes.add(address, length, device.begin());
    }

    /** Whether it has not got something that it should have. */
    boolean incomplete() {
        return failed.get() > device.begin();
    }

    /**
     * Whether an append, which is among the pending ones already, is to go there: not where all of it is below what the
     * tier has, since what is copied later has it then.
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
     * A range below {@code low}, up to it, is about to be read from the next tier, and then written. What is appended
     * to it from now on is noticed; what is pending in it is to end first.
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
     * It is written.
     *
     * @return false where somebody has appended there meanwhile: do it again
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
