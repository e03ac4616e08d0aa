package io.farheap.migration.region;

import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import org.jspecify.annotations.Nullable;

/**
 * The place of a virtual region: one copy, or several if it is {@linkplain SplitRegion split}. The region table
 * replaces an entry by another one, so a thread that has used an entry checks whether the table still has it. Any
 * thread.
 */
public final class RegionEntry {

    private final RemoteRegion copy;
    private final @Nullable SplitRegion split;

    private RegionEntry(RemoteRegion copy, @Nullable SplitRegion split) {
        this.copy = copy;
        this.split = split;
    }

    static RegionEntry whole(RemoteRegion copy) {
        return new RegionEntry(copy, null);
    }

    static RegionEntry split(SplitRegion split) {
        return new RegionEntry(split.copy(0), split);
    }

    /** The entry of a region after the end of a move. */
    static RegionEntry settled(SplitRegion moved) {
        SplitRegion settled = moved.settled();
        return settled.extents() == 1 ? whole(settled.copy(0)) : split(settled);
    }

    /** The copy that has all of it; of a split region, the one that has its beginning. */
    public RemoteRegion copy() {
        return copy;
    }

    /** Whether it is in more than one copy: then {@link #split} gives the copy for a request. */
    public boolean isSplit() {
        return split != null;
    }

    /** Null if it is in one copy. */
    public @Nullable SplitRegion split() {
        return split;
    }

    /** The region as extents; if it is in one copy, one extent of so many bytes. */
    SplitRegion extents(long bytes) {
        return split == null ? SplitRegion.whole(copy, bytes) : split;
    }

    /** Whether a part of it is on a server. */
    public boolean uses(RemoteServer server) {
        return split == null ? copy.server() == server : split.copyOn(server) != null;
    }

    @Override
    public String toString() {
        return split == null ? copy.toString() : copy + " and others";
    }
}
