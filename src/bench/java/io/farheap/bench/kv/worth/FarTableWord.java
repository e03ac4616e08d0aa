package io.farheap.bench.kv.worth;

import io.farheap.kv.format.SlotWord;

/** The words of slots: as in a map, 0 is an empty slot. */
final class FarTableWord {

    private static final int HISTORY = 255;
    private static final int FINGERPRINT_SHIFT = 8;
    private static final int NUMBER_SHIFT = 16;

    private FarTableWord() {}

    static long live(long block, int incarnation, long hash) {
        return SlotWord.live(block, incarnation, fingerprint(hash), FarTableLayout.UNITS);
    }

    /** Returns the word of the same block when it is used again. */
    static long again(long word, long hash) {
        int incarnation = SlotWord.incarnation(word) % (SlotWord.INCARNATIONS - 1) + 1;
        return live(SlotWord.place(word), incarnation, hash);
    }

    static long history(long number, long live) {
        return number << NUMBER_SHIFT | live & 0xFF << FINGERPRINT_SHIFT | HISTORY;
    }

    static boolean isLive(long word) {
        return (word & 0xFF) == FarTableLayout.UNITS;
    }

    static boolean isHistory(long word) {
        return (word & 0xFF) == HISTORY;
    }

    static long number(long history) {
        return history >>> NUMBER_SHIFT;
    }

    static boolean mayBe(long word, long hash) {
        return (word >>> FINGERPRINT_SHIFT & 0xFF) == fingerprint(hash);
    }

    private static int fingerprint(long hash) {
        return (int) (hash >>> 56);
    }

    /** Returns a key's hash. */
    static long hash(long key) {
        long mixed = (key + 1) * 0x9E3779B97F4A7C15L;
        mixed = (mixed ^ mixed >>> 32) * 0xD6E8FEB86659FD93L;
        mixed = (mixed ^ mixed >>> 32) * 0xD6E8FEB86659FD93L;
        return mixed ^ mixed >>> 32;
    }
}
