package io.farheap.kv;

import java.util.Locale;

/**
 * What was seen of a map while its table was read, bucket by bucket, as others went on.
 *
 * @param regions that it has
 * @param regionBytes of each
 * @param slots of the table
 * @param objects that are there, those whose time is over too
 * @param history entries of objects that were evicted
 * @param blockBytes of the objects' blocks
 * @param segmentBytes of all segments together
 * @param segmentBytesTaken of those that sessions have taken
 * @param segmentsEmptied so far, so that they could be of another size
 */
public record MapStats(
        int regions,
        long regionBytes,
        long slots,
        long objects,
        long history,
        long blockBytes,
        long segmentBytes,
        long segmentBytesTaken,
        long segmentsEmptied) {

    @Override
    public String toString() {
        return String.format(
                Locale.ROOT,
                "%,d objects in blocks of %,d bytes together, %,d history entries, %,d slots; %,d of %,d bytes for blocks "
                        + "are taken; %d regions of %,d bytes; %,d segments emptied for other sizes",
                objects,
                blockBytes,
                history,
                slots,
                segmentBytesTaken,
                segmentBytes,
                regions,
                regionBytes,
                segmentsEmptied);
    }
}
