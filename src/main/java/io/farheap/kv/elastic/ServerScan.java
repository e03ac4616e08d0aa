package io.farheap.kv.elastic;

import io.farheap.kv.contract.MapException;
import io.farheap.kv.format.SlotWord;
import io.farheap.kv.format.SpaceShape;
import io.farheap.kv.operation.MoveSteps;
import io.farheap.kv.space.SpaceMemory;
import io.farheap.kv.space.TableChunks;
import io.farheap.kv.space.TableReader;
import io.farheap.remote.RemoteMemory;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads a part of a map's table, step by step, and finds objects with a block on one server. An object that was used
 * last before a given time is kept for one step only; the others are kept. As many cold objects on other servers are
 * kept too, which can be evicted to make room for moved ones. One thread.
 */
final class ServerScan implements AutoCloseable {

    private final SpaceMemory space;
    private final int server;
    private final boolean lost;
    private final TableReader table;
    private final TableChunks chunks;
    private final int first;
    private final int end;

    /** Objects of the last step that were used last before the given time. */
    final FoundObjects cold = new FoundObjects();

    final FoundObjects whole = new FoundObjects();
    /** Objects on other servers that were used last before that time. */
    final FoundObjects elsewhere = new FoundObjects();

    /** Objects in pieces that have a piece or their index on the server. */
    final FoundObjects inPieces = new FoundObjects();
    /** The keys of the objects in pieces, by number. */
    final List<byte[]> pieced = new ArrayList<>();

    private long oldest;
    private int next;

    /**
     * @param lost whether the server is lost, so that it cannot be read
     * @param part of the table that is read, of {@code parts}, counted from 0
     */
    ServerScan(RemoteMemory remote, SpaceMemory space, int server, boolean lost, int part, int parts) {
        this.space = space;
        this.server = server;
        this.lost = lost;
        chunks = new TableChunks(space.shape());
        first = (int) ((long) chunks.count() * part / parts);
        end = (int) ((long) chunks.count() * (part + 1) / parts);
        table = new TableReader(remote, space);
    }

    /** The time from which on the objects used have room on the other servers. */
    long usedSince() {
        return TableSample.usedSince(table, space, server);
    }

    /** Begins at the first bucket. @param since objects that were used last before this time are cold */
    void begin(long since) {
        whole.clear();
        elsewhere.clear();
        inPieces.clear();
        pieced.clear();
        oldest = since;
        next = first;
    }

    /**
     * Reads some buckets more.
     *
     * @return false if there are no more
     * @throws MapException if another server is lost
     */
    boolean step() {
        cold.clear();
        if (next == end) {
            return false;
        }
        int region = chunks.region(next);
        int bucket = chunks.bucket(next);
        if (space.isGone(space.layout().serverOfTable(region))) {
            next++;
            return true;
        }
        int slots = table.readSlots(region, bucket);
        for (int slot = 0; slot < slots; slot++) {
            if (SlotWord.isLive(table.word(slot))) {
                look(region, bucket + slot / SpaceShape.BUCKET_SLOTS, slot);
            }
        }
        next++;
        return true;
    }

    /** @param read number of the slot among those that were read */
    private void look(int region, int bucket, int read) {
        int slot = read % SpaceShape.BUCKET_SLOTS;
        long word = table.word(read);
        long used = table.usedLast(read);
        while (SlotWord.isIndex(word) && !(lost && isHere(word)) && !space.isGone(space.serverOf(word))) {
            int pieces = table.readIndex(word);
            if (pieces > 0) {
                lookInPieces(MoveSteps.slot(region, bucket, slot), word, used, pieces);
                return;
            }
            // The index was used again; the slot may have a new index with the same pieces, of a touch.
            long now = table.readWord(region, bucket, slot);
            if (now == word) {
                break;
            }
            word = now;
        }
        if (SlotWord.isLive(word)) {
            keep(MoveSteps.slot(region, bucket, slot), word, used);
        }
    }

    private void keep(long slot, long word, long used) {
        boolean isCold = used < oldest;
        if (isHere(word)) {
            (isCold ? cold : whole).add(slot, word, used);
        } else if (isCold
                && elsewhere.count() < whole.count()
                && !SlotWord.isIndex(word)
                && space.holdsBlock(word)
                && space.mayUse(word)) {
            elsewhere.add(slot, word, used);
        }
    }

    private boolean isHere(long word) {
        return space.serverOf(word) == server;
    }

    /** Keeps an object in pieces if its index, which was read last, or a piece is on the server. */
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

    @Override
    public void close() {
        table.close();
    }
}
