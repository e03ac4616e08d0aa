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
 * Chooses the objects that are worth moving from a server that is about to leave. The other servers have room for a
 * part of what the map has; the objects that were used last and fill that part are worth moving. Moving others would
 * only evict objects that are worth more. The sample is parts of the table at even distances. One thread.
 */
final class TableSample {

    /** The most objects in the sample. */
    private static final int OBJECTS = 1 << 16;
    /** How many READs it takes, of {@link TableReader#MOST_BUCKETS} buckets each. */
    private static final int READS = 64;
    /** The share of the other servers' segments that is filled; sessions hold the rest as free blocks. */
    private static final double FILLED = 0.97;

    private final SplittableRandom random = new SplittableRandom();
    private final long[] sampledUse = new long[OBJECTS];
    private final int[] sampledUnits = new int[OBJECTS];
    private long seen;
    /** The size of all objects of the map, estimated from the sample. */
    private double units;

    /**
     * The time from which on the objects used have room on the other servers.
     *
     * @throws MapException if a server is lost
     */
    static long usedSince(TableReader table, SpaceMemory space, int leaving) {
        TableSample sample = new TableSample();
        sample.read(table, space, new TableChunks(space.shape()));
        return sample.since(roomBeside(space, leaving));
    }

    private void read(TableReader table, SpaceMemory space, TableChunks chunks) {
        int step = Math.ceilDiv(chunks.count(), READS);
        int read = 0;
        long seenUnits = 0;
        for (int chunk = 0; chunk < chunks.count(); chunk += step) {
            int region = chunks.region(chunk);
            if (!space.isGone(space.layout().serverOfTable(region))) {
                seenUnits += add(table, table.readSlots(region, chunks.bucket(chunk)));
            }
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

    /** The room for blocks on the other servers, in units. */
    private static double roomBeside(SpaceMemory space, int leaving) {
        SpaceShape shape = space.shape();
        double room = 0;
        for (int region = 0; region < space.regions(); region++) {
            if (space.hasRegion(region) && space.layout().serverOf(region) != leaving) {
                room += (double) space.segmentsOf(region) * shape.segmentBytes() / BlockFormat.UNIT_BYTES;
            }
        }
        return FILLED * room;
    }

    /** @return the time from which on the objects used fill that much room */
    private long since(double room) {
        double share = room / Math.max(1, units);
        int n = (int) Math.min(OBJECTS, seen);
        if (share >= 1 || n == 0) {
            return Long.MIN_VALUE;
        }
        // By their times, the latest first; objects that were used at the same time are treated alike.
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
