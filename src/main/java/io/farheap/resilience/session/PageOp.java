package io.farheap.resilience.session;

import org.jspecify.annotations.Nullable;

/** What a request does to one page: a column of some splits that is read, or written. One of a session's table. */
final class PageOp {

    /** Waits for earlier operations of its session, its page's stripe word, a slot, or enough connections. */
    static final int WAITING = 0;
    /** Splits are on their way here. */
    static final int GATHERING = 1;
    /** A write that has its stripe word, and waits for enough connections. */
    static final int STARVED = 2;
    /** Splits are on their way to their slabs. */
    static final int SENDING = 3;
    /** It has ended, and is still in the list of those that wait. */
    static final int ENDED = 5;
    /** A strict write that waits for new slabs; it has neither its page's word nor a slot any more. */
    static final int STRICT = 4;

    final int index;
    int state;
    boolean write;
    /** Of its request, or -1 once that does not wait for it. */
    int request;

    long page;
    int range;
    /** Of the page's split in each slab. */
    long slabOffset;
    /** The column: which bytes of each split, and how many. */
    int columnFrom;

    int columnBytes;
    /** Where in the page its bytes are, and how many. */
    int pageFrom;

    int bytes;
    /** Where in the request's memory. */
    long memoryAt;
    /** Data splits that its bytes are in. */
    int touched;
    /** Whether its bytes are all of the data of its column. */
    boolean whole;

    /** Splits that, all there, need no decoding. */
    int want;

    @Nullable
    PageBuffer slot;

    long word;
    /** A read that keeps writers out, having met too many. */
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

    /** Of a write: all splits that it sends; those there; those that failed and are tried again; those void. */
    int targets;

    int done;
    int failed;
    int skipped;
    boolean called;
    /** What its stripe word says is owed; once it is 0 after the callback, the word is somebody else's. */
    int owed;
    /** By the session's clock. */
    long deadline;

    /** From its beginning to its end. */
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
