package io.farheap.cache.order;

import io.farheap.migration.region.RegionTable;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/**
 * The requests that wait for a migration or for a server, in the order of issue: writes to a range that is moving,
 * requests whose connection has failed, and later requests that overlap them. They are not in the session's
 * {@link RequestOrder}, so that they hold back no request that does not overlap them. One thread at a time, except for
 * {@link #any}.
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
    private int[] held;
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
        if (count == held.length) {
            held = Arrays.copyOf(held, 2 * count);
        }
        int at = count++;
        for (; at > 0 && get(at - 1).rank > request.rank; at--) {
            held[at] = held[at - 1];
        }
        held[at] = request.place;
        mark(request, 1);
    }

    void remove(int i) {
        PostedRequest request = get(i);
        mark(request, -1);
        request.deadline = 0;
        request.failure = null;
        request.list = false;
        count--;
        System.arraycopy(held, i + 1, held, i, count - i);
    }

    /** Whether a range overlaps a held request that was issued before the request with a sequence number. */
    public boolean overlaps(long address, long length, long sequence) {
        if (!touches(address, length)) {
            return false;
        }
        for (int i = 0; i < count && get(i).precedes(sequence); i++) {
            if (get(i).overlaps(address, length)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Whether a held request overlaps one that was issued before it.
     *
     * @param i its index
     * @param unpostedOnly whether to look only at requests that are not fully posted
     */
    public boolean isBehind(int i, boolean unpostedOnly) {
        PostedRequest request = get(i);
        for (int earlier = 0; earlier < i; earlier++) {
            if (get(earlier).overlaps(request.address, request.length)
                    && !(unpostedOnly && get(earlier).fullyPosted())) {
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

    /**
     * Whether a request that was issued behind one which has failed, and overlaps it, may have taken effect already,
     * and one of the two writes. Then a READ cannot be repeated, and a write that was never posted cannot be posted any
     * more.
     *
     * @param i the index of the request that has failed
     */
    // A request that has failed has a failure.
    @SuppressWarnings("NullAway")
    public boolean isOvertaken(int i) {
        PostedRequest failed = get(i);
        for (int later = i + 1; later < count; later++) {
            PostedRequest behind = get(later);
            if ((failed.write || behind.write)
                    && behind.posted > 0
                    && behind.overlaps(failed.address, failed.length)
                    && (behind.list || behind.failure == null || !behind.failure.isBehind(failed.failure))) {
                return true;
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
