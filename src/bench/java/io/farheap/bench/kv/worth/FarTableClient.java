package io.farheap.bench.kv.worth;

import io.farheap.kv.policy.ObjectMetadata;
import io.farheap.kv.replacement.FrequencyCounterCache;
import io.farheap.kv.replacement.Replacement;
import io.farheap.kv.replacement.Replacements;
import io.farheap.remote.contract.VerbCounts;
import java.util.SplittableRandom;

/**
 * A client of a {@link FarTable}: one request at a time, a get, and an insertion if it misses. A get is a READ of the
 * key's bucket and one of the block that a slot names, with the operations that the design adds. A block has its slot's
 * word at its beginning and at its end, so that a client notices if the block was used again meanwhile. If two clients
 * insert a key at a time the table has it twice, which is correct, as values never change. One thread.
 */
public final class FarTableClient implements AutoCloseable {

    private static final int IDLE = 0;
    private static final int BUCKET = 1;
    private static final int BLOCK = 2;
    private static final int LIST = 3;
    private static final int HISTORY = 4;
    private static final int LEARN = 5;
    private static final int ROOM = 6;
    private static final int INSERT = 7;

    private static final int NONE = -1;
    /** A block that was evicted, and one that was removed to make room in its bucket. */
    private static final int MOST_FREE = 4;

    private final FarTable table;
    private final FarTableLayout shape;
    private final MapDesign design;
    private final RegionClient wire;
    private final LruLists lists;
    private final SeparateHistory history;
    private final Evictor evictor;
    private final RegretLearner learning;
    private final Replacement replacement;
    private final FrequencyCounterCache counters;
    private final ObjectMetadata metadata = new ObjectMetadata();
    private final SplittableRandom random;
    /** Words of free blocks of this client, which changes their incarnation when it uses them. */
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

    FarTableClient(FarTable table, RegionClient wire, long number) {
        this.table = table;
        this.wire = wire;
        shape = table.shape();
        design = table.design();
        random = new SplittableRandom(number);
        replacement = Replacements.named(Replacements.PAPER, shape.blocks(), number);
        counters = new FrequencyCounterCache(
                design.counterBytes(),
                design.has(MapDesign.Part.COUNTERS) ? FrequencyCounterCache.THRESHOLD : 0,
                Long.MAX_VALUE,
                (hashOfKey, at, accesses) -> wire.hintAdd(at, accesses));
        lists = new LruLists(wire, shape, design.backOffNanos(), number + 1);
        history = new SeparateHistory(wire, shape);
        learning = new RegretLearner(wire, replacement);
        evictor = new Evictor(wire, shape, design, replacement, learning, history, number);
    }

    /** Begins a request. The last request must have ended. */
    public void begin(long keyToGet) {
        key = keyToGet;
        hash = FarTableWord.hash(key);
        bucketAt = shape.bucketOf(hash);
        readBucket();
        run();
    }

    /** Continues the request, and returns whether it has ended. Does not wait. */
    public boolean ended() {
        wire.poll();
        run();
        return step == IDLE;
    }

    /** Returns how many requests have not found their key. */
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

