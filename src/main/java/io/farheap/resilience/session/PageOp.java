package io.farheap.resilience.session;

import org.jspecify.annotations.Nullable;

/**
 * An operation: what a request does to one page. It reads or writes a column, which is the same range of bytes in some
 * of the page's splits. Operations are preallocated in a session's table.
 */
final class PageOp {

    /** Waits for earlier operations of its session, its page's stripe word, a slot, or enough connections. */
    static final int WAITING = 0;
    /** Splits are being read: for a read, or for a write that needs old content. */
    static final int GATHERING = 1;
    /** A write that has its stripe word, and waits for enough connections. */
    static final int STARVED = 2;
    /** Splits are being written to their slabs. */
    static final int SENDING = 3;
    /** It has ended, and is still in the list of held operations. */
    static final int ENDED = 5;
    /** A strict write that waits for new slabs; it has released its page's word and its slot. */
    static final int STRICT = 4;

    final int index;
    int state;
    boolean write;
    /** The place of its request, or -1 once the request no longer waits for it. */
    int request;

    long page;
    int range;
    /** The offset of the page's split in each slab. */
    long slabOffset;
    /** The column: which bytes of each split, and how many. */
    int columnFrom;

    int columnBytes;
    /** The offset of its bytes in the page, and their number. */
    int pageFrom;

    int bytes;
    /** The offset of its bytes in the request's memory. */
    long memoryAt;
    /** Data splits that its bytes are in. */
    int touched;
    /** Whether its bytes are all of the data of its column. */
    boolean whole;

    /** Splits of which all must be there so that nothing is decoded. */
    int want;

    @Nullable
    PageBuffer slot;

    long word;
    /** Whether this read keeps writers out, since too many came in between. */
    boolean underWord;

    int tries;
    int asked;
    int have;
    /** How many are needed; in the corruption modes more than k. */
    int target;

    boolean hedged;
    boolean disagreed;
    long started;
    long hedgeAt;

    /**
     * Of a write, as sets of splits: those that it sends ({@code targets}), those that are there, those that failed and
     * are retried, and those that are skipped as their slabs are void.
     */
    int targets;

    int done;
    int failed;
    int skipped;
    boolean called;
    /**
     * The splits that its stripe word says are owed. Once this is 0 after the callback, the operation no longer owns
     * the word.
     */
    int owed;
    /** The time, by the session's clock, at which a write makes the slabs of missing splits void. */
    long deadline;

    /** Whether it has begun and not ended. */
    boolean active;

    boolean listed;

    @Nullable
    PageOp next;

    PageOp(int index) {
        this.index = index;
    }

    void begin() {
        state = WAITING;
        active = true;
        word = 0;
        underWord = false;
        tries = 0;
        asked = 0;
        have = 0;
        target = 0;
        hedged = false;
        disagreed = false;
        targets = 0;
        done = 0;
        failed = 0;
        skipped = 0;
        called = false;
        owed = 0;
        listed = false;
        next = null;
    }
}
