package io.farheap.migration;

import io.farheap.remote.RemoteRegion;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/**
 * Maps a cache's address space to remote regions (Redy, section 3.3, figure 5). Any thread may read; an entry is
 * swapped by one release store, by the one migration that moves it.
 */
public final class RegionTable {

    private static final VarHandle ENTRY = MethodHandles.arrayElementVarHandle(RegionEntry[].class);

    private final RegionEntry[] entries;
    private final long regionBytes;
    private final int shift;

    /** @param regionBytes a power of two */
    public RegionTable(RemoteRegion[] regions, long regionBytes) {
        this.entries = Arrays.stream(regions).map(RegionEntry::whole).toArray(RegionEntry[]::new);
        this.regionBytes = regionBytes;
        this.shift = Long.numberOfTrailingZeros(regionBytes);
    }

    public int size() {
        return entries.length;
    }

    public long regionBytes() {
        return regionBytes;
    }

    /** The virtual region that holds a cache address. */
    public int indexOf(long address) {
        return (int) (address >>> shift);
    }

    /** An address's place in its region, in bytes. */
    public long offsetOf(long address) {
        return address & (regionBytes - 1);
    }

    public RegionEntry get(int index) {
        return (RegionEntry) ENTRY.getAcquire(entries, index);
    }

    /** Whether a request to some of a range has to wait for a migration. */
    public boolean holds(boolean write, long address, long length) {
        long end = address + length;
        for (long at = address; at < end; at = (at | regionBytes - 1) + 1) {
            RegionEntry entry = get(indexOf(at));
            long offset = offsetOf(at);
            SplitRegion split = entry.split();
            if (split != null && split.holds(write, offset, Math.min(end - at, regionBytes - offset))) {
                return true;
            }
        }
        return false;
    }

    /**
     * Where the first part of a split region ends, or how far the migration that moves it has come; 0 where it is in
     * one copy.
     */
    public long movedBytes(int index) {
        SplitRegion split = get(index).split();
        return split != null ? split.firstEnd() : 0;
    }

    void set(int index, RegionEntry entry) {
        ENTRY.setRelease(entries, index, entry);
        // Whoever reads the list of sessions after this must not miss one that still reads the old entry.
        VarHandle.fullFence();
    }
}
