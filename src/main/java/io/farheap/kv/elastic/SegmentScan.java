package io.farheap.kv.elastic;

import io.farheap.kv.format.BlockFormat;
import io.farheap.kv.format.KeyHash;
import io.farheap.kv.format.SizeClasses;
import io.farheap.kv.format.SlotWord;
import io.farheap.kv.format.SpaceShape;
import io.farheap.kv.operation.MoveSteps;
import io.farheap.kv.space.SpaceMemory;
import io.farheap.kv.space.TableReader;
import io.farheap.memory.NativeMemory;
import io.farheap.remote.RemoteMemory;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Finds the objects whose blocks lie in a segment without reading the whole table: each block has its object's key, or
 * the hash of it, which gives the bucket of a slot that may name it. A block that has not been stored in a slot yet
 * still has its former content, and no slot names it. One thread.
 */
final class SegmentScan implements AutoCloseable {

    private static final MemorySegment ALL = NativeMemory.ALL;
    private static final int LOOKS = 1000;

    private final SpaceMemory space;
    private final TableReader table;

    /** Objects in one block, of all segments that were scanned. */
    final FoundObjects whole = new FoundObjects();
    /** Objects in pieces that have a piece or their index there. */
    final FoundObjects inPieces = new FoundObjects();
    /** The keys of the objects in pieces, by number. */
    final List<byte[]> pieced = new ArrayList<>();

    private final Set<Long> piecedSlots = new HashSet<>();

    SegmentScan(RemoteMemory remote, SpaceMemory space) {
        this.space = space;
        table = new TableReader(remote, space, space.shape().segmentBytes());
    }

    void clear() {
        whole.clear();
        inPieces.clear();
        pieced.clear();
        piecedSlots.clear();
    }

    /** Scans a segment. @throws MapException if a server is lost */
    void add(long place, int sizeClass) {
        int units = SizeClasses.units(sizeClass);
        int bytes = space.shape().segmentBytes();
        if (!space.holds(place, bytes / BlockFormat.UNIT_BYTES)) {
            return;
        }
        table.readSegment(place, bytes);
        for (int unit = 0; unit + units <= bytes / BlockFormat.UNIT_BYTES; unit += units) {
            long block = table.block(unit);
            if (BlockFormat.incarnation(ALL, block) != 0) {
                find(place + unit, BlockFormat.hash(ALL, block, units * BlockFormat.UNIT_BYTES, space.keyHash()));
            }
        }
    }

    private void find(long place, long hash) {
        SpaceShape shape = space.shape();
        int region = shape.bucketRegion(hash);
        int bucket = shape.bucketOf(hash);
        table.readBucket(region, shape.bucketAt(bucket));
        for (int slot = 0; slot < SpaceShape.BUCKET_SLOTS; slot++) {
            long word = table.word(slot);
            long at = MoveSteps.slot(region, bucket, slot);
            if (SlotWord.isIndex(word)) {
                if (SlotWord.fingerprint(word) == KeyHash.fingerprint(hash)) {
                    findInPieces(at, place, region, bucket, slot);
                }
            } else if (SlotWord.isLive(word) && SlotWord.place(word) == place) {
                whole.add(at, word, table.usedLast(slot));
            }
        }
    }

    /**
     * Finds an object in pieces. If its index was used again, the slot may have a new index with the same pieces, of a
     * touch.
     */
    private void findInPieces(long at, long place, int region, int bucket, int slot) {
        long used = table.usedLast(slot);
        long word = table.word(slot);
        for (int look = 0; look < LOOKS && SlotWord.isIndex(word); look++) {
            int pieces = table.readIndex(word);
            if (pieces > 0) {
                boolean any = SlotWord.place(word) == place;
                for (int piece = 0; piece < pieces; piece++) {
                    any |= SlotWord.place(table.piece(piece)) == place;
                }
                if (any && piecedSlots.add(at)) {
                    inPieces.add(at, word, used);
                    pieced.add(table.indexKey());
                }
                return;
            }
            word = table.readWord(region, bucket, slot);
        }
    }

    @Override
    public void close() {
        table.close();
    }
}
