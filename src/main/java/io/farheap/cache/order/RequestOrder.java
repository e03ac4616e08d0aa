package io.farheap.cache.order;

import java.util.Arrays;

/**
 * A session's requests in the order of issue, in which they are called back. Each has a sequence number. Those before
 * {@link #head} have been called back, those before {@link #next} are posted, those before {@link #tail} wait. A
 * request that a migration holds leaves its place empty. One thread at a time; nothing here allocates after
 * construction.
 *
 * <p>A request for many records that was posted as one has one place, and knows its first record alone. So the range
 * that all of its records are in is kept beside the place.
 */
public final class RequestOrder {

    /** What {@link #at} says of a place whose request is held, or was. */
    public static final int EMPTY = -1;

    /** Places for each request: a request that is held leaves an empty one behind. */
    private static final int PLACES_OF_A_REQUEST = 4;
    /** Comparing with more requests takes longer than waiting for them. */
    private static final int MOST_COMPARED = 64;

    private final PostedRequests requests;
    /** Of {@code sequence & mask}. */
    private final int[] places;

    private final int mask;

    private long head;
    private long next;
    private long tail;

    /** By place: which list was there last, and from where to where its records are. */
    private final long[] listAt;

    private final long[] listBegin;
    private final long[] listEnd;
    /** The latest list, and the range that all lists are in since there was last none. */
    private long lastList = -1;

    private long listsFrom;
    private long listsTo;

    /** @param capacity requests between issue and callback, a power of two */
    public RequestOrder(PostedRequests requests, int capacity) {
        this.requests = requests;
        this.places = new int[capacity * PLACES_OF_A_REQUEST];
        this.mask = places.length - 1;
        this.listAt = new long[places.length];
        Arrays.fill(listAt, -1);
        this.listBegin = new long[places.length];
        this.listEnd = new long[places.length];
    }

    /** Before it, all have been called back, but for requests that are held. */
    public long head() {
        return head;
    }

    /** Before it, all are posted, lost or held. */
    public long next() {
        return next;
    }

    /** The sequence number of the request that is issued next. */
    public long tail() {
        return tail;
    }

    boolean isEmpty() {
        return head == tail;
    }

    /** Whether nothing waits to be posted: what is posted now is in order. */
    public boolean isPosted() {
        return next == tail;
    }

    public boolean hasRoomFor(int count) {
        return tail - head + count <= places.length;
    }

    /** The request with a sequence number from {@link #head} to {@link #tail}, or {@link #EMPTY}. */
    public int at(long sequence) {
        return places[(int) sequence & mask];
    }

    /** Issues a request that waits to be posted; {@link #EMPTY} for one that is held. There must be room. */
    public void add(int request) {
        places[(int) tail & mask] = request;
        tail++;
    }

    /** Issues a request that is posted with this, and behind which nothing waits. There must be room. */
    public void addPosted(int request) {
        add(request);
        next = tail;
    }

    /** The request issued last is one for many records, which are all in a range. */
    public void list(long begin, long end) {
        if (lastList - head < 0) {
            listsFrom = Long.MAX_VALUE;
            listsTo = 0;
        }
        lastList = tail - 1;
        listsFrom = Math.min(listsFrom, begin);
        listsTo = Math.max(listsTo, end);
        int place = (int) lastList & mask;
        listAt[place] = lastList;
        listBegin[place] = begin;
        listEnd[place] = end;
    }

    /** The request at {@link #next} is posted, or never will be. */
    public void passNext() {
        next++;
    }

    /** The request at {@link #next} is held. */
    public void holdNext() {
        places[(int) next & mask] = EMPTY;
        next++;
    }

    /** The request at {@link #head} is called back. */
    void passHead() {
        head++;
    }

    /** Whether a range may overlap one of the requests. */
    public boolean mayOverlap(long address, long length) {
        if (tail - head > MOST_COMPARED || lastList - head >= 0 && address < listsTo && listsFrom - length < address) {
            return true;
        }
        for (long sequence = head; sequence != tail; sequence++) {
            int request = at(sequence);
            if (request != EMPTY && requests.get(request).overlaps(address, length)) {
                return true;
            }
        }
        return false;
    }

    /** Whether one of them overlaps a range, and one of the two writes. */
    public boolean conflicts(boolean write, long address, long length) {
        for (long sequence = head; sequence != tail; sequence++) {
            int place = (int) sequence & mask;
            int request = places[place];
            if (request != EMPTY
                    && (write || requests.get(request).write)
                    && (listAt[place] == sequence
                            ? address < listEnd[place] && listBegin[place] - length < address
                            : requests.get(request).overlaps(address, length))) {
                return true;
            }
        }
        return false;
    }

    /** Whether one goes beyond an address. */
    public boolean reaches(long end) {
        for (long sequence = head; sequence != tail; sequence++) {
            int place = (int) sequence & mask;
            if (places[place] != EMPTY
                    && (requests.get(places[place]).end() > end || listAt[place] == sequence && listEnd[place] > end)) {
                return true;
            }
        }
        return false;
    }
}
