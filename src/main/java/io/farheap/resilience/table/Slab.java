package io.farheap.resilience.table;

import io.farheap.remote.contract.RemoteRegion;

/**
 * One region of a server, which holds split j of the pages of a range. Its state changes in one direction only, under
 * {@link SlabTable}'s lock: REBUILDING, GOOD, VOID. The first slabs of a range begin as GOOD. Any thread reads the
 * state.
 *
 * <ul>
 *   <li>GOOD: has every completed write of its range, and is read.
 *   <li>REBUILDING: is written but not read, until a regeneration has been through all its pages.
 *   <li>VOID: has missed a write, or its server is gone. It is never written or read again; its successor is another
 *       object, of the next generation.
 * </ul>
 *
 * A writer makes a slab void before it releases its page's stripe word; a reader looks at the word before it looks at
 * the slabs. So a thread that reads a page after a write has completed sees which slab missed that write.
 */
public final class Slab {

    public static final int REBUILDING = 0;
    public static final int GOOD = 1;
    public static final int VOID = 2;

    private final RemoteRegion region;
    private final int range;
    private final int split;
    private final int generation;
    private volatile int state;
    /** Approximately how many operations were posted to it: sessions add without a lock, so some additions are lost. */
    private long uses;
    // The keeper's: the value of {@link #uses} when the keeper last reported it to the server, and the time of that
    // report.
    private long toldUses;
    private long toldAt = System.nanoTime();

    public Slab(RemoteRegion region, int range, int split, int generation, int state) {
        this.region = region;
        this.range = range;
        this.split = split;
        this.generation = generation;
        this.state = state;
    }

    public void countUses(int count) {
        uses += count;
    }

    /** The approximate number of uses a second since the last call. Called by the keeper. */
    public long usesASecond(long now) {
        long count = uses - toldUses;
        long nanos = Math.max(1, now - toldAt);
        toldUses += count;
        toldAt = now;
        return (long) (Math.max(0, count) * 1e9 / nanos);
    }

    public RemoteRegion region() {
        return region;
    }

    public int range() {
        return range;
    }

    public int split() {
        return split;
    }

    /** How many slabs preceded it in its place. */
    public int generation() {
        return generation;
    }

    public int state() {
        return state;
    }

    public boolean isGood() {
        return state == GOOD;
    }

    public boolean isVoid() {
        return state == VOID;
    }

    /** Changes the state. The caller holds the table's lock. */
    public void become(int next) {
        state = next;
    }

    @Override
    public String toString() {
        return "slab " + range + "." + split + " of generation " + generation + " in " + region;
    }
}
