package io.farheap.resilience.table;

/** A page of two splits, the second of which is regenerated while it is written. One thread calls each method. */
public final class RegeneratedPage {

    /** The copy if the window could not be held, so that a rebuild would try again. */
    static final int NOT_HAD = 5;

    private final StripeWords words = new StripeWords(1);
    private final Slab old = Slabs.good(1);
    private final Slab next = Slabs.rebuilding(1);
    private final SlabTable table = Slabs.table(Slabs.good(0), old);
    /** Plain, like memory that the device reads and writes: a good split, and its copy in the new slab. */
    private int source;

    private int copy;
    private boolean had;

    public RegeneratedPage() {
        table.makeVoid(old);
    }

    SlabTable table() {
        return table;
    }

    Slab next() {
        return next;
    }

    public void regenerate() {
        table.replace(old, next);
        if (words.tryHold(0)) {
            copy = source;
            had = true;
            words.endHold(0);
        }
    }

    public void write() {
        if (words.tryWrite(0)) {
            Slab second = table.slab(0, 1);
            source = 1;
            if (!second.isVoid()) {
                copy = 1;
            }
            words.endWrite(0);
        }
    }

    /** The written value, when all threads have ended. */
    public int source() {
        return source;
    }

    /** The value in the new slab, or {@link #NOT_HAD}. */
    public int copy() {
        return had ? copy : NOT_HAD;
    }
}
