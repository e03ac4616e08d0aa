package io.farheap.kv.blocks;

import io.farheap.kv.format.BlockFormat;
import io.farheap.kv.format.SizeClasses;
import io.farheap.kv.format.SlotWord;
import java.util.Arrays;

/** A list of the blocks that a process's sessions hold, as they were found. One thread. */
public final class HeldBlocks {

    private long[] words = new long[256];
    private int count;
    private long[] indexes = new long[16];
    private int indexCount;

    /** Empties the list. */
    public void clear() {
        count = 0;
        indexCount = 0;
    }

    /** @param word of a block; 0 is ignored */
    public void add(long word) {
        if (word == 0) {
            return;
        }
        if (count == words.length) {
            words = Arrays.copyOf(words, 2 * count);
        }
        words[count++] = word;
        if (SlotWord.isIndex(word)) {
            addIndex(word);
        }
    }

    private void addIndex(long word) {
        if (indexCount == indexes.length) {
            indexes = Arrays.copyOf(indexes, 2 * indexCount);
        }
        indexes[indexCount++] = word;
    }

    /** How many of the added words name indexes of objects with pieces. */
    public int indexCount() {
        return indexCount;
    }

    /** The word of an index, by its number below {@link #indexCount}. */
    public long index(int number) {
        return indexes[number];
    }

    /** Adds blocks that lie one after another and were never used. */
    void addCut(long place, int blocks, int units) {
        for (int i = 0; i < blocks; i++) {
            add(SlotWord.live(place + (long) i * units, SlotWord.FIRST_INCARNATION, 0, units));
        }
    }

    /** Adds all blocks of a segment that was never used. */
    public void addSegment(int sizeClass, long place, int bytes) {
        int units = SizeClasses.units(sizeClass);
        addCut(place, bytes / BlockFormat.UNIT_BYTES / units, units);
    }

    /** Removes the first {@code n} words. */
    public void removeFirst(int n) {
        count -= n;
        System.arraycopy(words, n, words, 0, count);
    }

    /** Sorts the blocks by their places, and leaves each once. */
    public void distinct() {
        for (int i = 0; i < count; i++) {
            words[i] = SlotWord.place(words[i]) << Byte.SIZE | SlotWord.units(words[i]);
        }
        Arrays.sort(words, 0, count);
        int kept = 0;
        for (int i = 0; i < count; i++) {
            if (i == 0 || words[i] != words[i - 1]) {
                words[kept++] = words[i];
            }
        }
        count = kept;
        for (int i = 0; i < count; i++) {
            words[i] = SlotWord.live(words[i] >>> Byte.SIZE, 0, 0, (int) words[i] & 0xFF);
        }
    }

    /** How many words there are. */
    public int count() {
        return count;
    }

    /** A word, by its number below {@link #count}. */
    public long word(int index) {
        return words[index];
    }
}
