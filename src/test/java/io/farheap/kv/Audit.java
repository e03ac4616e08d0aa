package io.farheap.kv;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.format.BlockFormat;
import io.farheap.kv.format.Bucket;
import io.farheap.kv.format.KeyHash;
import io.farheap.kv.format.SlotWord;
import io.farheap.kv.format.SpaceShape;
import io.farheap.kv.format.TestKeys;
import io.farheap.kv.format.ValuePieces;
import io.farheap.memory.NativeMemory;
import io.farheap.remote.QueueOptions;
import io.farheap.remote.RegisteredBuffer;
import io.farheap.remote.RemoteQueue;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.testing.TestDevice;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Accounts for every block of a map that no session uses meanwhile: each block is in one slot, or free at one session.
 * The map's own threads may still move or evict objects of a segment that is being emptied, so the audit starts over if
 * the slots have changed before its end.
 */
final class Audit {

    private final TestSpace space;
    private final RemoteQueue queue;
    private final RegisteredBuffer memory;
    /** The owner of each block, by the block's place. */
    private final Map<Long, String> owners = new HashMap<>();

    int live;
    private int pieces;

    private Audit(TestSpace space, RemoteQueue queue, RegisteredBuffer memory) {
        this.space = space;
        this.queue = queue;
        this.memory = memory;
    }

    /** @param sessions all sessions that the map has had */
    static Audit of(TestSpace space, List<MapSession> sessions) {
        try (RemoteQueue queue = space.memory.openQueue(QueueOptions.DEFAULT.withDepth(1));
                RegisteredBuffer memory = space.memory.register(64 << 10)) {
            long deadline = System.nanoTime() + TestDevice.patience(30_000_000_000L);
            while (true) {
                EmptyingTest.awaitRest(space, List.of());
                Audit audit = new Audit(space, queue, memory);
                List<Long> before = audit.words();
                AssertionError wrong = audit.find(sessions);
                if (audit.words().equals(before)) {
                    if (wrong != null) {
                        throw wrong;
                    }
                    return audit;
                }
                assertTrue(System.nanoTime() - deadline < 0, "the map has no rest");
            }
        }
    }

    private @Nullable AssertionError find(List<MapSession> sessions) {
        try {
            forEachLive(this::check);
            for (MapSession session : sessions) {
                session.requests().allocator().forEachFree(block -> own(block, "free at a session"));
            }
            services();
            return null;
        } catch (AssertionError e) {
            return e;
        }
    }

    private List<Long> words() {
        List<Long> words = new ArrayList<>();
        forEachLive((word, region, at) -> words.add(word));
        return words;
    }

    /** Called with the word of a live slot and the place of its bucket. */
    private interface LiveSlot {
        void found(long word, int region, long at);
    }

    private void forEachLive(LiveSlot live) {
        SpaceShape shape = space.shape;
        for (int region = 0; region < shape.tableRegions(); region++) {
            for (int bucket = 0; bucket < shape.bucketsPerRegion(); bucket++) {
                long at = shape.bucketAt(bucket);
                read(space.regions.get(region), at, 0, SpaceShape.BUCKET_BYTES);
                for (int slot = 0; slot < SpaceShape.BUCKET_SLOTS; slot++) {
                    long word = Bucket.word(address(0), slot);
                    if (SlotWord.isLive(word)) {
                        live.found(word, region, at);
                    }
                }
            }
        }
    }

    private void check(long word, int region, long at) {
        live++;
        own(word, "live, in region " + region + " at " + at);
        readBlock(word, 4096);
        assertTrue(BlockFormat.isWhole(NativeMemory.ALL, address(4096), word, TestKeys.CHECKSUM));
        if (SlotWord.isIndex(word)) {
            checkPieces();
        }
        boolean isLive = BlockFormat.isLive(NativeMemory.ALL, address(4096), SlotWord.incarnation(word));
        assertTrue(isLive, "its slot names it, and it stays marked");
        // The hash of the block's key is checked: the slot's own may be of another object, written by a slow insertion.
        int bytes = SlotWord.units(word) * BlockFormat.UNIT_BYTES;
        long hash = BlockFormat.hash(NativeMemory.ALL, address(4096), bytes, TestKeys.HASH);
        assertEquals(region, space.shape.bucketRegion(hash));
        assertEquals(at, space.shape.bucketAt(hash));
        assertEquals(KeyHash.fingerprint(hash), SlotWord.fingerprint(word));
    }

    private void readBlock(long word, int at) {
        long place = SlotWord.place(word);
        int bytes = SlotWord.units(word) * BlockFormat.UNIT_BYTES;
        read(space.regions.get((int) (place >>> space.shape.placeShift())), offset(place), at, bytes);
    }

    private void checkPieces() {
        long index = address(4096);
        long bytes = 0;
        for (int i = 0; i < ValuePieces.countOf(index); i++) {
            long piece = ValuePieces.piece(index, i);
            own(piece, "a live object's piece");
            readBlock(piece, 32 << 10);
            assertTrue(ValuePieces.isPiece(address(32 << 10), piece, index, i, TestKeys.CHECKSUM), "piece " + i);
            bytes += BlockFormat.valueBytes(NativeMemory.ALL, address(32 << 10));
            pieces++;
        }
        assertEquals(ValuePieces.valueBytes(index), bytes);
    }

    private long offset(long place) {
        return (place & (1L << space.shape.placeShift()) - 1) << 6;
    }

    private void own(long block, String owner) {
        String other = owners.put(SlotWord.place(block), owner);
        assertEquals(null, other, "a block with two owners, the other one is " + owner);
    }

    /** Compares with the audit of the servers, which know all blocks that they have handed out. */
    private void services() {
        MapAudit audit = space.map.audit();
        assertTrue(audit.quiet() && audit.sound(), audit::toString);
        assertEquals(live + pieces, audit.named());
        assertEquals(0, audit.lost(), audit::toString);
    }

    private long address(int at) {
        return memory.segment().address() + at;
    }

    private void read(RemoteRegion region, long offset, int at, int bytes) {
        int posting = queue.execute(false, region, offset, memory, at, bytes, 0);
        while (posting != io.farheap.remote.contract.PostResult.DONE
                && queue.poll((tag, outcome) -> assertEquals(0, outcome)) == 0) {
            Thread.onSpinWait();
        }
    }
}
