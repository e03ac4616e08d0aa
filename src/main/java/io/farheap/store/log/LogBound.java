package io.farheap.store.log;

import io.farheap.tier.device.Device;

/**
 * How many pages of the log a device may hold, and how many of them are a reserve. What there is beside the reserve is
 * for all operations. Behind it deletes have a part of their own, and behind that compactions have theirs, so that
 * deletes make room when all else is full, and a compaction gains it.
 *
 * <p><b>Compactions</b> give the log back by units: whole segments, or single pages of a device that drops its oldest
 * part by itself. To give back a unit, a compaction copies the unit's live records. Those of one page open one new page
 * at most, since after it has been opened the rest of them fit into it; so what records waste at the ends of pages is
 * in the {@code unit} pages that the copies need. {@value #RESTARTS} more pages are for restarts, after which the log
 * continues at its next page: restarts while the reserve is in use, behind a checkpoint that ended within a page. What
 * they waste comes back once compactions have passed it, so there may be so many of them in the time in which the log
 * is compacted once. One more page is for copies that come to nothing, since their entry in the index changed
 * meanwhile. A checkpoint needs no page: the tail continues in the same page.
 *
 * <p><b>Deletes</b> have one part in {@value #DELETES_SHARE}, two pages at least: the record of a delete is no longer
 * than the record that it makes dead, and a compaction keeps neither, so one page more than theirs is gained.
 *
 * <p>Sessions overshoot nothing: {@link HybridLog} lets the next kind of work beyond the last page of a part only once
 * that page is full and no session acts on an older tail.
 *
 * @param pages how many pages there may be from the first that is kept to the last
 * @param unit how many pages are given back at a time
 * @param compactions how many of the last pages are left to compactions
 * @param deletes how many pages before these are left to deletes and compactions
 */
public record LogBound(long pages, long unit, long compactions, long deletes) {

    private static final int DELETES_SHARE = 64;
    private static final long LEAST_DELETES = 2;
    private static final long RESTARTS = 4;
    private static final long USELESS = 1;

    /** @param spaceLimit the most bytes that the log may take; {@link Long#MAX_VALUE} if the device alone limits it */
    public static LogBound of(Device device, long spaceLimit, int pageBits) {
        boolean drops = device.capacity() < Device.MAX_ADDRESS;
        long most = Math.min(device.capacity(), spaceLimit);
        if (most >= Device.MAX_ADDRESS) {
            return unbounded(pageBits);
        }
        long pages = most >>> pageBits;
        long unit = drops ? 1 : device.segmentBytes() >>> pageBits;
        return new LogBound(pages, unit, unit + RESTARTS + USELESS, Math.max(LEAST_DELETES, pages / DELETES_SHARE));
    }

    /** Of a log that is on no device, or on one without a limit. */
    static LogBound unbounded(int pageBits) {
        return new LogBound(Device.MAX_ADDRESS >>> pageBits, 1, 0, 0);
    }

    /** Whether there is a limit. */
    public boolean bounded() {
        return compactions > 0;
    }

    /** How many pages are for all operations; negative if the reserve alone does not fit. */
    public long usable() {
        return pages - reserve();
    }

    /** How many pages are left to deletes and compactions. */
    public long reserve() {
        return compactions + deletes;
    }

    /** The first page of the unit that has a page. */
    long unitOf(long page) {
        return page / unit * unit;
    }
}
