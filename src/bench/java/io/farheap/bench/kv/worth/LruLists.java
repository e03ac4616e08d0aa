package io.farheap.bench.kv.worth;

import io.farheap.kv.format.SlotWord;

/**
 * One client's changes of LRU lists in far memory, each under a lock that is a word there (Ditto, section 3.1): a CAS
 * takes the lock, a READ of the list's ends and one of the block's neighbours are posted together, then the WRITEs that
 * move the block to the front and, behind them, the one that frees the lock. Fewer round trips are not possible. One
 * thread.
 */
final class LruLists {

    static final int MORE = 0;
    static final int WAIT = 1;
    static final int DONE = 2;

    private static final int LOCK = 0;
    private static final int LINKS = 1;
    private static final int WRITTEN = 2;
    private static final int BACK_OFF = 3;

    private final RegionClient wire;
    private final FarTableLayout shape;
    private final long backOffNanos;
    private final long owner;
    private int step;
    private long list;
    private long block;
    private boolean isNew;
    private long tryAt;

    /** @param owner a number that is not 0 and that no other client has */
    LruLists(RegionClient wire, FarTableLayout shape, long backOffNanos, long owner) {
        this.wire = wire;
        this.shape = shape;
        this.backOffNanos = backOffNanos;
        this.owner = owner;
    }

    /** Begins to move the block of a slot's word to the front of its list. */
    void begin(long word, long hash, boolean inserted) {
        block = SlotWord.place(word);
        list = shape.listAt(shape.listOf(hash));
        isNew = inserted;
        lock();
    }

    private void lock() {
        step = LOCK;
        wire.swap(list, 0, owner, ClientPageLayout.OLD);
    }

    /** Continues when nothing is pending; {@link #WAIT} during a back-off. */
    int advance() {
        switch (step) {
            case LOCK -> {
                if (wire.get(ClientPageLayout.OLD) == 0) {
                    readLinks();
                } else if (backOffNanos == 0) {
                    lock();
                } else {
                    step = BACK_OFF;
                    tryAt = System.nanoTime() + backOffNanos;
                    return WAIT;
                }
            }
            case BACK_OFF -> {
                if (System.nanoTime() - tryAt < 0) {
                    return WAIT;
                }
                lock();
            }
            case LINKS -> moveToFront();
            default -> {
                return DONE;
            }
        }
        return MORE;
    }

    private void readLinks() {
        step = LINKS;
        wire.beginList();
        wire.read(list, ClientPageLayout.LIST, FarTableLayout.LAST + Long.BYTES);
        if (!isNew) {
            wire.read(shape.linksAt(block), ClientPageLayout.LINKS, FarTableLayout.LINKS_BYTES);
        }
        wire.postList();
    }

    private void moveToFront() {
        step = WRITTEN;
        long self = block + 1;
        long first = wire.get(ClientPageLayout.LIST + FarTableLayout.FIRST);
        wire.beginList();
        if (first != self) {
            long last = wire.get(ClientPageLayout.LIST + FarTableLayout.LAST);
            if (!isNew) {
                long before = wire.get(ClientPageLayout.LINKS);
                long behind = wire.get(ClientPageLayout.LINKS + FarTableLayout.BEHIND);
                write(0, shape.linksAt(before - 1) + FarTableLayout.BEHIND, behind);
                if (behind == 0) {
                    last = before;
                } else {
                    write(1, shape.linksAt(behind - 1), before);
                }
            } else if (first == 0) {
                last = self;
            }
            wire.set(word(2), 0);
            wire.set(word(3), first);
            wire.write(shape.linksAt(block), word(2), FarTableLayout.LINKS_BYTES);
            if (first != 0) {
                write(4, shape.linksAt(first - 1), self);
            }
            wire.set(word(5), self);
            wire.set(word(6), last);
            wire.write(list + FarTableLayout.FIRST, word(5), 2 * Long.BYTES);
        }
        // Operations of one connection take effect in order: no client gets the lock before the list is whole.
        write(7, list, 0);
        wire.postList();
    }

    private static int word(int number) {
        return ClientPageLayout.WORDS + number * Long.BYTES;
    }

    private void write(int number, long offset, long value) {
        wire.set(word(number), value);
        wire.write(offset, word(number), Long.BYTES);
    }
}
