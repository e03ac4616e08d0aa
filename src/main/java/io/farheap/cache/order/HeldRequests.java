package io.farheap.cache.order;

import io.farheap.migration.region.RegionTable;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/**
 * The requests that wait for a migration, in the order of issue: writes to a range that is moving, and later requests
 * that overlap them. They are not in the session's {@link RequestOrder}, so that they hold back no request that does
 * not overlap them. One thread at a time, except for {@link #any}.
 */
public final class HeldRequests {

    private static final VarHandle COUNT;

    static {
        try {
            COUNT = MethodHandles.lookup().findVarHandle(HeldRequests.class, "count", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final PostedRequests requests;
    private final RegionTable table;
    private final int[] held;
    /** How many held requests touch each region: so most requests need no comparison. */
    private int[] perRegion;

    private int count;

    /** @param capacity how many may be held */
    public HeldRequests(PostedRequests requests, RegionTable table, int capacity) {
        this.requests = requests;
        this.table = table;
        this.held = new int[capacity];
        this.perRegion = new int[table.size()];
    }

    public int count() {
        return count;
    }

    /**
     * Whether there are any. Any thread: a thread that executes a heavy fence before it sees every request that was
     * held before.
     */
    public boolean any() {
        return (int) COUNT.getOpaque(this) > 0;
    }

    public PostedRequest get(int i) {
        return requests.get(held[i]);
    }

    public void add(PostedRequest request) {
        int at = count++;
        for (; at > 0 && get(at - 1).sequence > request.sequence; at--) {
            held[at] = held[at - 1];
        }
        held[at] = request.place;
        mark(request, 1);
    }

    void remove(int i) {
        mark(get(i), -1);
        count--;
        System.arraycopy(held, i + 1, held, i, count - i);
    }

    /**
     * Whether a range overlaps a held request that was issued before {@code sequence}.
     *
     * @param unpostedOnly whether to look only at requests that are not fully posted
     */
    public boolean overlaps(long address, long length, long sequence, boolean unpostedOnly) {
        if (!touches(address, length)) {
            return false;
        }
        for (int i = 0; i < count && get(i).sequence < sequence; i++) {
            if (get(i).overlaps(address, length) && !(unpostedOnly && get(i).fullyPosted())) {
                return true;
            }
        }
        return false;
    }

    /** Whether one overlaps a range, and one of the two writes. */
    public boolean conflicts(boolean write, long address, long length) {
        if (touches(address, length)) {
            for (int i = 0; i < count; i++) {
                if ((write || get(i).write) && get(i).overlaps(address, length)) {
                    return true;
                }
            }
        }
        return false;
    }

    private boolean touches(long address, long length) {
        // Regions beyond the end of the array were added later, and no request to them has been held yet.
        int last = Math.min(table.indexOf(address + length - 1), perRegion.length - 1);
        for (int region = table.indexOf(address); region <= last; region++) {
            if (perRegion[region] > 0) {
                return true;
            }
        }
        return false;
    }

    /** Whether one goes beyond an address. */
    public boolean reaches(long end) {
        for (int i = 0; i < count; i++) {
            if (get(i).end() > end) {
                return true;
            }
        }
        return false;
    }

    private void mark(PostedRequest request, int change) {
        int last = table.indexOf(request.end() - 1);
        if (last >= perRegion.length) {
            perRegion = Arrays.copyOf(perRegion, table.size());
        }
        for (int region = table.indexOf(request.address); region <= last; region++) {
            perRegion[region] += change;
        }
    }
}
