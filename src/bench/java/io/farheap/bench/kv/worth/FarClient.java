package io.farheap.bench.kv.worth;

import io.farheap.kv.policy.FrequencyCounterCache;
import io.farheap.kv.policy.Metadata;
import io.farheap.kv.policy.Replacement;
import io.farheap.kv.policy.Replacements;
import io.farheap.remote.VerbCounts;
import java.util.SplittableRandom;

/**
 * A client of a {@link FarTable}: one request at a time, a get, and an insertion where it misses. A get is a READ of
 * the key's bucket and one of the block that a slot names, with what the design adds. A block has its slot's word in
 * front and at its end, so what was used again meanwhile is noticed. Two clients that insert a key at a time leave it
 * there twice, which is right, as values never change. One thread.
 */
public final class FarClient implements AutoCloseable {

    private static final int IDLE = 0;
    private static final int BUCKET = 1;
    private static final int BLOCK = 2;
    private static final int LIST = 3;
    private static final int HISTORY = 4;
    private static final int LEARN = 5;
    private static final int ROOM = 6;
    private static final int INSERT = 7;

    private static final int NONE = -1;
    /** One that was evicted, and one that made way in its bucket. */
    private static final int MOST_FREE = 4;

    private final FarTable table;
    private final Shape shape;
    private final Design design;
    private final Wire wire;
    private final LruLists lists;
    private final HistoryApart history;
    private final Evictor evictor;
    private final Learning learning;
    private final Replacement replacement;
    private final FrequencyCounterCache counters;
    private final Metadata metadata = new Metadata();
    private final SplittableRandom random;
    /** Words of blocks that this client may use; it changes their incarnation. */
    private final long[] free = new long[MOST_FREE];

    private int freeCount;

    private int step = IDLE;
    private long key;
    private long hash;
    private long bucketAt;
    private int slot;
    private long word;
    private long block;
    private long absent;

    FarClient(FarTable table, Wire wire, long number) {
        this.table = table;
        this.wire = wire;
        shape = table.shape();
        design = table.design();
        random = new SplittableRandom(number);
        replacement = Replacements.named(Replacements.PAPER, shape.blocks(), number);
        counters = new FrequencyCounterCache(
                design.counterBytes(),
                design.has(Design.Part.COUNTERS) ? FrequencyCounterCache.THRESHOLD : 0,
                Long.MAX_VALUE,
                (hashOfKey, at, accesses) -> wire.hintAdd(at, accesses));
        lists = new LruLists(wire, shape, design.backOffNanos(), number + 1);
        history = new HistoryApart(wire, shape);
        learning = new Learning(wire, replacement);
        evictor = new Evictor(wire, shape, design, replacement, learning, history, number);
    }

    /** Begins a request; the last one has ended. */
    public void begin(long keyToGet) {
        key = keyToGet;
        hash = Words.hash(key);
        bucketAt = shape.bucketOf(hash);
        readBucket();
        run();
    }

    /** Goes on with the request; whether it has ended. Does not wait. */
    public boolean ended() {
        wire.poll();
        run();
        return step == IDLE;
    }

    /** How many requests have not found their key. */
    public long absent() {
        return absent;
    }

    public VerbCounts posted() {
        return wire.posted();
    }

    private void run() {
        boolean more = true;
        while (more && step != IDLE && wire.pending() == 0) {
            more = advance();
        }
    }

    /** @return whether something was done */
    private boolean advance() {
        switch (step) {
            case BUCKET -> readBlockOf(0);
            case BLOCK -> check();
            case LIST -> {
                int listed = lists.advance();
                step = listed == LruLists.DONE ? IDLE : LIST;
                return listed != LruLists.WAIT;
            }
            case HISTORY -> {
                int entry = history.find(hash);
                learn(entry != NONE
                        && replacement.missed(evictor.newest(), history.number(entry), history.experts(entry)));
            }
            case LEARN -> {
                if (learning.advance()) {
                    makeRoom();
                }
            }
            case ROOM -> {
                if (evictor.advance()) {
                    free[freeCount++] = evictor.evicted();
                    makeRoom();
                }
            }
            default -> inserted();
        }
        return true;
    }

    private void readBucket() {
        step = BUCKET;
        wire.read(bucketAt, Page.BUCKET, Shape.BUCKET_BYTES);
    }

    private static int slotAt(int number) {
        return Page.BUCKET + number * Shape.SLOT_BYTES;
    }

    private void readBlockOf(int from) {
        for (slot = from; slot < Shape.SLOTS; slot++) {
            word = wire.get(slotAt(slot));
            if (Words.isLive(word) && Words.mayBe(word, hash)) {
                step = BLOCK;
                wire.read(shape.blockOf(word), Page.BLOCK, Shape.BLOCK_BYTES);
                return;
            }
        }
        missed();
    }

    private void check() {
        if (wire.get(Page.BLOCK) != word || wire.get(Page.BLOCK + Shape.END) != word) {
            readBucket();
        } else if (wire.get(Page.BLOCK + Shape.KEY) != key) {
            readBlockOf(slot + 1);
        } else {
            hit();
        }
    }

