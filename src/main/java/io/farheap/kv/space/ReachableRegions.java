package io.farheap.kv.space;

import io.farheap.kv.format.SlotWord;

/** The regions of a map to which a session has connections, as far as it knows. The session's thread. */
public final class ReachableRegions {

    private final SpaceMemory space;
    private final Reconnects reconnects;

    ReachableRegions(SpaceMemory space, Reconnects reconnects) {
        this.space = space;
        this.reconnects = reconnects;
    }

    /** Whether it has connections to all regions. */
    public boolean all() {
        return reconnects.all();
    }

    /** Whether nothing that was posted on a failed connection can take effect any more. */
    public boolean fenced() {
        return reconnects.up();
    }

    public boolean region(int number) {
        return reconnects.reaches(space.region(number));
    }

    /** Whether it has a connection to the bucket of a key. */
    public boolean bucket(long hash) {
        return reconnects.all() || region(space.shape().bucketRegion(hash));
    }

    /** Whether it has a connection to the block of a word; a word that names no block needs none. */
    public boolean block(long word) {
        return reconnects.all() || !space.holdsBlock(word) || reconnects.reaches(space.regionOf(SlotWord.place(word)));
    }

    /** Whether it may have a connection to the block of a word later: the lease of its server holds. */
    public boolean blockLater(long word) {
        return !reconnects.isOver()
                && space.holdsBlock(word)
                && space.regionOf(SlotWord.place(word)).server().lost() == null;
    }

    /** A region of the table that is reached: this one, or the next that is; this one if none is. */
    public int nearest(int region) {
        int tables = space.shape().tableRegions();
        for (int i = 0; i < tables; i++) {
            if (region((region + i) % tables)) {
                return (region + i) % tables;
            }
        }
        return region;
    }
}
