package io.farheap.bench.kv.worth;

/**
 * A history outside the table: a FIFO queue of entries, and an index that finds them by hash, as caches on one machine
 * have it (Ditto, section 4.3.1). An evicted object takes the place of the oldest entry in the queue, which is removed
 * from the index. It uses no locks: if two clients want the same entry one of them gets it, and the history of the
 * other has a gap. One thread.
 */
final class SeparateHistory {

    private final RegionClient wire;
    private final FarTableLayout shape;
    private long number;
    private long hash;
    private int entry;

    SeparateHistory(RegionClient wire, FarTableLayout shape) {
        this.wire = wire;
        this.shape = shape;
    }

    /** Begins to look for a key. */
    void look(long hashOfKey) {
        wire.read(shape.indexOf(hashOfKey), ClientPageLayout.INDEX, FarTableLayout.INDEX_BUCKET_BYTES);
    }

    /** Returns the place of a key's entry in the bucket that was read, or -1. */
    int find(long hashOfKey) {
        for (int at = ClientPageLayout.INDEX;
                at < ClientPageLayout.INDEX + FarTableLayout.INDEX_BUCKET_BYTES;
                at += FarTableLayout.INDEX_ENTRY_BYTES) {
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

    /** Begins to enter an object under a number that was taken, in parallel to the CAS that evicts it. */
    void begin(long taken, long hashOfVictim) {
        number = taken;
        hash = hashOfVictim;
        wire.read(shape.queuedAt(taken), ClientPageLayout.QUEUED, Long.BYTES);
        look(hashOfVictim);
    }

    /** The object was evicted: takes an entry of the index, and removes the oldest one. */
    void enter() {
        entry = ClientPageLayout.INDEX;
        for (int at = ClientPageLayout.INDEX;
                at < ClientPageLayout.INDEX + FarTableLayout.INDEX_BUCKET_BYTES;
                at += FarTableLayout.INDEX_ENTRY_BYTES) {
            // An empty entry has the least value.
            if (wire.get(at) < wire.get(entry)) {
                entry = at;
            }
        }
        wire.beginList();
        wire.swap(entryAt(), wire.get(entry), number + 1, ClientPageLayout.OLD);
        if (wire.get(ClientPageLayout.QUEUED) != 0) {
            wire.swap(wire.get(ClientPageLayout.QUEUED), number - shape.blocks() + 1, 0, ClientPageLayout.OTHER_OLD);
        }
        wire.postList();
    }

    private long entryAt() {
        return shape.indexOf(hash) + entry - ClientPageLayout.INDEX;
    }

    /** The last step: fills the entry of the index and the place in the queue, if this client got the entry. */
    void finish(long experts) {
        if (wire.get(ClientPageLayout.OLD) == wire.get(entry)) {
            wire.set(ClientPageLayout.WORDS, hash);
            wire.set(ClientPageLayout.WORDS + Long.BYTES, experts);
            wire.hintWrite(entryAt() + Long.BYTES, ClientPageLayout.WORDS, 2 * Long.BYTES);
            wire.hintWrite(shape.queuedAt(number), entryAt());
        }
    }
}
