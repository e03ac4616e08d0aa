package io.farheap.kv.format;

/**
 * A slot's word, which only a compare-and-swap changes, and which names the block of the slot's object.
 *
 * <p>A client changes a slot by a compare-and-swap of the word that it has read. That is safe only if the same word
 * does not come back with another meaning. So the word has the block's incarnation, which grows with each use of the
 * block: a word does not come back before its block was used 2^14 times, and a compare-and-swap that was prepared for a
 * former use fails.
 *
 * <pre>
 * bits  0..6  kind: 0 an empty slot, or a claim if the other bits are not all 0; 1 to 48 a block's {@linkplain
 *             SizeClasses size class} plus 1; 65 to 96 the same plus 48, of a block that is the index of an object with
 *             {@linkplain ValuePieces pieces}; 127 a history entry
 *       7     of a block: whether clients may keep pointers to it ({@link #withPointers}); of a history entry 1
 *       8..15 fingerprint of the key's hash
 *      16..49 the block's place in the space, in units of 64 bytes  } a history entry has its
 *      50..63 the block's incarnation                               } 48-bit number here
 * </pre>
 */
public final class SlotWord {

    public static final long EMPTY = 0;

    public static final int MOST_UNITS = 254;
    static final int HISTORY = 255;

    private static final int BYTE = 0xFF;
    private static final int POINTERS = 0x80;
    private static final int KIND = 0x7F;
    private static final int HISTORY_KIND = HISTORY & KIND;
    /** Added to the kind of a block that is an index. */
    private static final int OF_INDEX = 48;

    private static final int FIRST_INDEX = 65;
    /** By kind: the block's length in units; 0 if a word of this kind names none. */
    private static final short[] UNITS = new short[KIND + 1];

    static {
        for (int sizeClass = 0; sizeClass < SizeClasses.COUNT; sizeClass++) {
            short units = (short) SizeClasses.units(sizeClass);
            UNITS[sizeClass + 1] = units;
            if (sizeClass + 1 + OF_INDEX >= FIRST_INDEX) {
                UNITS[sizeClass + 1 + OF_INDEX] = units;
            }
        }
    }

    /** The incarnation of a block in its first use. */
    public static final int FIRST_INCARNATION = 1;

    /** How many incarnations there are; 0 is none. */
    public static final int INCARNATIONS = 1 << 14;
    /** How many places words can name. */
    public static final long MOST_PLACES = 1L << 34;

    static final long HISTORY_MASK = (1L << 48) - 1;

    private static final int FINGERPRINT_SHIFT = 8;
    private static final int PLACE_SHIFT = 16;
    private static final int INCARNATION_SHIFT = 50;

    private static final long FIRST_FACTOR = 0xFF51AFD7ED558CCDL;
    private static final long SECOND_FACTOR = 0xC4CEB9FE1A85EC53L;
    private static final int MIX_SHIFT = 33;

    private SlotWord() {}

    /**
     * The word of a live object, to whose block no client may keep a pointer.
     *
     * @param units the length of a size class
     */
    public static long live(long place, int incarnation, int fingerprint, int units) {
        return (long) incarnation << INCARNATION_SHIFT
                | place << PLACE_SHIFT
                | (long) fingerprint << FINGERPRINT_SHIFT
                | SizeClasses.of(units) + 1;
    }

    /** The word of a history entry, for an object that was evicted; it keeps the object's fingerprint. */
    public static long history(long number, int fingerprint) {
        return (number & HISTORY_MASK) << PLACE_SHIFT | (long) fingerprint << FINGERPRINT_SHIFT | HISTORY;
    }

    /**
     * The word by which an insertion claims a slot for the block of {@code live}, until it knows that the key is
     * absent.
     */
    public static long claim(long live) {
        return live & ~BYTE;
    }

    /** Whether an insertion claims the slot. */
    public static boolean isClaim(long word) {
        return word != EMPTY && (word & BYTE) == 0;
    }

    /**
     * Whether the slot has an object. So it is with each word that is neither empty nor a claim nor a history entry,
     * also if it is of no kind that there is: then it names no block that can be, and a request that meets it empties
     * the slot.
     */
    public static boolean isLive(long word) {
        int low = (int) word & BYTE;
        return low != 0 && low != HISTORY;
    }

    /** Whether the slot has a history entry. */
    public static boolean isHistory(long word) {
        return (word & BYTE) == HISTORY;
    }

    /** Whether the word is live and its block is an index, which names the pieces of the value. */
    public static boolean isIndex(long word) {
        int kind = kind(word);
        return kind >= FIRST_INDEX && kind != HISTORY_KIND;
    }

    /** The word for a block that is an index. The block must have more than 16 units. */
    public static long index(long live) {
        return live + OF_INDEX;
    }

    /**
     * The live word of the same object from the moment on from which clients may keep pointers to its block: a request
     * that takes it out of its slot must mark the block before.
     */
    public static long withPointers(long live) {
        return live | POINTERS;
    }

    /** Whether the word is live, and clients may keep pointers to its block. */
    public static boolean hasPointers(long word) {
        return (word & POINTERS) != 0 && isLive(word);
    }

    /** Whether two words are the same, or name the same block but for {@link #withPointers}. */
    public static boolean isSame(long word, long other) {
        return word == other || ((word ^ other) & ~POINTERS) == 0 && isLive(word) && isLive(other);
    }

    /** The word of an object with this fingerprint in a block. The object is not an index. */
    public static long naming(long block, int fingerprint) {
        return live(place(block), incarnation(block), fingerprint, units(block));
    }

    /** The word of a live word's block: without a fingerprint, and not marked as an index. */
    public static long block(long word) {
        return live(place(word), incarnation(word), 0, units(word));
    }

    /** The length of a live word's block in units of 64 bytes; 0 if the word is not live. */
    public static int units(long word) {
        return UNITS[kind(word)];
    }

    private static int kind(long word) {
        return (int) word & KIND;
    }

    /** The fingerprint of the key. */
    public static int fingerprint(long word) {
        return (int) (word >>> FINGERPRINT_SHIFT) & 0xFF;
    }

    /** The block's place in the space, in units of 64 bytes. */
    public static long place(long word) {
        return word >>> PLACE_SHIFT & MOST_PLACES - 1;
    }

    /** The block's incarnation. */
    public static int incarnation(long word) {
        return (int) (word >>> INCARNATION_SHIFT);
    }

    /**
     * What a slot with a live word keeps of the hash of the word's key; and back, the hash of what it keeps. The mixing
     * of words is one-to-one, so beside another word it is not this hash; {@link #withPointers} changes nothing here.
     * The same word may come back once its segment has begun again.
     */
    public static long besideHash(long word, long hash) {
        long block = word & ~POINTERS;
        long mixed = (block ^ block >>> MIX_SHIFT) * FIRST_FACTOR;
        mixed = (mixed ^ mixed >>> MIX_SHIFT) * SECOND_FACTOR;
        return hash ^ mixed ^ mixed >>> MIX_SHIFT;
    }

    /** A history entry's number. */
    public static long historyNumber(long word) {
        return word >>> PLACE_SHIFT;
    }
}
