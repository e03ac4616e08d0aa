package io.farheap.migration.region;

import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import org.jspecify.annotations.Nullable;

/**
 * Where a virtual region is: in one copy, or {@linkplain SplitRegion split} between several. The region table swaps it
 * for another, so who has found a way by one entry looks whether the table still has it. Any thread.
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

    /** What is where, now that nothing of a region moves any more. */
    static RegionEntry settled(SplitRegion moved) {
        SplitRegion settled = moved.settled();
        return settled.extents() == 1 ? whole(settled.copy(0)) : split(settled);
    }

    /** The copy that has all of it; of a split region, the one that has its beginning. */
    public RemoteRegion copy() {
        return copy;
    }

    /** Whether it is in more than one place: then {@link #split} says where a request goes. */
    public boolean isSplit() {
        return split != null;
    }

    /** Null where it is in one copy. */
    public @Nullable SplitRegion split() {
        return split;
    }

    /** As extents: one, of so many bytes, where it is in one copy. */
    SplitRegion extents(long bytes) {
        return split == null ? SplitRegion.whole(copy, bytes) : split;
    }

    /** Whether some of it is on a server. */
    public boolean uses(RemoteServer server) {
        return split == null ? copy.server() == server : split.copyOn(server) != null;
    }

    @Override
    public String toString() {
        return split == null ? copy.toString() : copy + " and others";
    }
}
