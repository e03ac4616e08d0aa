package io.farheap.cache.order;

import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.function.Predicate;

/**
 * A table of requests, each identified by its place, with a stack of the free places. One thread at a time, except for
 * {@link #sample}.
 */
public class RequestTable {

    private Request[] all;
    private int[] free;
    private int freeCount;
    /** Which places are not free; filled by the methods that look at all requests. */
    private boolean[] pending;

    public RequestTable(int capacity) {
        this(Request.make(capacity));
    }

    /** @param all the requests, each at its place; the table owns them from now on */
    RequestTable(Request[] all) {
        this.all = all;
        pending = new boolean[all.length];
        free = new int[all.length];
        for (int place = all.length - 1; place >= 0; place--) {
            free[freeCount++] = place;
        }
    }

    /**
     * Adds free places.
     *
     * @param more the requests so far, and others behind them
     */
    final void grow(Request[] more) {
        free = Arrays.copyOf(free, more.length);
        for (int place = more.length - 1; place >= all.length; place--) {
            free[freeCount++] = place;
        }
        pending = new boolean[more.length];
        // A sampling thread reads the array without the gate.
        VarHandle.releaseFence();
        all = more;
    }

    public Request get(int place) {
        return all[place];
    }

    /** Takes a free request. There must be {@link #room}. */
    public Request take() {
        return all[takePlace()];
    }

    final int takePlace() {
        int place = free[freeCount - 1];
        freeCount--;
        return place;
    }

    /** Returns a request that has ended to the free ones. */
    public final void give(Request request) {
        if (request.atomic != Request.NO_ATOMIC) {
            request.atomic = Request.NO_ATOMIC;
        }
        if (request.segment != null) {
            request.segment = null;
        }
        free[freeCount++] = request.place;
    }

    public final int capacity() {
        return free.length;
    }

    public final int room() {
        return freeCount;
    }

    /** How many requests are between issue and callback. */
    public final int pending() {
        return free.length - freeCount;
    }

    /** Shows the addresses of recent requests. Any thread. */
    public final void sample(RegionHeat heat) {
        heat.add(all);
    }

    /** Whether a request uses a buffer. It looks at all of them, and allocates. */
    public final boolean uses(RequestBuffer candidate) {
        return any(request -> request.buffer == candidate);
    }

    /** Whether a request goes beyond an address. It looks at all of them, and allocates. */
    public final boolean reaches(long end) {
        return any(request -> request.end() > end);
    }

    private boolean any(Predicate<Request> wanted) {
        markPending();
        for (Request request : all) {
            if (pending[request.place] && wanted.test(request)) {
                return true;
            }
        }
        return false;
    }

    /** Whether a request overlaps a range, and one of the two writes. It looks at all of them. */
    public final boolean conflict(boolean write, long address, long length) {
        if (pending() == 0) {
            return false;
        }
        markPending();
        for (Request request : all) {
            if (pending[request.place] && (write || request.write) && request.overlaps(address, length)) {
                return true;
            }
        }
        return false;
    }

    private void markPending() {
        Arrays.fill(pending, true);
        for (int i = 0; i < freeCount; i++) {
            pending[free[i]] = false;
        }
    }
}
