package io.farheap.kv.eviction;

import io.farheap.kv.blocks.BlockAllocator;
import io.farheap.kv.blocks.Mailbox;
import io.farheap.kv.blocks.Reclaimer;
import io.farheap.kv.format.Bucket;
import io.farheap.kv.format.MapCalls;
import io.farheap.kv.format.SizeClasses;
import io.farheap.kv.space.RequestColumns;
import java.util.Arrays;

/**
 * A session's requests that {@link SampledEviction} lets wait: for an answer of the servers' services, or for the
 * pieces of an object that was evicted. A wait counts as one pending operation of its request. One thread.
 */
public final class EvictionWaits {

    private final RequestColumns operations;
    private final Mailbox mailbox;
    private final BlockAllocator allocator;
    private final Reclaimer reclaimer;
    /** The class of block that each request looks for. */
    private final int[] sizeClass;
    /** Requests that wait for an answer of the services. */
    private final boolean[] waits;
    /** Requests that wait for the pieces of an object that was evicted. */
    private final boolean[] waitsForPieces;

    private final boolean[] woken;
    /** The largest class of block that the services gave each request last. */
    private final int[] given;
    /** Requests that have learned that no memory will change its class soon. */
    private final boolean[] stuck;

    private int waiting;
    private int waitingForPieces;

    EvictionWaits(
            RequestColumns operations,
            Mailbox mailbox,
            BlockAllocator allocator,
            Reclaimer reclaimer,
            int[] sizeClass) {
        this.operations = operations;
        this.mailbox = mailbox;
        this.allocator = allocator;
        this.reclaimer = reclaimer;
        this.sizeClass = sizeClass;
        waits = new boolean[operations.count];
        waitsForPieces = new boolean[operations.count];
        woken = new boolean[operations.count];
        given = new int[operations.count];
        stuck = new boolean[operations.count];
    }

    /** A request begins to look for a block: the services have given it nothing yet. */
    void begin(int place) {
        given[place] = 0;
        stuck[place] = false;
    }

    void forAnswer(int place) {
        operations.pending[place]++;
        waits[place] = true;
        waiting++;
    }

    void forPieces(int place) {
        operations.pending[place]++;
        waitsForPieces[place] = true;
        waitingForPieces++;
    }

    /** The largest class of block that the services gave to a request for its class; 0 if none. */
    int given(int place) {
        return given[place];
    }

    /**
     * Whether a request has learned that no memory will change its class soon, so that evicting other sizes is in vain.
     */
    boolean stuck(int place) {
        return stuck[place];
    }

    /** Whether any request waits for the services. */
    public boolean isAsking() {
        return waiting > 0;
    }

    /** Wakes the requests whose wait has ended, and returns whether there are any; then call {@link #nextWoken}. */
    public boolean wakes() {
        boolean any = wakesForPieces();
        return wakesForAnswer() || any;
    }

    private boolean wakesForPieces() {
        if (waitingForPieces == 0 || !reclaimer.isIdle()) {
            return false;
        }
        for (int place = 0; place < woken.length; place++) {
            woken[place] |= waitsForPieces[place];
        }
        Arrays.fill(waitsForPieces, false);
        waitingForPieces = 0;
        return true;
    }

    /** The services have answered, or the time to wait for them has ended. */
    private boolean wakesForAnswer() {
        if (waiting == 0 || !mailbox.answered()) {
            return false;
        }
        int askedClass = mailbox.givenClass();
        boolean isStuck = mailbox.given(MapCalls.STUCK);
        int largestGiven = allocator.takeGiven(waitedFor(askedClass) ? askedClass : SizeClasses.COUNT);
        for (int place = 0; place < waits.length; place++) {
            woken[place] |= waits[place];
            if (waits[place]) {
                given[place] = sizeClass[place] == askedClass ? largestGiven : 0;
                stuck[place] |= isStuck;
                operations.knows(place, mailbox.era());
            }
        }
        Arrays.fill(waits, false);
        waiting = 0;
        return true;
    }

    /**
     * Whether no request waits for another class: it would have to wait behind blocks that are asked for ahead of this
     * class.
     */
    private boolean waitedFor(int oneClass) {
        for (int place = 0; place < waits.length; place++) {
            if (waits[place] && sizeClass[place] != oneClass) {
                return false;
            }
        }
        return true;
    }

    /**
     * A request that continues; its wait was one of its pending operations.
     *
     * @return its place, or {@link Bucket#NONE}
     */
    public int nextWoken() {
        for (int place = 0; place < woken.length; place++) {
            if (woken[place]) {
                woken[place] = false;
                return place;
            }
        }
        return Bucket.NONE;
    }
}
