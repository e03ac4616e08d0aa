package io.farheap.kv.format;

import java.util.Locale;

/**
 * Which owners the blocks of one server's segments had during an audit. The counts are exact if no client used the map
 * meanwhile.
 *
 * @param blocks of all segments that have been handed out
 * @param pooled in the service's pools
 * @param worn that are retired, since they have no incarnation left
 * @param held by sessions: free, not cut from their segment yet, or of a request under way
 * @param named by slots
 * @param lost that had no owner, and are in the pools now
 * @param wrong words that name a block which does not exist
 */
public record BlockAudit(long blocks, long pooled, long worn, long held, long named, long lost, long wrong) {

    /** Length of the encoded form, in words of 8 bytes. */
    public static final int WORDS = 7;

    /** An audit that has found no blocks. */
    public static final BlockAudit NONE = new BlockAudit(0, 0, 0, 0, 0, 0, 0);

    /** The sums of both. */
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

    /** Decodes the form in which a server replies, which begins at word {@code at}. */
    public static BlockAudit of(long[] words, int at) {
        return new BlockAudit(
                words[at], words[at + 1], words[at + 2], words[at + 3], words[at + 4], words[at + 5], words[at + 6]);
    }

    /** Whether each block was found exactly once, which holds if no client uses the map meanwhile. */
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
