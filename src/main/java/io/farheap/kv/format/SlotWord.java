package io.farheap.kv.format;

/**
 * A slot's atomic word, which only a compare-and-swap changes.
 *
 * <pre>
 * bits  0..7    size: 0 empty, or claimed where the rest is not 0; 1 to 254 a block's length in units of 64 bytes; 255 a history entry.
 *               No block has an odd length above 16: that is one less, or with 17 254, and the block is the index of an object with
 *               {@linkplain ValuePieces pieces}
 *       8..15   fingerprint of the key's hash
 *      16..49   the block's place in the space, in units of 64 bytes  } a history entry has its
 *      50..63   the block's incarnation                               } 48-bit number here
 * </pre>
 *
 * A block that is freed and used again has another incarnation, so a word does not come back before 2^14 uses of its
 * block, and a compare-and-swap that was prepared for the former use fails.
 */
public final class SlotWord {

    public static final long EMPTY = 0;

    public static final int MOST_UNITS = 254;
    static final int HISTORY = 255;
    /** Up to here lengths are odd and even. */
    private static final int MOST_ODD = 16;

    private static final int LARGEST_INDEX = 17;

    /** Of a block that was never used. */
    public static final int FIRST_INCARNATION = 1;

    public static final int INCARNATIONS = 1 << 14;
    public static final long MOST_PLACES = 1L << 34;
    static final long HISTORY_MASK = (1L << 48) - 1;

    private static final int FINGERPRINT_SHIFT = 8;
    private static final int PLACE_SHIFT = 16;
    private static final int INCARNATION_SHIFT = 50;

    private SlotWord() {}

    /** Of a live object. */
    public static long live(long place, int incarnation, int fingerprint, int units) {
        return (long) incarnation << INCARNATION_SHIFT
                | place << PLACE_SHIFT
                | (long) fingerprint << FINGERPRINT_SHIFT
                | units;
    }

    /** Of an object that was evicted; the fingerprint is its own. */
    public static long history(long number, int fingerprint) {
        return (number & HISTORY_MASK) << PLACE_SHIFT | (long) fingerprint << FINGERPRINT_SHIFT | HISTORY;
    }

    /** Of a slot that an add has for the block of this word, until the key has turned out to be absent. */
    public static long claim(long live) {
        return live & ~0xFFL;
    }

    public static boolean isClaim(long word) {
        return word != EMPTY && size(word) == 0;
    }

    public static boolean isLive(long word) {
        int size = size(word);
        return size != 0 && size != HISTORY;
    }

    public static boolean isHistory(long word) {
        return size(word) == HISTORY;
    }

    /** Whether it is live, and its block names others, which have the value. */
    public static boolean isIndex(long word) {
        int size = size(word);
        return size > MOST_ODD && (size & 1) != 0 && size != HISTORY;
    }

    /** The same as an index's, where a block has more than 16 units. */
    public static long index(long live) {
        return units(live) == MOST_UNITS ? live & ~0xFFL | LARGEST_INDEX : live | 1;
    }

    /** Of an object of a fingerprint that lies in a block; the same is no index. */
    public static long naming(long block, int fingerprint) {
        return live(place(block), incarnation(block), fingerprint, units(block));
    }

    /** The block of a live word: without a fingerprint, and no index. */
    public static long block(long word) {
        return live(place(word), incarnation(word), 0, units(word));
    }

    /** The length of the block in units of 64 bytes, if it is live. */
    public static int units(long word) {
        int size = size(word);
        if (size == LARGEST_INDEX) {
            return MOST_UNITS;
        }
        return size > MOST_ODD ? size & ~1 : size;
    }

    private static int size(long word) {
        return (int) word & 0xFF;
    }

    public static int fingerprint(long word) {
        return (int) (word >>> FINGERPRINT_SHIFT) & 0xFF;
    }

    public static long place(long word) {
        return word >>> PLACE_SHIFT & MOST_PLACES - 1;
    }

    public static int incarnation(long word) {
        return (int) (word >>> INCARNATION_SHIFT);
    }

    /** A history entry's number. */
    public static long historyNumber(long word) {
        return word >>> PLACE_SHIFT;
    }
}
