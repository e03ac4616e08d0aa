package io.farheap.kv.contract;

import io.farheap.memory.ByteSize;
import java.util.Locale;

/**
 * How many objects have been taken off a server that leaves a map. Objects on other servers that were evicted to make
 * room for moved ones count as evictions in {@link MapCounts}, and not here.
 *
 * @param objects that were found on the server
 * @param moved to other servers of the map
 * @param evicted because there was no time or no room to move them
 * @param movedBytes total size of the blocks that were moved
 */
public record MapDrain(long objects, long moved, long evicted, long movedBytes) {

    static final MapDrain NONE = new MapDrain(0, 0, 0, 0);

    /** The totals of two servers. */
    public MapDrain plus(MapDrain other) {
        return new MapDrain(
                objects + other.objects, moved + other.moved, evicted + other.evicted, movedBytes + other.movedBytes);
    }

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
