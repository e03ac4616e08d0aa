package io.farheap.kv;

import io.farheap.kv.contract.MapException;
import io.farheap.kv.format.BlockFormat;
import io.farheap.kv.format.SlotWord;
import io.farheap.kv.format.SpaceShape;
import io.farheap.kv.format.ValuePieces;
import io.farheap.kv.space.SpaceMemory;
import io.farheap.kv.space.TableChunks;
import io.farheap.kv.space.TableReader;
import io.farheap.memory.ByteSize;
import io.farheap.memory.Plurals;
import java.util.Locale;

/**
 * What a map holds, as it was seen while its table was read bucket by bucket and other clients continued to use it.
 *
 * @param regions of the map
 * @param regionBytes of each region
 * @param slots of the table
 * @param objects that slots name, with those whose time to live has ended
 * @param history entries for objects that were evicted
 * @param blockBytes of the objects' blocks
 * @param segmentBytes of all segments together
 * @param segmentBytesTaken of the segments that sessions have taken
 * @param segmentsEmptied so far, so that their memory could serve another size class
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

    /**
     * Reads the whole table.
     *
     * @param segmentsTaken segments that the servers have handed out
     * @param segmentsEmptied segments that the servers have had emptied
     * @throws MapException if a server does not answer
     */
    static MapStats of(TableReader table, SpaceMemory space, long segmentsTaken, long segmentsEmptied) {
        SpaceShape shape = space.shape();
        long objects = 0;
        long history = 0;
        long units = 0;
        long segments = 0;
        int regions = 0;
        for (int region = 0; region < space.regions(); region++) {
            if (space.hasRegion(region)) {
                regions++;
                segments += space.segmentsOf(region);
            }
        }
        TableChunks chunks = new TableChunks(shape);
        for (int chunk = 0; chunk < chunks.count(); chunk++) {
            int slots = table.readSlots(chunks.region(chunk), chunks.bucket(chunk));
            for (int slot = 0; slot < slots; slot++) {
                long word = table.word(slot);
                if (SlotWord.isLive(word)) {
                    objects++;
                    units += ValuePieces.objectUnits(word);
                } else if (SlotWord.isHistory(word)) {
                    history++;
                }
            }
        }
        return new MapStats(
                regions,
                shape.regionBytes(),
                (long) shape.tableRegions() * shape.bucketsPerRegion() * SpaceShape.BUCKET_SLOTS,
                objects,
                history,
                units * BlockFormat.UNIT_BYTES,
                segments * shape.segmentBytes(),
                segmentsTaken * shape.segmentBytes(),
                segmentsEmptied);
    }

    @Override
    public String toString() {
        return String.format(
                Locale.ROOT,
                "%,d objects in blocks of %s together, %s%,d slots; %s of %s for blocks are taken; %d %s of %s%s",
                objects,
                ByteSize.text(blockBytes),
                history == 0 ? "" : String.format(Locale.ROOT, "%,d history entries, ", history),
                slots,
                ByteSize.text(segmentBytesTaken),
                ByteSize.text(segmentBytes),
                regions,
                Plurals.noun(regions, "region"),
                ByteSize.text(regionBytes),
                segmentsEmptied == 0
                        ? ""
                        : String.format(Locale.ROOT, "; %,d segments emptied for other sizes", segmentsEmptied));
    }
}
