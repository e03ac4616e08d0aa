package io.farheap.kv.elastic;

import io.farheap.kv.contract.MapException;
import io.farheap.kv.format.BlockFormat;
import io.farheap.kv.format.SlotWord;
import io.farheap.kv.format.SpaceShape;
import io.farheap.kv.format.ValuePieces;
import io.farheap.kv.space.SpaceMemory;
import io.farheap.kv.space.TableChunks;
import io.farheap.kv.space.TableReader;
import java.util.Comparator;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * Parts of a map's table that lie evenly in it, to find what is worth moving from a server that is to leave: the others
 * have room for a part of what the map has, and those objects that were used last and fill that part are worth moving.
 * The rest would only make room for itself by evicting what is worth more. One thread.
 */
final class TableSample {

    /** Objects of the whole map. */
    private static final int OBJECTS = 1 << 16;
    /** READs, of {@link TableReader#MOST_BUCKETS} each. */
    private static final int READS = 64;
    /** Of the other servers' segments, what is filled: sessions hold free blocks. */
    private static final double FILLED = 0.97;

    private final SplittableRandom random = new SplittableRandom();
    private final long[] sampledUse = new long[OBJECTS];
    private final int[] sampledUnits = new int[OBJECTS];
    private long seen;
    /** Of all objects of the map, as far as the sample tells. */
    private double units;

    /**
     * What was used then or later has room on the other servers.
     *
     * @throws MapException where a server is lost
     */
    static long usedSince(TableReader table, SpaceMemory space, int leaving) {
        TableSample sample = new TableSample();
        sample.read(table, new TableChunks(space.shape()));
        return sample.since(roomBeside(space, leaving));
    }

    private void read(TableReader table, TableChunks chunks) {
        int step = Math.ceilDiv(chunks.count(), READS);
        int read = 0;
        long seenUnits = 0;
        for (int chunk = 0; chunk < chunks.count(); chunk += step) {
            seenUnits += add(table, table.readSlots(chunks.region(chunk), chunks.bucket(chunk)));
            read++;
        }
        units = (double) seenUnits / read * chunks.count();
    }

    private long add(TableReader table, int slots) {
        long added = 0;
        for (int slot = 0; slot < slots; slot++) {
            long word = table.word(slot);
            if (SlotWord.isLive(word)) {
                int objectUnits = ValuePieces.objectUnits(word);
                add(table.usedLast(slot), objectUnits);
                added += objectUnits;
            }
        }
        return added;
    }

    private void add(long used, int objectUnits) {
        long at = seen < OBJECTS ? seen : random.nextLong(seen + 1);
        if (at < OBJECTS) {
            sampledUse[(int) at] = used;
            sampledUnits[(int) at] = objectUnits;
        }
        seen++;
    }

    /** In units, of the other servers. */
    private static double roomBeside(SpaceMemory space, int leaving) {
        SpaceShape shape = space.shape();
        double room = 0;
        for (int region = 0; region < space.regions(); region++) {
            if (space.hasRegion(region) && space.layout().serverOf(region) != leaving) {
                room += (double) shape.segments(region) * shape.segmentBytes() / BlockFormat.UNIT_BYTES;
            }
        }
        return FILLED * room;
    }

    /** @return what was used then or later has that much room */
    private long since(double room) {
        double share = room / Math.max(1, units);
        int n = (int) Math.min(OBJECTS, seen);
        if (share >= 1 || n == 0) {
            return Long.MIN_VALUE;
        }
        // By their times; what was used at the same time stays or goes together.
        TreeMap<Long, Long> unitsAt = new TreeMap<>(Comparator.reverseOrder());
        long all = 0;
        for (int i = 0; i < n; i++) {
            unitsAt.merge(sampledUse[i], (long) sampledUnits[i], Long::sum);
            all += sampledUnits[i];
        }
        long since = Long.MAX_VALUE;
        long sum = 0;
        for (Map.Entry<Long, Long> each : unitsAt.entrySet()) {
            sum += each.getValue();
            if (sum > share * all) {
                break;
            }
            since = each.getKey();
        }
        return since;
    }
}
