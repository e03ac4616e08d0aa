package io.farheap.kv;

import io.farheap.remote.RemoteMemory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

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

    /** An object with pieces: its key, and when its time is over in ms, 0 for never. */
    record Pieced(byte[] key, long expiryMillis) {}

    private final SpaceMemory space;
    private final int server;
    private final boolean lost;
    private final TableReader table;
    private final SplittableRandom random = new SplittableRandom();

    final FoundObjects whole = new FoundObjects();
    /** Those that have a piece on the server, or their index. */
    final FoundObjects inPieces = new FoundObjects();
    /** Of these by their numbers. */
    final List<Pieced> pieced = new ArrayList<>();

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
                int slots = table.readSlots(region, bucket);
                for (int slot = 0; slot < slots; slot++) {
                    if (SlotWord.isLive(table.word(slot))) {
                        look(region, bucket + slot / SpaceShape.BUCKET_SLOTS, slot);
                    }
                }
            }
        }
    }

    /** @param read number of the slot among those that were read */
    private void look(int region, int bucket, int read) {
        long word = table.word(read);
        long used = table.usedLast(read);
        sample(used, Pieces.objectUnits(word));
        long slot = MoveSteps.slot(region, bucket, read % SpaceShape.BUCKET_SLOTS);
        boolean here = space.serverOf(word) == server;
        if (!SlotWord.isIndex(word) || here && lost) {
            if (here) {
                whole.add(slot, word, used);
            }
            return;
        }
        boolean any = here;
        for (int left = table.readIndex(word) - 1; left >= 0; left--) {
            any |= space.serverOf(table.piece(left)) == server;
        }
        if (any) {
            inPieces.add(slot, word, used);
            pieced.add(new Pieced(table.indexKey(), table.indexExpiryMillis()));
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
        long[] latest = Arrays.copyOf(sampledUse, n);
        Arrays.sort(latest);
        long[] unitsAt = unitsByUse(latest, n);
        long all = Arrays.stream(unitsAt).sum();
        long sum = 0;
        int kept = n;
        while (kept > 0 && sum + unitsAt[kept - 1] <= share * all) {
            sum += unitsAt[--kept];
        }
        return kept == n ? Long.MAX_VALUE : latest[kept];
    }

    /** The units of the sampled objects in the order of their times; of equal times all in the first's place. */
    private long[] unitsByUse(long[] sorted, int n) {
        long[] units = new long[n];
        for (int i = 0; i < n; i++) {
            int at = Arrays.binarySearch(sorted, sampledUse[i]);
            while (at > 0 && sorted[at - 1] == sampledUse[i]) {
                at--;
            }
            units[at] += sampledUnits[i];
        }
        return units;
    }

    @Override
    public void close() {
        table.close();
    }
}
