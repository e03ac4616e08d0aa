package io.farheap.kv.leased.client;

import io.farheap.kv.leased.format.LeasedCalls;

/**
 * A session's requests, from issue to callback: a ring of places, each with columns for the request's arguments and
 * progress, and with local memory of its own. The session's thread.
 */
final class LeasedPlaces {

    /** It waits for an earlier request on its key. */
    static final int HELD = 0;
    /** What it does next can be posted. */
    static final int READY = 1;
    /** A call or a READ is in flight. */
    static final int POSTED = 2;
    /** It waits for a connection. */
    static final int WAITING = 3;
    /** Its status is known. */
    static final int ENDED = 4;
    /** The server does not have its key any more: it waits for a moment, and asks the one that has. */
    static final int MOVING = 5;

    /** A get looks for a pointer; else as {@link #ASK}. */
    static final int BEGIN = 0;
    /** The request's own call. */
    static final int ASK = 1;
    /** The same with room for the longest answer. */
    static final int ASK_LONG = 2;
    /** A READ of the block. */
    static final int READ = 3;
    /** A renewal of the lease of the block that was read. */
    static final int RENEW = 4;
    /** A READ of the block that the answer to its call has named: a value in pieces comes with no answer. */
    static final int READ_NAMED = 10;
    /** READs of the pieces of the value, whose index was read. */
    static final int READ_PIECES = 11;
    /** WRITEs of the value into this process's area. */
    static final int WRITE = 12;
    /** It ends, as this process has no memory for its value. */
    static final int NO_MEMORY = 13;
    /** Nothing: the request ends as lost. */
    static final int GIVE_UP = 14;

    // Local memory of a place.
    private static final int REQUEST = 0;
    private static final int SHORT_ANSWER = line(LeasedCalls.MOST_REQUEST_BYTES);
    private static final int ANSWER = SHORT_ANSWER + line(LeasedCalls.ANSWER_VALUE);
    private static final int PLACE_BYTES =
            ANSWER + line(Math.max(LeasedCalls.MOST_ANSWER_BYTES, LeasedCalls.MOST_BLOCK_BYTES));

    private static final int HASHES = 1 << 8;

    static final int NO_PLACE = -1;

    private final int mask;
    final int[] kind;
    final long[] tag;
    final boolean[] ofBatch;
    final int[] step;
    final int[] next;
    final int[] status;
    final long[] hash;
    final int[] keyBytes;
    final int[] valueBytes;
    final long[] argument;
    final long[] lifeMillis;
    final int[] server;
    /** How many requests the place has had. */
    final long[] count;
    /** When its call was sent. */
    final long[] sentAt;
    /** Whether a server has said that it does not have its key. */
    final boolean[] moved;
    /** Whether it has waited for its turn to read a value in pieces since the server named that. */
    final boolean[] waited;
    /** When a server first said that it does not have its key, and when it asks again. */
    final long[] movedAt;

    final long[] asksAt;
    /** The pointer that it reads by. */
    final RemotePointer[] pointer;

    final long[] version;
    /** Where its value is, and how many bytes it has. */
    final long[] foundAt;

    final int[] foundBytes;
    /** How many connections have failed under it. */
    final int[] failures;
    /** The request that waits for this one, since it is on the same key, or {@link #NO_PLACE}. */
    private final int[] follower;
    /** By a part of the hash: how many requests have it that have not ended. */
    private final int[] sameHashes = new int[HASHES];

    private int first;
    private int inUse;

    private static int line(int bytes) {
        return bytes + 63 & ~63;
    }

    static long memoryBytes(int count) {
        return (long) count * PLACE_BYTES;
    }

    /** @param count a power of two */
    LeasedPlaces(int count) {
        mask = count - 1;
        kind = new int[count];
        tag = new long[count];
        ofBatch = new boolean[count];
        step = new int[count];
        next = new int[count];
        status = new int[count];
        hash = new long[count];
        keyBytes = new int[count];
        valueBytes = new int[count];
        argument = new long[count];
        lifeMillis = new long[count];
        server = new int[count];
        this.count = new long[count];
        sentAt = new long[count];
        moved = new boolean[count];
        waited = new boolean[count];
        movedAt = new long[count];
        asksAt = new long[count];
        pointer = new RemotePointer[count];
        version = new long[count];
        foundAt = new long[count];
        foundBytes = new int[count];
        failures = new int[count];
        follower = new int[count];
        for (int place = 0; place < count; place++) {
            pointer[place] = new RemotePointer();
        }
    }

    /** Offset of a request's message. */
    static long requestAt(int place) {
        return (long) place * PLACE_BYTES + REQUEST;
    }

    /** Offset of the answer to a renewal. */
    static long shortAnswerAt(int place) {
        return (long) place * PLACE_BYTES + SHORT_ANSWER;
    }

    /** Offset of the answer to another call, or of the copy of a block. */
    static long answerAt(int place) {
        return (long) place * PLACE_BYTES + ANSWER;
    }

    int inUse() {
        return inUse;
    }

    boolean full() {
        return inUse > mask;
    }

    /** The place that {@link #add} takes. */
    int free() {
        return first + inUse & mask;
    }

    int first() {
        return first;
    }

    /** The place of the request that was made so many requests after the first. */
    int at(int number) {
        return first + number & mask;
    }

    /** Whether all requests before this one have ended. */
    boolean isOldest(int place) {
        for (int number = 0; number < inUse; number++) {
            if (step[at(number)] != ENDED) {
                return at(number) == place;
            }
        }
        return false;
    }

    private static int part(long hash) {
        return (int) hash & HASHES - 1;
    }

    /**
     * Adds the request at {@link #free}, whose hash is set.
     *
     * @return whether it must wait for one before it, which names it when it {@linkplain #end ends}
     */
    boolean add() {
        int place = free();
        int before = sameHashes[part(hash[place])] > 0 ? lastOf(hash[place]) : NO_PLACE;
        if (before != NO_PLACE) {
            follower[before] = place;
        }
        follower[place] = NO_PLACE;
        sameHashes[part(hash[place])]++;
        inUse++;
        return before != NO_PLACE;
    }

    /** The last request of a key that has not ended. */
    private int lastOf(long of) {
        for (int number = inUse - 1; number >= 0; number--) {
            if (hash[at(number)] == of && step[at(number)] != ENDED) {
                return at(number);
            }
        }
        return NO_PLACE;
    }

    /** A request has ended. @return the request that has waited for it, or {@link #NO_PLACE} */
    int end(int place, int with) {
        status[place] = with;
        step[place] = ENDED;
        sameHashes[part(hash[place])]--;
        return follower[place];
    }

    void removeFirst() {
        first = first + 1 & mask;
        inUse--;
    }
}
