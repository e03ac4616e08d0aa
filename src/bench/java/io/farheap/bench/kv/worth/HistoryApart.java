package io.farheap.bench.kv.worth;

/**
 * A history that is no part of the table: a FIFO queue of entries, and an index that finds them by hash, as caches on
 * one machine have it (Ditto, section 4.3.1). What is evicted takes the place of the oldest entry in the queue, which
 * goes out of the index. Without locks: an entry that two clients want at once is one's, and the other's history has a
 * gap. One thread.
 */
final class HistoryApart {

    private final Wire wire;
    private final Shape shape;
    private long number;
    private long hash;
    private int entry;

    HistoryApart(Wire wire, Shape shape) {
        this.wire = wire;
        this.shape = shape;
    }

    /** Begins to look for a key. */
    void look(long hashOfKey) {
        wire.read(shape.indexOf(hashOfKey), Page.INDEX, Shape.INDEX_BUCKET_BYTES);
    }

    /** Where the entry of a key is in the bucket that was read, or -1. */
    int find(long hashOfKey) {
        for (int at = Page.INDEX; at < Page.INDEX + Shape.INDEX_BUCKET_BYTES; at += Shape.INDEX_ENTRY_BYTES) {
            if (wire.get(at) != 0 && wire.get(at + Long.BYTES) == hashOfKey) {
                return at;
            }
        }
        return -1;
    }

    long number(int at) {
        return wire.get(at) - 1;
    }

    long experts(int at) {
        return wire.get(at + 2 * Long.BYTES);
    }

    /** Begins to enter an object under a number that was taken: beside the CAS that evicts it. */
    void begin(long taken, long hashOfVictim) {
        number = taken;
        hash = hashOfVictim;
        wire.read(shape.queuedAt(taken), Page.QUEUED, Long.BYTES);
        look(hashOfVictim);
    }

    /** The object was evicted: takes an entry of the index, and the oldest one out. */
    void enter() {
        entry = Page.INDEX;
        for (int at = Page.INDEX; at < Page.INDEX + Shape.INDEX_BUCKET_BYTES; at += Shape.INDEX_ENTRY_BYTES) {
            // An empty one is the least.
            if (wire.get(at) < wire.get(entry)) {
                entry = at;
            }
        }
        wire.beginList();
        wire.swap(entryAt(), wire.get(entry), number + 1, Page.OLD);
        if (wire.get(Page.QUEUED) != 0) {
            wire.swap(wire.get(Page.QUEUED), number - shape.blocks() + 1, 0, Page.OTHER_OLD);
        }
        wire.postList();
    }

    private long entryAt() {
        return shape.indexOf(hash) + entry - Page.INDEX;
    }

    /** The last step. */
    void finish(long experts) {
        if (wire.get(Page.OLD) == wire.get(entry)) {
            wire.set(Page.WORDS, hash);
            wire.set(Page.WORDS + Long.BYTES, experts);
            wire.hintWrite(entryAt() + Long.BYTES, Page.WORDS, 2 * Long.BYTES);
            wire.hintWrite(shape.queuedAt(number), entryAt());
        }
    }
}
