package io.farheap.cache.order;

import java.util.Arrays;

/**
 * A session's requests in the order of issue, in which they are called back: a ring, indexed by sequence number, with
 * three positions. Requests before {@link #head} have been called back, those from there to {@link #next} are posted,
 * and those from there to {@link #tail} wait to be posted. A request that a migration holds leaves its entry
 * {@link #EMPTY}. One thread at a time; nothing here allocates after construction.
 *
 * <p>A request for many records that was posted as one list has one entry, and stores the address of its first record
 * only. So the range that encloses all of its records is kept beside the entry.
 */
public final class RequestOrder {

    /** Returned by {@link #at} for an entry whose request is held, or was. */
    public static final int EMPTY = -1;

    /** Entries for each request: a request that is held leaves an empty one behind. */
    private static final int PLACES_OF_A_REQUEST = 4;
    /** With more requests than this, comparing with each takes longer than waiting for them. */
    private static final int MOST_COMPARED = 64;

    private final PostedRequests requests;
    /** The request's place in its table, at {@code sequence & mask}. */
    private final int[] places;

    private final int mask;

    private long head;
    private long next;
    private long tail;

    /** By entry: the sequence number of the last list there, and the range that encloses its records. */
    private final long[] listAt;

    private final long[] listBegin;
    private final long[] listEnd;
    /** The latest list, and the range that encloses all lists since no list was last pending. */
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

    /** All requests before it have been called back, except those that are held. */
    public long head() {
        return head;
    }

    /** All requests before it are posted, lost or held. */
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

    /** Whether no request waits to be posted, so that posting now keeps the order. */
    public boolean isPosted() {
        return next == tail;
    }

    /** Whether {@code count} requests can be appended. */
    public boolean hasRoomFor(int count) {
        return tail - head + count <= places.length;
    }

    /**
     * The place of the request with a sequence number from {@link #head} to {@link #tail}, exclusive, or
     * {@link #EMPTY}.
     */
    public int at(long sequence) {
        return places[(int) sequence & mask];
    }

    /** Appends a request that waits to be posted, or {@link #EMPTY} for one that is held. There must be room. */
    public void add(int request) {
        places[(int) tail & mask] = request;
        tail++;
    }

    /** Appends a request that the caller posts now. No request may wait to be posted, and there must be room. */
    public void addPosted(int request) {
        add(request);
        next = tail;
    }

    /** Notes the range that encloses all records of the request appended last. */
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

    /** The request with a sequence number before {@link #next} is held. */
    public void hold(long sequence) {
        places[(int) sequence & mask] = EMPTY;
    }

    /** Whether the request with a sequence number was posted as a list. */
    public boolean isList(long sequence) {
        return listAt[(int) sequence & mask] == sequence;
    }

    /** The beginning of the range that encloses the records of the list with a sequence number. */
    public long listBegin(long sequence) {
        return listBegin[(int) sequence & mask];
    }

    /** The end of that range. */
    public long listEnd(long sequence) {
        return listEnd[(int) sequence & mask];
    }

    /** The request at {@link #head} is called back. */
    void passHead() {
        head++;
    }

    /**
     * Whether a range may overlap one of the requests. With many requests, or lists near the range, it returns true
     * without comparing.
     */
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