    private void hit() {
        step = IDLE;
        switch (design.kind()) {
            case TABLE -> {}
            case LISTS -> list(false);
            case SAMPLED -> {
                long now = System.nanoTime();
                int at = design.has(Design.Part.METADATA_IN_TABLE) ? slotAt(slot) : Page.BLOCK;
                long far = design.has(Design.Part.METADATA_IN_TABLE) ? farSlot() : shape.blockOf(word);
                int writes = replacement.accessed(Evictor.fill(wire, metadata, at, now));
                if ((writes & Replacement.WRITE_TIME) != 0) {
                    wire.hintWrite(far + Shape.ACCESSED, now);
                }
                if ((writes & Replacement.COUNT) != 0) {
                    counters.add(hash, far + Shape.FREQUENCY, now);
                }
            }
        }
    }

    private long farSlot() {
        return bucketAt + (long) slot * Shape.SLOT_BYTES;
    }

    private void list(boolean isNew) {
        step = LIST;
        lists.begin(word, hash, isNew);
    }

    private void missed() {
        absent++;
        if (design.kind() != Design.Kind.SAMPLED) {
            makeRoom();
        } else if (design.has(Design.Part.HISTORY_IN_TABLE)) {
            int entry = findHistory();
            learn(entry != NONE
                    && replacement.missed(
                            evictor.newest(),
                            Words.number(wire.get(slotAt(entry))),
                            wire.get(slotAt(entry) + Shape.INSERTED)));
        } else {
            step = HISTORY;
            history.look(hash);
        }
    }

    private int findHistory() {
        for (int entry = 0; entry < Shape.SLOTS; entry++) {
            long found = wire.get(slotAt(entry));
            if (Words.isHistory(found) && Words.mayBe(found, hash) && wire.get(slotAt(entry) + Shape.HASH) == hash) {
                return entry;
            }
        }
        return NONE;
    }

    private void learn(boolean regret) {
        if (design.has(Design.Part.LAZY_WEIGHTS) ? replacement.due() : regret) {
            step = LEARN;
            learning.begin();
        } else {
            makeRoom();
        }
    }

    private void makeRoom() {
        if (freeCount == 0) {
            long fresh = table.fresh();
            if (fresh != FarTable.NONE) {
                free[freeCount++] = Words.live(fresh, 0, 0);
            } else if (design.kind() == Design.Kind.SAMPLED) {
                step = ROOM;
                evictor.begin();
                return;
            } else {
                throw new IllegalStateException("a " + design.kind() + " of " + shape.blocks() + " objects is full");
            }
        }
        insert();
    }

    private void insert() {
        step = INSERT;
        slot = place();
        word = wire.get(slotAt(slot));
        block = Words.again(free[freeCount - 1], hash);
        long now = System.nanoTime();
        metadata.now(now).frequency(0);
        replacement.inserted(metadata, false);
        int at = Page.NEW_BLOCK;
        wire.set(at, block);
        wire.set(at + Shape.HASH, hash);
        wire.set(at + Shape.FREQUENCY, metadata.frequency());
        wire.set(at + Shape.INSERTED, metadata.insertTime());
        wire.set(at + Shape.ACCESSED, metadata.lastAccess());
        wire.set(at + Shape.KEY, key);
        wire.set(at + Shape.END, block);
        wire.beginList();
        wire.write(shape.blockOf(block), at, Shape.BLOCK_BYTES);
        wire.swap(farSlot(), word, block, Page.OLD);
        wire.postList();
    }

    /** The slot of the key's history entry, an empty one, that of the oldest entry, or any object's. */
    private int place() {
        int entry = findHistory();
        if (entry != NONE) {
            return entry;
        }
        int oldest = NONE;
        for (int candidate = 0; candidate < Shape.SLOTS; candidate++) {
            long found = wire.get(slotAt(candidate));
            if (found == 0) {
                return candidate;
            }
            if (Words.isHistory(found)
                    && (oldest == NONE || Words.number(found) < Words.number(wire.get(slotAt(oldest))))) {
                oldest = candidate;
            }
        }
        return oldest == NONE ? random.nextInt(Shape.SLOTS) : oldest;
    }

    private void inserted() {
        if (wire.get(Page.OLD) != word) {
            // Another was faster, and has perhaps inserted the key: the block is free still.
            readBucket();
            return;
        }
        freeCount--;
        if (Words.isLive(word)) {
            free[freeCount++] = word;
        }
        if (design.kind() == Design.Kind.SAMPLED && design.has(Design.Part.METADATA_IN_TABLE)) {
            wire.hintWrite(farSlot() + Shape.HASH, Page.NEW_BLOCK + Shape.HASH, Shape.METADATA_BYTES);
        } else if (design.kind() == Design.Kind.SAMPLED && design.has(Design.Part.HISTORY_IN_TABLE)) {
            wire.hintWrite(farSlot() + Shape.HASH, hash);
        }
        word = block;
        step = IDLE;
        if (design.kind() == Design.Kind.LISTS) {
            list(true);
        }
    }

    @Override
    public void close() {
        wire.close();
    }
}
