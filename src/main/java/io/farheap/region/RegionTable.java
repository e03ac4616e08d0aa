package io.farheap.region;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Maps a cache's address space to remote regions (Redy, section 3.3, figure 5). Any thread may read; an entry is swapped by one
 * release store, by the one migration that moves it.
 */
public final class RegionTable {

    private static final VarHandle ENTRY = MethodHandles.arrayElementVarHandle(RemoteRegion[].class);

    private final RemoteRegion[] entries;
    private final long regionBytes;
    private final int shift;

    /** @param regionBytes a power of two */
    public RegionTable(RemoteRegion[] regions, long regionBytes) {
        this.entries = regions.clone();
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

    public RemoteRegion get(int index) {
        return (RemoteRegion) ENTRY.getAcquire(entries, index);
    }

    /** Whether a request to some of a range has to wait for a migration. */
    public boolean holds(boolean write, long address, long length) {
        long end = address + length;
        for (long at = address; at < end; at = (at | regionBytes - 1) + 1) {
            RemoteRegion region = get(indexOf(at));
            long offset = offsetOf(at);
            if (region.divided() && region.division().holds(write, offset, Math.min(end - at, regionBytes - offset))) {
                return true;
            }
        }
        return false;
    }

    /** Where a region that is in more than one place is divided, or the mark of the migration that moves it; 0 where it is not divided. */
    public long movedBytes(int index) {
        RemoteRegion region = get(index);
        return region.divided() ? region.division().firstEnd() : 0;
    }

    void set(int index, RemoteRegion region) {
        ENTRY.setRelease(entries, index, region);
        // Whoever reads the list of sessions after this must not miss one that still reads the old entry.
        VarHandle.fullFence();
    }
}
