package io.farheap.kv.keeper;

import io.farheap.kv.contract.MapException;
import io.farheap.kv.format.MapCalls;
import io.farheap.kv.format.SlotWord;
import io.farheap.kv.format.SpaceShape;
import io.farheap.kv.space.SpaceMemory;
import io.farheap.kv.space.TableReader;
import java.util.concurrent.TimeUnit;

/**
 * The client's part of a collection on one server, if this process is its collector: it asks the service for the next
 * step and, if that is a scan, reads the table and reports the blocks that slots name. It reads a few buckets at a
 * time, since sessions wait for the same thread. The keeper's thread.
 */
final class BlockCollector {

    /** How often a slot that changes all the time is read. */
    private static final int LOOKS = 1000;

    private static final long WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    private final MapServiceClient line;
    private final TableReader table;
    private final SpaceMemory space;
    private boolean collects;
    private long round;
    private long gone;
    private long nextStep;
    /** The phase for which the table is read; 0: it is not being read. */
    private long phase;

    private int region;
    private int bucket;
    private int words;

    BlockCollector(MapServiceClient line, TableReader table, SpaceMemory space) {
        this.line = line;
        this.table = table;
        this.space = space;
    }

    /**
     * The service has chosen this process as its collector.
     *
     * @param goneServers a bit for each server whose part of the table no process has any more
     */
    void begin(long roundOfService, long goneServers) {
        collects = true;
        gone = goneServers;
        round = roundOfService;
        phase = 0;
        nextStep = System.nanoTime();
    }

    boolean isActive() {
        return collects;
    }

    long next() {
        return nextStep;
    }

    /** Continues the collection. @return whether there is more to do at once */
    boolean goOn() {
        if (!collects || System.nanoTime() - nextStep < 0) {
            return false;
        }
        return phase == 0 ? step() : scan();
    }

    private boolean step() {
        if (!line.with(1, round).call(MapCalls.STEP, 2)) {
            // If the service still wants the collection, it chooses a collector again.
            collects = false;
            return false;
        }
        long what = line.reply(1);
        if (what == MapCalls.WAIT) {
            nextStep = System.nanoTime() + WAIT_NANOS;
            return false;
        }
        if (what == MapCalls.SCAN) {
            phase = line.reply(2);
            region = 0;
            bucket = 0;
            words = 0;
        }
        collects = what != MapCalls.DONE;
        return collects;
    }

    private boolean isGone(int server) {
        return server < Long.SIZE && (gone >>> server & 1) != 0;
    }

    private boolean scan() {
        while (region < space.shape().tableRegions() && isGone(space.layout().serverOfTable(region))) {
            region++;
        }
        if (region == space.shape().tableRegions()) {
            boolean told = tell(true);
            phase = 0;
            collects &= told;
            return collects;
        }
        try {
            readBuckets();
        } catch (MapException e) {
            // A server is lost: without its part of the table the collection cannot continue.
            collects = false;
            return false;
        }
        collects = collects && (words == 0 || tell(false));
        bucket += TableReader.MOST_BUCKETS;
        if (bucket >= space.shape().bucketsPerRegion()) {
            region++;
            bucket = 0;
        }
        return collects;
    }

    private void readBuckets() {
        int slots = table.readSlots(region, bucket);
        for (int slot = 0; slot < slots && collects; slot++) {
            long word = table.word(slot);
            if (SlotWord.isLive(word)) {
                add(word);
            }
            if (SlotWord.isIndex(word)) {
                addPieces(bucket + slot / SpaceShape.BUCKET_SLOTS, slot % SpaceShape.BUCKET_SLOTS, word);
            }
        }
    }

    /**
     * Adds an index's pieces. If the index was used again, the slot may have another index with the same pieces, of a
     * touch.
     */
    private void addPieces(int ofBucket, int slot, long found) {
        long index = found;
        int pieces = isGone(space.serverOf(index)) ? 0 : table.readIndex(index);
        for (int again = 0; pieces == 0 && again < LOOKS; again++) {
            long word = table.readWord(region, ofBucket, slot);
            // Of an index on a server that is gone no process can find the pieces, so they are lost.
            if (word == index || !SlotWord.isIndex(word) || isGone(space.serverOf(word))) {
                return;
            }
            index = word;
            pieces = table.readIndex(index);
        }
        // If the index cannot be read, its pieces are not known, and the collection cannot continue.
        collects &= pieces > 0;
        for (int i = 0; i < pieces && collects; i++) {
            add(table.piece(i));
        }
    }

    /** Adds a block. Other calls use the arguments in between, so all blocks of one step are sent before it ends. */
    private void add(long word) {
        if (space.serverOf(word) == line.number) {
            line.with(5 + words++, word);
            if (words == MapCalls.MOST_WORDS) {
                collects = tell(false);
            }
        }
    }

    private boolean tell(boolean last) {
        line.with(1, round).with(2, phase).with(3, last ? 1 : 0).with(4, words);
        boolean told = line.call(MapCalls.NAMED, 5 + words);
        words = 0;
        return told;
    }
}