    /** @return whether a step was made */
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
        wire.read(bucketAt, ClientPageLayout.BUCKET, FarTableLayout.BUCKET_BYTES);
    }

    private static int slotAt(int number) {
        return ClientPageLayout.BUCKET + number * FarTableLayout.SLOT_BYTES;
    }

    private void readBlockOf(int from) {
        for (slot = from; slot < FarTableLayout.SLOTS; slot++) {
            word = wire.get(slotAt(slot));
            if (FarTableWord.isLive(word) && FarTableWord.mayBe(word, hash)) {
                step = BLOCK;
                wire.read(shape.blockOf(word), ClientPageLayout.BLOCK, shape.blockBytes());
                return;
            }
        }
        missed();
    }

    private void check() {
        if (wire.get(ClientPageLayout.BLOCK) != word || wire.get(ClientPageLayout.BLOCK + shape.end()) != word) {
            readBucket();
        } else if (wire.get(ClientPageLayout.BLOCK + FarTableLayout.KEY) != key) {
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
                int at = design.has(MapDesign.Part.METADATA_IN_TABLE) ? slotAt(slot) : ClientPageLayout.BLOCK;
                long far = design.has(MapDesign.Part.METADATA_IN_TABLE) ? farSlot() : shape.blockOf(word);
                int writes = replacement.accessed(Evictor.fill(wire, metadata, at, now));
                if ((writes & Replacement.WRITE_TIME) != 0) {
                    wire.hintWrite(far + FarTableLayout.ACCESSED, now);
                }
                if ((writes & Replacement.COUNT) != 0) {
                    counters.add(hash, far + FarTableLayout.FREQUENCY, now);
                }
            }
        }
    }

    private long farSlot() {
        return bucketAt + (long) slot * FarTableLayout.SLOT_BYTES;
    }

    private void list(boolean isNew) {
        step = LIST;
        lists.begin(word, hash, isNew);
    }

    private void missed() {
        absent++;
        if (design.kind() != MapDesign.Kind.SAMPLED) {
            makeRoom();
        } else if (design.has(MapDesign.Part.HISTORY_IN_TABLE)) {
            int entry = findHistory();
            learn(entry != NONE
                    && replacement.missed(
                            evictor.newest(),
                            FarTableWord.number(wire.get(slotAt(entry))),
                            wire.get(slotAt(entry) + FarTableLayout.INSERTED)));
        } else {
            step = HISTORY;
            history.look(hash);
        }
    }

    private int findHistory() {
        for (int entry = 0; entry < FarTableLayout.SLOTS; entry++) {
            long found = wire.get(slotAt(entry));
            if (FarTableWord.isHistory(found)
                    && FarTableWord.mayBe(found, hash)
                    && wire.get(slotAt(entry) + FarTableLayout.HASH) == hash) {
                return entry;
            }
        }
        return NONE;
    }

    private void learn(boolean regret) {
        if (design.has(MapDesign.Part.LAZY_WEIGHTS) ? replacement.due() : regret) {
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
                free[freeCount++] = FarTableWord.live(fresh, 0, 0);
            } else if (design.kind() == MapDesign.Kind.SAMPLED) {
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
        block = FarTableWord.again(free[freeCount - 1], hash);
        long now = System.nanoTime();
        metadata.now(now).frequency(0);
        replacement.inserted(metadata, false);
        int at = ClientPageLayout.NEW_BLOCK;
        wire.set(at, block);
        wire.set(at + FarTableLayout.HASH, hash);
        wire.set(at + FarTableLayout.FREQUENCY, metadata.frequency());
        wire.set(at + FarTableLayout.INSERTED, metadata.insertTime());
        wire.set(at + FarTableLayout.ACCESSED, metadata.lastAccess());
        wire.set(at + FarTableLayout.KEY, key);
        wire.set(at + shape.end(), block);
        wire.beginList();
        wire.write(shape.blockOf(block), at, shape.blockBytes());
        wire.swap(farSlot(), word, block, ClientPageLayout.OLD);
        wire.postList();
    }

    /** Returns the slot of the key's history entry, or an empty one, or that of the oldest entry, or any object's. */
    private int place() {
        int entry = findHistory();
        if (entry != NONE) {
            return entry;
        }
        int oldest = NONE;
        for (int candidate = 0; candidate < FarTableLayout.SLOTS; candidate++) {
            long found = wire.get(slotAt(candidate));
            if (found == 0) {
                return candidate;
            }
            if (FarTableWord.isHistory(found)
                    && (oldest == NONE || FarTableWord.number(found) < FarTableWord.number(wire.get(slotAt(oldest))))) {
                oldest = candidate;
            }
        }
        return oldest == NONE ? random.nextInt(FarTableLayout.SLOTS) : oldest;
    }

    private void inserted() {
        if (wire.get(ClientPageLayout.OLD) != word) {
            // Another client was faster, and may have inserted the key; the block is still free.
            readBucket();
            return;
        }
        freeCount--;
        if (FarTableWord.isLive(word)) {
            free[freeCount++] = word;
        }
        if (design.kind() == MapDesign.Kind.SAMPLED && design.has(MapDesign.Part.METADATA_IN_TABLE)) {
            wire.hintWrite(
                    farSlot() + FarTableLayout.HASH,
                    ClientPageLayout.NEW_BLOCK + FarTableLayout.HASH,
                    FarTableLayout.METADATA_BYTES);
        } else if (design.kind() == MapDesign.Kind.SAMPLED && design.has(MapDesign.Part.HISTORY_IN_TABLE)) {
            wire.hintWrite(farSlot() + FarTableLayout.HASH, hash);
        }
        word = block;
        step = IDLE;
        if (design.kind() == MapDesign.Kind.LISTS) {
            list(true);
        }
    }

    @Override
    public void close() {
        wire.close();
    }
}
