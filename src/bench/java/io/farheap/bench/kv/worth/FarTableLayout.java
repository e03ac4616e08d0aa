package io.farheap.bench.kv.worth;

import io.farheap.kv.format.SlotWord;

/**
 * Where a map's parts lie in its region.
 *
 * <pre>
 * page     128 u64 the next history number; 192 u64 weight of the first expert, a double; 256 zero
 * table    buckets of 16 slots of 40 bytes: word, hash, frequency, insert time (history: experts), last access
 * blocks   of units of 64 bytes: the slot's word; hash, frequency, insert time, last access; key; value; the word
 * lists    64 bytes each: lock; first and last block plus 1
 * links    16 bytes a block: the block before and the one behind, plus 1; 0 if there is none
 * queue    8 bytes a history entry: where its entry in the index is
 * index    buckets of 16 entries of 24 bytes: the number plus 1, hash, experts
 * </pre>
 *
 * @param buckets of the table
 * @param blocks objects at most, which is also the history's length
 * @param shards LRU lists
 * @param valueBytes of each object, a multiple of 8
 */
record FarTableLayout(int buckets, int blocks, int shards, int valueBytes) {

    static final int SLOTS = 16;
    static final int SLOT_BYTES = 40;
    static final int BUCKET_BYTES = SLOTS * SLOT_BYTES;
    /** The same in slots and in blocks: follows the word. */
    static final int HASH = 8;

    static final int FREQUENCY = 16;
    static final int INSERTED = 24;
    static final int ACCESSED = 32;
    static final int METADATA_BYTES = 32;

    /** Of the longest block. */
    static final int UNITS = 5;

    private static final int UNIT_BYTES = 64;

    static final int MOST_BLOCK_BYTES = UNIT_BYTES * UNITS;
    static final int KEY = 40;

    static final int LIST_BYTES = 64;
    static final int FIRST = 8;
    static final int LAST = 16;
    static final int LINKS_BYTES = 16;
    static final int BEHIND = 8;

    static final int INDEX_ENTRY_BYTES = 24;
    static final int INDEX_BUCKET_BYTES = SLOTS * INDEX_ENTRY_BYTES;

    static final long COUNTER = 128;
    static final long WEIGHT = 192;

    private static final int TABLE_AT = 4096;
    private static final int SLOTS_AN_OBJECT = 2;

    /** @param tableObjects objects for which the table is made */
    static FarTableLayout of(long tableObjects, long objects, int shards, int valueBytes) {
        FarTableLayout shape = new FarTableLayout(
                Math.toIntExact(Math.ceilDiv(SLOTS_AN_OBJECT * tableObjects, SLOTS)),
                Math.toIntExact(objects),
                shards,
                valueBytes);
        if (shape.blockBytes() > MOST_BLOCK_BYTES) {
            throw new IllegalArgumentException("values of " + valueBytes + " bytes in blocks of " + shape.blockBytes()
                    + "; a block has at most " + MOST_BLOCK_BYTES);
        }
        return shape;
    }

    /** Returns the offset in a block of the second copy of the word, after the value. */
    int end() {
        return KEY + Long.BYTES + valueBytes;
    }

    int blockBytes() {
        return Math.ceilDiv(end() + Long.BYTES, UNIT_BYTES) * UNIT_BYTES;
    }

    long bucketAt(int bucket) {
        return TABLE_AT + (long) bucket * BUCKET_BYTES;
    }

    /** Returns the offset of the bucket of a key. */
    long bucketOf(long hash) {
        return bucketAt((int) ((hash & 0xFFFFFFFFL) * buckets >>> 32));
    }

    long blockAt(long block) {
        return bucketAt(buckets) + block * blockBytes();
    }

    /** Returns the offset of the block that a slot's word names. */
    long blockOf(long word) {
        return blockAt(SlotWord.place(word));
    }

    long listAt(int list) {
        return blockAt(blocks) + (long) list * LIST_BYTES;
    }

    /** Returns the number of the list of a key. */
    int listOf(long hash) {
        return (int) ((hash >>> 32 & 0xFFFFFF) * shards >>> 24);
    }

    long linksAt(long block) {
        return listAt(shards) + block * LINKS_BYTES;
    }

    /** Returns the offset in the queue of a history entry's number. */
    long queuedAt(long number) {
        return linksAt(blocks) + number % blocks * Long.BYTES;
    }

    private int indexBuckets() {
        return Math.ceilDiv(SLOTS_AN_OBJECT * blocks, SLOTS);
    }

    private long indexAt() {
        return linksAt(blocks) + (long) blocks * Long.BYTES;
    }

    /** Returns the offset of a key's bucket in the history's index. */
    long indexOf(long hash) {
        return indexAt() + ((hash & 0xFFFFFFFFL) * indexBuckets() >>> 32) * INDEX_BUCKET_BYTES;
    }

    long bytes() {
        return indexAt() + (long) indexBuckets() * INDEX_BUCKET_BYTES;
    }
}
