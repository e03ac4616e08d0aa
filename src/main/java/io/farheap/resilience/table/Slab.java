package io.farheap.resilience.table;

import io.farheap.remote.contract.RemoteRegion;

/**
 * One region of a server that has split j of the pages of a range. Its state goes one way, under {@link SlabTable}'s
 * lock: REBUILDING, GOOD, VOID; those that are made with their range begin as GOOD. Any thread reads it.
 *
 * <ul>
 *   <li>GOOD: has every completed write of its range, and is read.
 *   <li>REBUILDING: is written and not read, until a regeneration has been through all its pages.
 *   <li>VOID: has missed a write, or its server is gone. It is not written and never read again; a slab that takes its
 *       place is another object of another generation.
 * </ul>
 *
 * A writer makes a slab void before it gives up its page's stripe word; a reader looks at the word before it looks at
 * the slabs. So whoever reads a page after a write has been called back sees which slab missed it.
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
    /** About how many operations were posted to it: sessions add without a lock, and some are lost. */
    private long uses;
    // The keeper's: the same when it last told the server, and when that was.
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

    /** How often it was used a second since this was last asked, about. The keeper. */
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

    /** How many slabs stood in its place before. */
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

    /** With the table's lock. */
    public void become(int next) {
        state = next;
    }

    @Override
    public String toString() {
        return "slab " + range + "." + split + " of generation " + generation + " in " + region;
    }
}
