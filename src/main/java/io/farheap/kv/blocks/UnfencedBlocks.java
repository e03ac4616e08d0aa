package io.farheap.kv.blocks;

import java.util.Arrays;
import java.util.function.LongConsumer;
import java.util.function.LongPredicate;

/**
 * Blocks that no slot names and that a WRITE may still land in, since its connection has failed. They are free once
 * that connection is fenced. One thread, except {@link #held}.
 */
public final class UnfencedBlocks {

    private volatile long[] words = {};

    public boolean isEmpty() {
        return words.length == 0;
    }

    /** Adds a block. @param word of the block */
    public void add(long word) {
        long[] more = Arrays.copyOf(words, words.length + 1);
        more[more.length - 1] = word;
        words = more;
    }

    /**
     * Passes on the blocks whose server is reached by a connection that was made since. For a moment these are in both
     * places, so that a thread that collects held blocks finds them.
     */
    public void free(LongPredicate reached, LongConsumer to) {
        long[] kept = Arrays.stream(words).filter(reached.negate()).toArray();
        if (kept.length < words.length) {
            Arrays.stream(words).filter(reached).forEach(to);
            words = kept;
        }
    }

    /** Any thread. */
    public void held(HeldBlocks into) {
        for (long word : words) {
            into.add(word);
        }
    }
}
