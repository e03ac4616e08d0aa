package io.farheap.kv;

import io.farheap.remote.RemoteMemory;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * Reads a map's whole table and finds what has a block on one server. One thread.
 *
 * <p>The other servers have room for a part of what the map has. It finds the time, too, since which so much was used:
 * those objects that were used last and fill that part are worth moving. The rest would only make room for itself by
 * evicting what is worth more.
 */
final class ServerScan implements AutoCloseable {

    /** Objects of the whole map, by which that time is found. */
    private static final int SAMPLE = 1 << 16;
    /** Of the other servers' segments, what is filled: sessions hold free blocks. */
    private static final double FILLED = 0.97;

    private final SpaceMemory space;
    private final int server;
    private final boolean lost;
    private final TableReader table;
    private final SplittableRandom random = new SplittableRandom();

    final FoundObjects whole = new FoundObjects();
    /** Those that have a piece on the server, or their index. */
    final FoundObjects inPieces = new FoundObjects();
    /** Of these the keys by their numbers. */
    final List<byte[]> pieced = new ArrayList<>();

    private final long[] sampledUse = new long[SAMPLE];
    private final int[] sampledUnits = new int[SAMPLE];
    private long seen;
    private long seenUnits;

    /** @param lost whether nothing can be read of the server */
    ServerScan(RemoteMemory remote, SpaceMemory space, int server, boolean lost) {
        this.space = space;
        this.server = server;
        this.lost = lost;
        table = new TableReader(remote, space);
    }

    int count() {
        return whole.count() + inPieces.count();
    }

    /** @throws MapException where another server is lost */
    void run() {
        whole.clear();
        inPieces.clear();
        pieced.clear();
        seen = 0;
        seenUnits = 0;
        SpaceShape shape = space.shape();
        for (int region = 0; region < shape.tableRegions(); region++) {
            for (int bucket = 0; bucket < shape.bucketsPerRegion(); bucket += TableReader.MOST_BUCKETS) {
                look(region, bucket);
            }
        }
    }

    private void look(int region, int bucket) {
        int slots = table.readSlots(region, bucket);
        for (int slot = 0; slot < slots; slot++) {
            if (SlotWord.isLive(table.word(slot))) {
                look(region, bucket + slot / SpaceShape.BUCKET_SLOTS, slot);
            }
        }
    }

    /** @param read number of the slot among those that were read */
    private void look(int region, int bucket, int read) {
        int slot = read % SpaceShape.BUCKET_SLOTS;
        long word = table.word(read);
        long used = table.usedLast(read);
        sample(used, Pieces.objectUnits(word));
        while (SlotWord.isIndex(word) && !(lost && isHere(word))) {
            int pieces = table.readIndex(word);
            if (pieces > 0) {
                lookInPieces(MoveSteps.slot(region, bucket, slot), word, used, pieces);
                return;
            }
            // Used again: a touch may have left the pieces to another index in the slot.
            long now = table.readWord(region, bucket, slot);
            if (now == word) {
                break;
            }
            word = now;
        }
        if (SlotWord.isLive(word) && isHere(word)) {
            whole.add(MoveSteps.slot(region, bucket, slot), word, used);
            if (word == table.word(read) && table.mayEvict(read)) {
                whole.lastIsAlone();
            }
        }
    }

    private boolean isHere(long word) {
        return space.serverOf(word) == server;
    }

    /** Of the index that was read last. */
    private void lookInPieces(long slot, long word, long used, int pieces) {
        boolean any = isHere(word);
        for (int piece = 0; piece < pieces; piece++) {
            any |= isHere(table.piece(piece));
        }
        if (any) {
            inPieces.add(slot, word, used);
            pieced.add(table.indexKey());
        }
    }

    private void sample(long used, int units) {
        long at = seen < SAMPLE ? seen : random.nextLong(seen + 1);
        if (at < SAMPLE) {
            sampledUse[(int) at] = used;
            sampledUnits[(int) at] = units;
        }
        seen++;
        seenUnits += units;
    }

    /** What was used then or later has room on the other servers. */
    long usedSince() {
        SpaceShape shape = space.shape();
        long room = 0;
        for (int region = 0; region < space.regions(); region++) {
            if (space.hasRegion(region) && space.layout().serverOf(region) != server) {
                room += shape.segments(region) * shape.segmentBytes() / BlockFormat.UNIT_BYTES;
            }
        }
        double share = FILLED * room / Math.max(1, seenUnits);
        int n = (int) Math.min(SAMPLE, seen);
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

    @Override
    public void close() {
        table.close();
    }
}
