package io.farheap.migration.region;

import io.farheap.remote.contract.RemoteRegion;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;

/**
 * Maps a cache's address space to remote regions (Redy, section 3.3, figure 5), and says how much of it there is. Any
 * thread may read; an entry is swapped by one release store, by the one migration that moves it.
 *
 * <p>The table grows and shrinks by one thread at a time, which does not move regions meanwhile. It grows in two steps:
 * first the larger array is stored, then the capacity, each with release. Who has loaded the capacity with acquire
 * therefore finds an entry for every address below it. It shrinks the other way round: the smaller capacity is stored,
 * then the caller waits until no request is under way beyond it, and only then the entries go. A reader that has loaded
 * an array keeps it for no longer than one request, inside its session's gate, which every migration and every change
 * of the table waits for.
 */
public final class RegionTable {

    private static final VarHandle ENTRY = MethodHandles.arrayElementVarHandle(RegionEntry[].class);
    private static final VarHandle ENTRIES;

    static {
        try {
            ENTRIES = MethodHandles.lookup().findVarHandle(RegionTable.class, "entries", RegionEntry[].class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private RegionEntry[] entries;

    private final AddressLimit capacity;
    private final long regionBytes;
    private final int shift;

    /**
     * @param capacity bytes, for which there are regions
     * @param regionBytes a power of two
     */
    public RegionTable(RemoteRegion[] regions, long capacity, long regionBytes) {
        this.entries = entries(Arrays.asList(regions));
        this.capacity = new AddressLimit(capacity);
        this.regionBytes = regionBytes;
        this.shift = Long.numberOfTrailingZeros(regionBytes);
    }

    private static RegionEntry[] entries(List<RemoteRegion> regions) {
        return regions.stream().map(RegionEntry::whole).toArray(RegionEntry[]::new);
    }

    private RegionEntry[] entries() {
        return (RegionEntry[]) ENTRIES.getAcquire(this);
    }

    /** Bytes: requests go to addresses from 0 to this, exclusive. */
    public long capacity() {
        return capacity.bytes();
    }

    /** The {@link #capacity()}, for whoever reads it again and again. */
    public AddressLimit bound() {
        return capacity;
    }

    /**
     * Another capacity from now on, for which there are regions. Whoever makes it smaller waits, before the regions
     * beyond it go, until nobody has requests there.
     */
    public void capacity(long bytes) {
        capacity.set(bytes);
    }

    /** Regions behind the last one, of which no request knows before the {@link #capacity(long) capacity} is larger. */
    public void append(List<RemoteRegion> regions) {
        RegionEntry[] old = entries;
        RegionEntry[] larger = Arrays.copyOf(old, old.length + regions.size());
        System.arraycopy(entries(regions), 0, larger, old.length, regions.size());
        ENTRIES.setRelease(this, larger);
    }

    /** Takes away all but so many regions, which no request is to, or will be. */
    public void truncate(int size) {
        ENTRIES.setRelease(this, Arrays.copyOf(entries, size));
    }

    public int size() {
        return entries().length;
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
        return (RegionEntry) ENTRY.getAcquire(entries(), index);
    }

    /** How many regions are so, of those that there were at one moment: the table may shrink meanwhile. */
    public int count(Predicate<RegionEntry> wanted) {
        RegionEntry[] now = entries();
        int count = 0;
        for (int index = 0; index < now.length; index++) {
            if (wanted.test((RegionEntry) ENTRY.getAcquire(now, index))) {
                count++;
            }
        }
        return count;
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
