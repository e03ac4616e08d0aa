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

    void set(int index, RemoteRegion region) {
        ENTRY.setRelease(entries, index, region);
        // Whoever reads the list of sessions after this must not miss one that still reads the old entry.
        VarHandle.fullFence();
    }
}
