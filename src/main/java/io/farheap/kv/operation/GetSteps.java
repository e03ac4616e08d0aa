package io.farheap.kv.operation;

import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.eviction.AccessRecords;
import io.farheap.kv.format.BlockChecksum;
import io.farheap.kv.format.BlockFormat;
import io.farheap.kv.format.Bucket;
import io.farheap.kv.format.PaddedKeys;
import io.farheap.kv.format.SlotWord;
import io.farheap.kv.space.MapClock;
import io.farheap.kv.space.MapSessionCounts;
import io.farheap.kv.space.RequestColumns;
import io.farheap.kv.space.RequestPoster;
import io.farheap.memory.NativeMemory;
import java.lang.foreign.MemorySegment;

/**
 * A get: a READ of the key's bucket, and one of the block that its slot names. It takes effect at the former: if the
 * block has the incarnation that the slot named, it was the key's block at that moment. If not, the block was reused
 * since, so the slot has changed, and the bucket is read again. An expired object is removed before the get reports the
 * key as absent; so no request that found the object earlier brings it back.
 */
public final class GetSteps implements RequestSteps {

    private static final int BUCKET = RequestColumns.OWN_STEPS;
    private static final int BLOCK = RequestColumns.OWN_STEPS + 1;
    /** Removes an expired object, or a slot that names a block which cannot be read. */
    private static final int TAKE_OUT = RequestColumns.OWN_STEPS + 2;
    /** Waits for its turn to read the pieces of a value. */
    private static final int TURN = RequestColumns.OWN_STEPS + 3;

    private static final int PIECES = RequestColumns.OWN_STEPS + 4;

    private static final MemorySegment ALL = NativeMemory.ALL;

    private final RequestColumns operations;
    private final RequestPoster posts;
    private final RequestSink ending;
    private final FailedRequestBlocks doubts;
    private final StaleObjectRemoval takeOut;
    private final ValueReader reader;
    private final AccessRecords records;
    private final MapClock clock;
    private final MapSessionCounts counts;
    private final BlockChecksum checksum;

    GetSteps(MapSessionParts parts) {
        operations = parts.operations();
        posts = parts.posts();
        ending = parts.ending();
        doubts = parts.doubts();
        takeOut = parts.takeOut();
        reader = parts.reader();
        records = parts.records();
        clock = parts.clock();
        counts = parts.counts();
        checksum = parts.checksum();
    }

    @Override
    public void begin(int place) {
        operations.attempts[place] = 0;
        readBucket(place);
    }

    private void readBucket(int place) {
        operations.step[place] = BUCKET;
        posts.readBucket(place);
    }

    @Override
    public void advance(int place) {
        switch (operations.step[place]) {
            case BUCKET -> readBlockOf(place, 0);
            case BLOCK -> check(place);
            case TAKE_OUT -> takenOut(place);
            case TURN -> readPieces(place);
            case PIECES -> join(place);
            default -> throw new IllegalStateException("step " + operations.step[place]);
        }
    }

    private void readBlockOf(int place, int from) {
        long bucket = operations.bucket(place);
        int slot = Bucket.find(bucket, operations.hash[place], from);
        if (slot == Bucket.NONE) {
            records.missed(bucket, operations.hash[place]);
            ending.end(place, KvStatus.ABSENT);
            return;
        }
        long word = Bucket.word(bucket, slot);
        operations.slot[place] = slot;
        operations.word[place] = word;
        operations.step[place] = BLOCK;
        if (!posts.readBlock(place, word)) {
            unlink(place);
        }
    }

    private void check(int place) {
        long block = operations.blockCopy(place);
        long word = operations.word[place];
        int slot = operations.slot[place];
        if (!BlockFormat.isWhole(ALL, block, word, checksum)) {
            readAgain(place);
        } else if (!PaddedKeys.equal(block, operations.key[place], operations.keyBytes[place])) {
            readBlockOf(place, slot + 1);
        } else if (clock.expired(BlockFormat.expiryMillis(ALL, block))) {
            operations.step[place] = TAKE_OUT;
            takeOut.begin(place);
        } else if (SlotWord.isIndex(word)) {
            readPieces(place);
        } else {
            found(place);
        }
    }

    /** A block is not whole: it was reused, so the slot has changed, or it is broken. */
    private void readAgain(int place) {
        if (operations.staysBroken(place, operations.word[place])) {
            unlink(place);
        } else {
            counts.add(MapSessionCounts.READ_AGAIN);
            readBucket(place);
        }
    }

    private void found(int place) {
        records.accessed(
                operations.hash[place],
                operations.bucket(place),
                operations.slot[place],
                operations.blockCopy(place),
                operations.word[place]);
        ending.end(place, KvStatus.DONE);
    }

    private void readPieces(int place) {
        operations.step[place] = TURN;
        if (!reader.take(place)) {
            return;
        }
        operations.step[place] = PIECES;
        switch (reader.begin()) {
            case ValueReader.BEGUN -> reader.readMore();
            case ValueReader.NO_MEMORY -> ending.end(place, KvStatus.NO_MEMORY);
            default -> {
                reader.release();
                readAgain(place);
            }
        }
    }

    private void join(int place) {
        if (reader.readMore()) {
            return;
        }
        if (reader.join()) {
            found(place);
        } else {
            reader.release();
            readAgain(place);
        }
    }

    private void takenOut(int place) {
        if (takeOut.end(place) == StaleObjectRemoval.DONE) {
            ending.end(place, KvStatus.ABSENT);
        } else {
            readBucket(place);
        }
    }

    /** Empties a slot that names a block which cannot be read: the slot may have been the key's. */
    private void unlink(int place) {
        operations.step[place] = TAKE_OUT;
        takeOut.beginBroken(place);
    }

    @Override
    public void again(int place) {
        if (reader.isOf(place)) {
            reader.release();
        }
        doubts.leave(place);
        begin(place);
    }

    @Override
    public void abandon(int place) {
        ending.end(place, KvStatus.LOST);
    }
}
