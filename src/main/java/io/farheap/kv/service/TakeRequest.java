package io.farheap.kv.service;

import io.farheap.kv.format.MapCalls;
import io.farheap.kv.format.SizeClasses;
import org.jspecify.annotations.Nullable;

/**
 * The arguments of a {@link MapCalls#TAKE}.
 *
 * @param sizeClass of the blocks
 * @param blocks at most
 * @param largest class whose blocks are also accepted
 * @param want {@link MapCalls#FREE_BLOCKS} to {@link MapCalls#LAST}
 * @param segments at most
 */
record TakeRequest(int sizeClass, int blocks, int largest, int want, int segments) {

    static final int WORDS = 5;

    /**
     * Reads the arguments from a call.
     *
     * @param words of the call, in this order
     * @return null if they are invalid
     */
    static @Nullable TakeRequest of(long[] words, int at) {
        long sizeClass = words[at];
        long blocks = words[at + 1];
        long largest = words[at + 2];
        long want = words[at + 3];
        long segments = words[at + 4];
        if (sizeClass < 0
                || largest >= SizeClasses.COUNT
                || sizeClass > largest
                || blocks < 1
                || want < 0
                || want > MapCalls.LAST
                || segments < 1) {
            return null;
        }
        return new TakeRequest(
                (int) sizeClass, (int) Math.min(blocks, MapCalls.MOST_TAKEN), (int) largest, (int) want, (int)
                        Math.min(segments, MapCalls.MOST_SEGMENTS));
    }
}
