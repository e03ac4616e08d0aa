package io.farheap.migration.region;

import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The copies of a region that is in more than one place: while it moves, and after a migration that failed halfway. It
 * consists of extents, one after the other, each in one copy. At most one extent is moving, from its start on, between
 * two marks:
 *
 * <pre>
 *   start            moved            held               end
 *     |   new copy     |   old copy     |    old copy     |
 *     |                |  writes wait   |                 |
 * </pre>
 *
 * <p>Only the migration sets the marks; sessions read them inside their gates. Both only grow, except if a migration
 * fails: then the held writes continue to the old copy. Offsets are bytes in the region.
 */
public final class SplitRegion {

    private static final VarHandle MOVED;
    private static final VarHandle HELD;
    private static final int NONE = -1;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            MOVED = lookup.findVarHandle(SplitRegion.class, "moved", long.class);
            HELD = lookup.findVarHandle(SplitRegion.class, "held", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final long[] ends;
    private final RemoteRegion[] copies;
    /** The extent that moves, and its destination; null if none moves. */
    private final int moving;

    private final @Nullable RemoteRegion destination;
    /** Whether reads wait as writes do. */
    private final boolean readsWait;
    /** Whether requests to all of the region wait, because all of the cache is paused. */
    private final boolean paused;

    private long moved;

    @SuppressWarnings("unused")
    private long held;

    private SplitRegion(
            long[] ends,
            RemoteRegion[] copies,
            int moving,
            @Nullable RemoteRegion destination,
            boolean readsWait,
            boolean paused) {
        this.ends = ends;
        this.copies = copies;
        this.moving = moving;
        this.destination = destination;
        this.readsWait = readsWait;
        this.paused = paused;
        if (moving != NONE) {
            moved = start(moving);
            held = moved;
        }
    }

    /** A region in one copy, as one extent. */
    static SplitRegion whole(RemoteRegion copy, long bytes) {
        return new SplitRegion(new long[] {bytes}, new RemoteRegion[] {copy}, NONE, null, false, false);
    }

    /** The same extents; requests to all of them wait. */
    SplitRegion paused(boolean readsToo) {
        return new SplitRegion(ends, copies, NONE, null, readsToo, true);
    }

    /** The same extents, with one that is about to move. */
    SplitRegion moving(int extent, RemoteRegion to, boolean readsWithWrites, boolean allWaits) {
        return new SplitRegion(ends, copies, extent, to, readsWithWrites, allWaits);
    }

    /** The extents and copies after the end of a move. */
    SplitRegion settled() {
        int count = 0;
        long[] newEnds = new long[ends.length + 1];
        RemoteRegion[] newCopies = new RemoteRegion[ends.length + 1];
        for (int extent = 0; extent < ends.length; extent++) {
            if (extent == moving && destination != null) {
                count = append(newEnds, newCopies, count, moved(), destination);
            }
            count = append(newEnds, newCopies, count, ends[extent], copies[extent]);
        }
        return new SplitRegion(
                Arrays.copyOf(newEnds, count), Arrays.copyOf(newCopies, count), NONE, null, false, false);
    }

    private static int append(long[] ends, RemoteRegion[] copies, int count, long end, RemoteRegion copy) {
        if (end == (count == 0 ? 0 : ends[count - 1])) {
            return count;
        }
        int at = count > 0 && copies[count - 1] == copy ? count - 1 : count;
        ends[at] = end;
        copies[at] = copy;
        return at + 1;
    }

    /**
     * The copy for a request at an offset, or null if the request has to wait. {@link #end} returns how far the copy
     * reaches.
     */
    public @Nullable RemoteRegion copy(boolean write, long offset) {
        int extent = extent(offset);
        boolean waits = write || readsWait;
        if (paused && waits) {
            return null;
        }
        if (extent == moving) {
            if (offset < moved()) {
                return destination;
            }
            if (waits && offset < held()) {
                return null;
            }
        }
        return copies[extent];
    }

    /** The copy that has all of a range and may be read, or written, now; null if there is none. */
    public @Nullable RemoteRegion copy(boolean write, long offset, long length) {
        RemoteRegion copy = copy(write, offset);
        return copy != null && length <= end(copy, offset) - offset ? copy : null;
    }

    /**
     * The end of the part for which {@link #copy} returned this copy: all offsets up to there were in that copy and not
     * held at that moment.
     */
    public long end(RemoteRegion copy, long offset) {
        int extent = extent(offset);
        // If an offset had not been moved and was not held, neither had any offset after it in the extent.
        return extent == moving && copy == destination ? moved() : ends[extent];
    }

    /** Whether a request to a part of the range has to wait. */
    boolean holds(boolean write, long offset, long length) {
        if (!write && !readsWait) {
            return false;
        }
        long from = Math.max(offset, moved());
        return paused || from < Math.min(offset + length, held());
    }

    /** The copy on a server, if a part of the region is there; null otherwise. */
    @Nullable
    RemoteRegion copyOn(RemoteServer server) {
        for (RemoteRegion copy : copies) {
            if (copy.server() == server) {
                return copy;
            }
        }
        return null;
    }

    /** The end of its first part, or 0 if it has only one. */
    long firstEnd() {
        return moving == 0 ? moved() : ends.length > 1 ? ends[0] : 0;
    }

    boolean has(RemoteRegion copy) {
        return Arrays.asList(copies).contains(copy);
    }

    /**
     * The first extent that is on a server, or on any if {@code from} is null, and is not in the target copy; -1 if
     * there is none.
     */
    int toMove(@Nullable RemoteServer from, RemoteRegion target) {
        for (int extent = 0; extent < copies.length; extent++) {
            if (copies[extent] != target && (from == null || copies[extent].server() == from)) {
                return extent;
            }
        }
        return NONE;
    }

    /** Each copy that has a part of the region, once. */
    Set<RemoteRegion> copies() {
        return new LinkedHashSet<>(Arrays.asList(copies));
    }

    int extents() {
        return ends.length;
    }

    long start(int extent) {
        return extent == 0 ? 0 : ends[extent - 1];
    }

    long end(int extent) {
        return ends[extent];
    }

    RemoteRegion copy(int extent) {
        return copies[extent];
    }

    /** The offset before which all of the moving extent is in the new copy, and only there. */
    long moved() {
        return (long) MOVED.getAcquire(this);
    }

    /** Writes from {@link #moved} on and before this offset wait. */
    long held() {
        return (long) HELD.getAcquire(this);
    }

    void moved(long offset) {
        MOVED.setRelease(this, offset);
    }

    void held(long offset) {
        HELD.setRelease(this, offset);
    }

    private int extent(long offset) {
        int extent = 0;
        while (offset >= ends[extent]) {
            extent++;
        }
        return extent;
    }
}
