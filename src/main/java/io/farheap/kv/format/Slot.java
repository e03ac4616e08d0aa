package io.farheap.kv.format;

/**
 * A slot of the table: 40 bytes, little-endian, at a multiple of 8. Only the word is atomic; what follows may be of the
 * slot's former object for as long as an insertion takes.
 *
 * <pre>
 *  0  u64  {@link SlotWord}
 *  8  u64  hash of the key
 * 16  u32  frequency: the low half of a word that clients add to; from {@link #MOST_FREQUENCY} on they add no more
 * 20  u32  expiry, in seconds of the map's clock, rounded up; 0 never. A hint: the block has the exact one, and what is
 *          beyond 32 bits is {@link #LAST_EXPIRY}
 * 24  u64  insert time, in ticks of the map's clock; of a history entry the experts that named it
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
    /** Leaves room for what all clients add that have read a lower one. */
    public static final long MOST_FREQUENCY = 1L << 31;

    static final long LAST_EXPIRY = (1L << 32) - 1;
    /** What an insertion writes behind the word. */
    public static final int METADATA_BYTES = BYTES - HASH;

    private Slot() {}

    /** Where a slot begins in its bucket. */
    public static long offset(int slot) {
        return (long) slot * BYTES;
    }
}
