package io.farheap.region;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Which copy has what of a region that is in more than one place: while it moves, and where its migration failed halfway. It consists of
 * extents, one after the other, with a copy each. At most one extent is moving, from its start on, between two marks:
 *
 * <pre>
 *   start            moved            held               end
 *     |   new copy     |   old copy     |    old copy     |
 *     |                |  writes wait   |                 |
 * </pre>
 *
 * <p>The migration alone sets the marks; sessions look at them inside their gates. Both only grow, but for a migration that fails, which
 * lets the writes go on to the old copy. Offsets are bytes in the region.
 */
public final class DividedRegion {

    private static final VarHandle MOVED;
    private static final VarHandle HELD;
    private static final int NONE = -1;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            MOVED = lookup.findVarHandle(DividedRegion.class, "moved", long.class);
            HELD = lookup.findVarHandle(DividedRegion.class, "held", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final long[] ends;
    private final RemoteRegion[] copies;
    /** The extent that moves, and where it goes. */
    private final int moving;
    private final RemoteRegion destination;
    private final boolean readsWait;
    private long moved;
    private long held;

    private DividedRegion(long[] ends, RemoteRegion[] copies, int moving, RemoteRegion destination, boolean readsWait) {
        this.ends = ends;
        this.copies = copies;
        this.moving = moving;
        this.destination = destination;
        this.readsWait = readsWait;
        if (moving != NONE) {
            moved = start(moving);
            held = moved;
        }
    }

    /**
     * A region whose only copy is about to move.
     *
     * @param readsWait whether reads wait where writes do
     */
    static DividedRegion moving(RemoteRegion copy, long bytes, RemoteRegion destination, boolean readsWait) {
        return new DividedRegion(new long[] {bytes}, new RemoteRegion[] {copy}, 0, destination, readsWait);
    }

    /**
     * The copy that a request at an offset goes to, or null where it has to wait. {@link #end} says how far the copy reaches.
     */
    public RemoteRegion copy(boolean write, long offset) {
        int extent = extent(offset);
        if (extent == moving) {
            if (offset < moved()) {
                return destination;
            }
            if ((write || readsWait) && offset < held()) {
                return null;
            }
        }
        return copies[extent];
    }

    /** The copy that has all of a range which may be read, or written, now; null where there is none. */
    public RemoteRegion copy(boolean write, long offset, long length) {
        RemoteRegion copy = copy(write, offset);
        return copy != null && length <= end(copy, offset) - offset ? copy : null;
    }

    /** Where the part of the region ends that {@link #copy} gave for an offset: what lies between was in that copy, and not held, too. */
    public long end(RemoteRegion copy, long offset) {
        int extent = extent(offset);
        // All that lies behind an offset which had not been moved, and was not held, had not and was not either.
        return extent == moving && copy == destination ? moved() : ends[extent];
    }

    /** Whether a request to some of a range has to wait. */
    boolean holds(boolean write, long offset, long length) {
        return moving != NONE && (write || readsWait) && offset < held() && offset + length > moved();
    }

    /** Everything before it is in the new copy, and there alone. */
    long moved() {
        return (long) MOVED.getAcquire(this);
    }

    /** Writes behind {@link #moved} and before it wait. */
    long held() {
        return (long) HELD.getAcquire(this);
    }

    void moved(long offset) {
        MOVED.setRelease(this, offset);
    }

    void held(long offset) {
        HELD.setRelease(this, offset);
    }

    private long start(int extent) {
        return extent == 0 ? 0 : ends[extent - 1];
    }

    private int extent(long offset) {
        int extent = 0;
        while (offset >= ends[extent]) {
            extent++;
        }
        return extent;
    }
}
