package io.farheap.kv.format;

/**
 * A slot of the table: 40 bytes, little-endian, at a multiple of 8. A key's slot can be any of its bucket, and one READ
 * of the bucket fetches all of them, with the metadata that eviction compares. A compare-and-swap changes the word, and
 * decides alone which object the slot has. The other fields do not change atomically with it: during an insertion they
 * may still be those of the slot's former object.
 *
 * <pre>
 *  0  u64  {@link SlotWord}
 *  8  u64  hash of the key, mixed with the word ({@link SlotWord#besideHash}); of a history entry of no meaning
 * 16  u32  frequency: the low half of a word that clients add to, until they find {@link #MOST_FREQUENCY} there
 * 20  u32  expiry, in seconds of the map's clock, rounded up; 0: never. It is a hint: the block has the exact time,
 *          and a time beyond 32 bits is {@link #LAST_EXPIRY}
 * 24  u64  insert time, in ticks of the map's clock; in a history entry the experts that named the object, a bit each
 *          (bits 0 to 15), and the lowest 48 bits of the key's hash
 * 32  u64  time of the last access, in ticks
 * </pre>
 */
public final class Slot {

    public static final int BYTES = 40;
    static final int WORD = 0;
    public static final int HASH = 8;
    public static final int FREQUENCY = 16;
    public static final int EXPIRY = 20;
    public static final int INSERTED = 24;
    public static final int ACCESSED = 32;
    /** Leaves room below 2^32 for additions by clients that have read a lower count. */
    public static final long MOST_FREQUENCY = 1L << 31;

    static final long LAST_EXPIRY = (1L << 32) - 1;
    /** Bytes after the word, which an insertion writes. */
    public static final int METADATA_BYTES = BYTES - HASH;

    private Slot() {}

    /** The offset of a slot in its bucket. */
    public static long offset(int slot) {
        return (long) slot * BYTES;
    }
}
