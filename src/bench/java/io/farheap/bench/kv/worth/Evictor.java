package io.farheap.bench.kv.worth;

import io.farheap.kv.policy.ObjectMetadata;
import io.farheap.kv.replacement.HistoryIds;
import io.farheap.kv.replacement.Replacement;
import java.util.SplittableRandom;

/**
 * Evicts an object to make room: reads a bucket at a random place, lets the experts choose among the paper's five
 * objects, and turns the slot into a history entry, or enters the object into a separate history. One thread.
 */
final class Evictor {

    /** Objects in a sample. */
    static final int OBJECTS = 5;

    private static final int SAMPLE = 0;
    private static final int HEADS = 1;
    private static final int VICTIM = 2;
    private static final int HISTORY = 3;
    private static final int DONE = 4;

    private final RegionClient wire;
    private final FarTableLayout shape;
    private final MapDesign design;
    private final Replacement replacement;
    private final RegretLearner learning;
    private final SeparateHistory history;
    private final SplittableRandom random;
    private final ObjectMetadata metadata = new ObjectMetadata();
    private final int[] slots = new int[OBJECTS];
    private int objects;
    private int step;
    private long bucketAt;
    private long number;
    private boolean numbered;
    private long newest;
    private long word;
    private int slot;
    private long experts;

    Evictor(
            RegionClient wire,
            FarTableLayout shape,
            MapDesign design,
            Replacement replacement,
            RegretLearner learning,
            SeparateHistory history,
            long seed) {
        this.wire = wire;
        this.shape = shape;
        this.design = design;
        this.replacement = replacement;
        this.learning = learning;
        this.history = history;
        random = new SplittableRandom(seed);
    }

    /** Returns the number of the next history entry, as far as this client knows. */
    long newest() {
        return newest;
    }

    /** Posts the first step. */
    void begin() {
        step = SAMPLE;
        bucketAt = shape.bucketAt(random.nextInt(shape.buckets()));
        wire.beginList();
        wire.read(bucketAt, ClientPageLayout.SAMPLE, FarTableLayout.BUCKET_BYTES);
        if (!numbered) {
            wire.add(FarTableLayout.COUNTER, 1, ClientPageLayout.NUMBER);
        }
        if (!design.has(MapDesign.Part.LAZY_WEIGHTS)) {
            learning.read();
        }
        wire.postList();
    }

    /** Continues when nothing is pending. Returns whether the eviction is done: then see {@link #evicted}. */
    boolean advance() {
        switch (step) {
            case SAMPLE -> sampled();
            case HEADS -> choose();
            case VICTIM -> {
                if (wire.get(ClientPageLayout.OLD) != word) {
                    // Another client was faster.
                    begin();
                } else {
                    enter();
                }
            }
            default -> {
                history.finish(experts);
                step = DONE;
            }
        }
        return step == DONE;
    }

    /** Returns the word of the slot of which the block is free now. */
    long evicted() {
        return word;
    }

    private void sampled() {
        if (!numbered) {
            number = wire.get(ClientPageLayout.NUMBER);
            numbered = true;
            newest = HistoryIds.plus(number, 1);
        }
        if (!design.has(MapDesign.Part.LAZY_WEIGHTS)) {
            learning.take();
        }
        objects = 0;
        int first = random.nextInt(FarTableLayout.SLOTS);
        for (int i = 0; i < FarTableLayout.SLOTS && objects < OBJECTS; i++) {
            int candidate = (first + i) % FarTableLayout.SLOTS;
            if (FarTableWord.isLive(sampledWord(candidate))) {
                slots[objects++] = candidate;
            }
        }
        if (objects == 0) {
            begin();
        } else if (design.has(MapDesign.Part.METADATA_IN_TABLE)) {
            choose();
        } else {
            readHeads();
        }
    }

    private long sampledWord(int slotOfSample) {
        return wire.get(sampledAt(slotOfSample));
    }

    private static int sampledAt(int slotOfSample) {
        return ClientPageLayout.SAMPLE + slotOfSample * FarTableLayout.SLOT_BYTES;
    }

    private void readHeads() {
        step = HEADS;
        wire.beginList();
        for (int i = 0; i < objects; i++) {
            wire.read(shape.blockOf(sampledWord(slots[i])), headAt(i), ClientPageLayout.HEAD_BYTES);
        }
        wire.postList();
    }

    private static int headAt(int object) {
        return ClientPageLayout.HEADS + object * ClientPageLayout.HEAD_BYTES;
    }

    private void choose() {
        long now = System.nanoTime();
        replacement.begin();
        for (int i = 0; i < objects; i++) {
            int at = design.has(MapDesign.Part.METADATA_IN_TABLE) ? sampledAt(slots[i]) : headAt(i);
            // If the block was used again, its header does not describe the object.
            if (wire.get(at) == sampledWord(slots[i])) {
                replacement.offer(i, fill(wire, metadata, at, now));
            }
        }
        int chosen = replacement.choose();
        if (chosen == Replacement.NONE) {
            begin();
            return;
        }
        step = VICTIM;
        slot = slots[chosen];
        word = sampledWord(slot);
        experts = replacement.experts();
        long slotAt = bucketAt + (long) slot * FarTableLayout.SLOT_BYTES;
        if (design.has(MapDesign.Part.HISTORY_IN_TABLE)) {
            wire.swap(slotAt, word, FarTableWord.history(number, word), ClientPageLayout.OLD);
        } else {
            wire.beginList();
            wire.swap(slotAt, word, 0, ClientPageLayout.OLD);
            history.begin(
                    number,
                    wire.get((design.has(MapDesign.Part.METADATA_IN_TABLE) ? sampledAt(slot) : headAt(chosen))
                            + FarTableLayout.HASH));
            wire.postList();
        }
    }

    private void enter() {
        numbered = false;
        if (design.has(MapDesign.Part.HISTORY_IN_TABLE)) {
            wire.hintWrite(bucketAt + (long) slot * FarTableLayout.SLOT_BYTES + FarTableLayout.INSERTED, experts);
            step = DONE;
        } else {
            step = HISTORY;
            history.enter();
        }
    }

    /** Reads an object's metadata from its slot or its block's header. */
    static ObjectMetadata fill(RegionClient wire, ObjectMetadata metadata, int at, long now) {
        return metadata.frequency(wire.get(at + FarTableLayout.FREQUENCY) & 0xFFFFFFFFL)
                .insertTime(wire.get(at + FarTableLayout.INSERTED))
                .lastAccess(wire.get(at + FarTableLayout.ACCESSED))
                .now(now);
    }
}
