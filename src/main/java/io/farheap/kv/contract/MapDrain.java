package io.farheap.kv.contract;

import io.farheap.memory.ByteSize;
import java.util.Locale;

/**
 * How far a server's objects have been taken off it. What others of the map were evicted to make room for what was
 * moved counts as any eviction does ({@link MapCounts}), and not here.
 *
 * @param objects that were found there
 * @param moved to other servers of the map
 * @param evicted since there was no time or no room for them
 * @param movedBytes of the blocks that were moved
 */
public record MapDrain(long objects, long moved, long evicted, long movedBytes) {

    static final MapDrain NONE = new MapDrain(0, 0, 0, 0);

    @Override
    public String toString() {
        return String.format(
                Locale.ROOT,
                "%,d objects moved in blocks of %s together, %,d evicted",
                moved,
                ByteSize.text(movedBytes),
                evicted);
    }
}
