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
 * Reads a part of a map's table, step by step, and finds what has a block on one server. What was used last before a
 * given time, and may be evicted as it is, is of a step alone; the rest is kept. So is as much of what was used before
 * that time and lies on other servers: to be evicted for what moves there. One thread.
 */
final class ServerScan implements AutoCloseable {

    private final SpaceMemory space;
    private final int server;
    private final boolean lost;
    private final TableReader table;
    private final TableChunks chunks;
    private final int first;
    private final int end;

    /** What the last step has found of what was used before that time and may be evicted as it is. */
    final FoundObjects cold = new FoundObjects();

    final FoundObjects whole = new FoundObjects();
    /** On other servers: what was used before that time and may be evicted as it is. */
    final FoundObjects elsewhere = new FoundObjects();

    /** Those that have a piece on the server, or their index. */
    final FoundObjects inPieces = new FoundObjects();
    /** Of these the keys by their numbers. */
    final List<byte[]> pieced = new ArrayList<>();

    private long oldest;
    private int next;

    /**
     * @param lost whether nothing can be read of the server
     * @param part of the table, one of {@code parts}
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

    /** The time since which so much was used that the other servers have room for it. */
    long usedSince() {
        return TableSample.usedSince(table, space, server);
    }

    /** Begins anew. @param since what was used last before then is not kept where it may be evicted as it is */
    void begin(long since) {
        whole.clear();
        elsewhere.clear();
        inPieces.clear();
        pieced.clear();
        oldest = since;
        next = first;
    }

    /**
     * Looks at some buckets more.
     *
     * @return false where there are no more
     * @throws MapException where another server is lost
     */
    boolean step() {
        cold.clear();
        if (next == end) {
            return false;
        }
        int region = chunks.region(next);
        int bucket = chunks.bucket(next);
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
        if (SlotWord.isLive(word)) {
            keep(read, MoveSteps.slot(region, bucket, slot), word, used);
        }
    }

    private void keep(int read, long slot, long word, long used) {
        boolean isHere = isHere(word);
        boolean isCold = used < oldest;
        boolean makesRoom =
                isCold && elsewhere.count() < whole.count() && !SlotWord.isIndex(word) && space.mayUse(word);
        if (!isHere && !makesRoom) {
            return;
        }
        boolean alone = word == table.word(read) && table.mayEvict(read);
        if (isHere) {
            FoundObjects found = alone && isCold ? cold : whole;
            found.add(slot, word, used);
            if (alone) {
                found.lastIsAlone();
            }
        } else if (alone) {
            elsewhere.add(slot, word, used);
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

    @Override
    public void close() {
        table.close();
    }
}
