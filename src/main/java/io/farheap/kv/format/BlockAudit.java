package io.farheap.kv.format;

import java.util.Locale;

/**
 * Where the blocks of one server's segments were found to be, while others went on: exact where nobody used the map.
 *
 * @param blocks of all segments that have been handed out
 * @param pooled in the service's pools
 * @param worn that have no incarnation left
 * @param held by sessions, free, not cut yet or under way
 * @param named by slots
 * @param lost that were nowhere, and are in the pools now
 * @param wrong words that name no block there is
 */
public record BlockAudit(long blocks, long pooled, long worn, long held, long named, long lost, long wrong) {

    /** Of the encoded form. */
    public static final int WORDS = 7;

    public static final BlockAudit NONE = new BlockAudit(0, 0, 0, 0, 0, 0, 0);

    /** The two together. */
    public BlockAudit plus(BlockAudit other) {
        return new BlockAudit(
                blocks + other.blocks,
                pooled + other.pooled,
                worn + other.worn,
                held + other.held,
                named + other.named,
                lost + other.lost,
                wrong + other.wrong);
    }

    /** As a server answers it, from one word on. */
    public static BlockAudit of(long[] words, int at) {
        return new BlockAudit(
                words[at], words[at + 1], words[at + 2], words[at + 3], words[at + 4], words[at + 5], words[at + 6]);
    }

    /** Whether what was found is what there is, which it is where nobody uses the map. */
    public boolean adds() {
        return blocks == pooled + worn + held + named + lost;
    }

    @Override
    public String toString() {
        return String.format(
                Locale.ROOT,
                "%,d blocks: %,d live, %,d held by sessions, %,d in pools, %,d worn out, %,d lost and collected now",
                blocks,
                named,
                held,
                pooled,
                worn,
                lost);
    }
}
