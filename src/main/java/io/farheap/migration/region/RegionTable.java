package io.farheap.migration.region;

import io.farheap.remote.contract.RemoteRegion;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Maps a cache's address space to remote regions (Redy, section 3.3, figure 5), and holds its capacity. Any thread may
 * read; an entry is swapped by one release store, by the one migration that moves it.
 *
 * <p>One thread at a time grows and shrinks the table, and moves no regions meanwhile. It grows in two steps: it stores
 * first the larger array, then the capacity, each with release. So a thread that has loaded the capacity with acquire
 * finds an entry for every address below it. It shrinks in the opposite order: it stores the smaller capacity, then the
 * caller waits until no request beyond it is in flight, and only then the entries are removed. A reader keeps an array
 * that it has loaded for no longer than one request, inside its session's gate, and every migration and every change of
 * the table waits for that gate.
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
     * A table.
     *
     * @param capacity bytes, at most those of the regions
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

    /** The {@link #capacity()} as an object, for a reader that needs it repeatedly. */
    public AddressLimit bound() {
        return capacity;
    }

    /**
     * Sets the capacity, for which there must be regions. A caller that makes it smaller must wait, before it removes
     * the regions beyond it, until no request uses them.
     */
    public void capacity(long bytes) {
        capacity.set(bytes);
    }

    /** Appends regions. No request uses them before the {@link #capacity(long) capacity} is increased. */
    public void append(List<RemoteRegion> regions) {
        RegionEntry[] old = entries;
        RegionEntry[] larger = Arrays.copyOf(old, old.length + regions.size());
        System.arraycopy(entries(regions), 0, larger, old.length, regions.size());
        ENTRIES.setRelease(this, larger);
    }

    /** Removes the last regions so that {@code size} are left; no request uses them, now or later. */
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

    /** As {@link #get}; null if the table has become smaller since, and does not have the region any more. */
    public @Nullable RegionEntry find(int index) {
        RegionEntry[] now = entries();
        return index < now.length ? (RegionEntry) ENTRY.getAcquire(now, index) : null;
    }

    /** How many regions match, of those that the table had at one moment: it may shrink meanwhile. */
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
     * The end of the first part of a split region, which is how far the migration that moves it has come; 0 if it is in
     * one copy.
     */
    public long movedBytes(int index) {
        SplitRegion split = get(index).split();
        return split != null ? split.firstEnd() : 0;
    }

    void set(int index, RegionEntry entry) {
        ENTRY.setRelease(entries, index, entry);
        // A thread that reads the list of sessions after this must not miss a session that still uses the old entry.
        VarHandle.fullFence();
    }
}
