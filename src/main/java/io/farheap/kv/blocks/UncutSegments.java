package io.farheap.kv.blocks;

import io.farheap.kv.format.BlockFormat;
import io.farheap.kv.format.MapCalls;
import io.farheap.kv.format.SizeClasses;
import io.farheap.kv.format.SlotWord;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.LongConsumer;
import java.util.function.LongPredicate;

/**
 * A session's segments that are not fully cut into blocks: one of each size class that is being cut, and spare ones.
 * One thread, except {@link #held}.
 *
 * <p>For that thread a spare segment becomes the one that is being cut before its spare entry is cleared, and spare
 * segments are never moved to other entries, where a thread that reads them might miss one.
 */
final class UncutSegments {

    private static final int MOST_SPARE = 4 * MapCalls.MOST_SEGMENTS;
    private static final VarHandle WORDS = MethodHandles.arrayElementVarHandle(long[].class);
    /** A segment's word: the number of blocks left in the low bits, the place above them, the class above that. */
    private static final int BLOCKS_BITS = 16;

    private static final int BLOCKS_MASK = (1 << BLOCKS_BITS) - 1;
    private static final int CLASS_SHIFT = 56;
    private static final long PLACE_MASK = (1L << CLASS_SHIFT - BLOCKS_BITS) - 1;

    /** By class: the place of the next block to cut, and how many blocks are left. */
    private final long[] cuts = new long[SizeClasses.COUNT];

    /** 0: no segment. */
    private final long[] spare = new long[MOST_SPARE];

    private int spares;
    /** Units of spare segments, and below those of the segments that are being cut. */
    private long spareUnits;

    private long units;

    private static long word(int sizeClass, long place, int blocks) {
        return (long) sizeClass << CLASS_SHIFT | place << BLOCKS_BITS | blocks;
    }

    private static int sizeClass(long word) {
        return (int) (word >>> CLASS_SHIFT);
    }

    private static long place(long word) {
        return word >>> BLOCKS_BITS & PLACE_MASK;
    }

    private static int blocks(long word) {
        return (int) word & BLOCKS_MASK;
    }

    private static long block(long word, int number) {
        int units = SizeClasses.units(sizeClass(word));
        return SlotWord.live(place(word) + (long) number * units, SlotWord.FIRST_INCARNATION, 0, units);
    }

    /**
     * Adds a segment that is the session's alone and was never used.
     *
     * @return false if there is no room for another spare one
     */
    boolean add(int sizeClass, long place, int bytes) {
        long word = word(sizeClass, place, bytes / BlockFormat.UNIT_BYTES / SizeClasses.units(sizeClass));
        if (left(sizeClass) == 0) {
            begin(sizeClass, word);
        } else if (spares < MOST_SPARE) {
            addSpare(word);
        } else {
            return false;
        }
        return true;
    }

    private void begin(int sizeClass, long word) {
        WORDS.setRelease(cuts, sizeClass, word);
        units += units(word);
    }

    private void addSpare(long word) {
        int at = 0;
        while (spare[at] != 0) {
            at++;
        }
        WORDS.setRelease(spare, at, word);
        spares++;
        spareUnits += units(word);
    }

    private void removeSpare(int at) {
        spareUnits -= units(spare[at]);
        WORDS.setRelease(spare, at, 0L);
        spares--;
    }

    /**
     * Blocks left in the segment of a class that is being cut; 0 only if there is no spare segment of the class either.
     */
    int left(int sizeClass) {
        return blocks(cuts[sizeClass]);
    }

    /** The next block of a class to cut, if any is {@link #left}: a word without a fingerprint. */
    long next(int sizeClass) {
        return block(cuts[sizeClass], 0);
    }

    /** Cuts {@link #next} off; {@link #held} does not add it after that. */
    void cut(int sizeClass) {
        long word = cuts[sizeClass];
        int blockUnits = SizeClasses.units(sizeClass);
        WORDS.setRelease(cuts, sizeClass, word(sizeClass, place(word) + blockUnits, blocks(word) - 1));
        units -= blockUnits;
        if (spares > 0 && blocks(word) == 1) {
            beginSpare(sizeClass);
        }
    }

    private void beginSpare(int ofClass) {
        for (int i = 0; i < MOST_SPARE; i++) {
            if (spare[i] != 0 && sizeClass(spare[i]) == ofClass) {
                begin(ofClass, spare[i]);
                removeSpare(i);
                return;
            }
        }
    }

    /**
     * Cuts spare segments into all of their blocks.
     *
     * @param which selects segments by their first block
     * @param to receives all blocks of a segment before the segment is removed here
     */
    void unpack(LongPredicate which, LongConsumer to) {
        for (int i = 0; i < MOST_SPARE; i++) {
            if (spare[i] != 0 && which.test(block(spare[i], 0))) {
                forEach(spare[i], to);
                removeSpare(i);
            }
        }
    }

    private static void forEach(long word, LongConsumer consumer) {
        for (int i = 0; i < blocks(word); i++) {
            consumer.accept(block(word, i));
        }
    }

    /** Passes all blocks, those of spare segments too, as words without a fingerprint. */
    void forEach(LongConsumer consumer) {
        for (long word : spare) {
            forEach(word, consumer);
        }
        for (long word : cuts) {
            forEach(word, consumer);
        }
    }

    /** Adds all blocks. Any thread. */
    void held(HeldBlocks into) {
        addHeld(spare, into);
        addHeld(cuts, into);
    }

    private static void addHeld(long[] words, HeldBlocks into) {
        for (int i = 0; i < words.length; i++) {
            long word = (long) WORDS.getAcquire(words, i);
            into.addCut(place(word), blocks(word), SizeClasses.units(sizeClass(word)));
        }
    }

    /** Units of the segments that are being cut, and of the spare ones except those of one class. */
    long unitsBut(int ofClass) {
        return units + spareUnits - spareUnits(ofClass);
    }

    /** Units of a class, with its spare segments. */
    long unitsOf(int ofClass) {
        return units(cuts[ofClass]) + spareUnits(ofClass);
    }

    private long spareUnits(int ofClass) {
        long sum = 0;
        int left = spares;
        for (int i = 0; left > 0; i++) {
            if (spare[i] != 0) {
                left--;
                sum += sizeClass(spare[i]) == ofClass ? units(spare[i]) : 0;
            }
        }
        return sum;
    }

    private static long units(long word) {
        return (long) blocks(word) * SizeClasses.units(sizeClass(word));
    }

    boolean isEmpty() {
        return units == 0 && spares == 0;
    }
}
