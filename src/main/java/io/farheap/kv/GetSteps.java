package io.farheap.kv;

import io.farheap.memory.NativeMemory;
import java.lang.foreign.MemorySegment;

/**
 * A get: a READ of the key's bucket, and one of the block that its slot names. It takes effect at the former: a block
 * that has the incarnation that its slot said was the key's then. One that has not was used again since, so the slot
 * has changed, and the bucket is read anew. An object whose time is over is taken out before it is said to be absent:
 * so nothing that found it earlier brings it back.
 */
final class GetSteps implements Steps {

    private static final int BUCKET = Operations.OWN_STEPS;
    private static final int BLOCK = Operations.OWN_STEPS + 1;
    /** Takes out a slot that names what cannot be read. */
    private static final int UNLINK = Operations.OWN_STEPS + 2;
    /** Takes out an object whose time is over. */
    private static final int EXPIRED = Operations.OWN_STEPS + 3;

    /** Waits for its turn to read the pieces of a value. */
    private static final int TURN = Operations.OWN_STEPS + 4;

    private static final int PIECES = Operations.OWN_STEPS + 5;

    /** A block that is broken while its slot stays as it is stays broken. */
    private static final int BROKEN = 8;

    private static final MemorySegment ALL = NativeMemory.ALL;

    private final Operations operations;
    private final Posts posts;
    private final Ending ending;
    private final TakeOut takeOut;
    private final ValueReader reader;
    private final AccessRecords records;
    private final MapClock clock;
    private final Counts counts;

    GetSteps(
            Operations operations,
            Posts posts,
            Ending ending,
            TakeOut takeOut,
            ValueReader reader,
            AccessRecords records,
            MapClock clock,
            Counts counts) {
        this.operations = operations;
        this.posts = posts;
        this.ending = ending;
        this.takeOut = takeOut;
        this.reader = reader;
        this.records = records;
        this.clock = clock;
        this.counts = counts;
    }

    @Override
    public void begin(int place) {
        operations.word[place] = SlotWord.EMPTY;
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
            case EXPIRED -> takenOut(place);
            case TURN -> readPieces(place);
            case PIECES -> join(place);
            default -> ending.end(place, KvStatus.ABSENT);
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
        operations.attempts[place] = word == operations.word[place] ? operations.attempts[place] + 1 : 0;
        operations.slot[place] = slot;
        operations.word[place] = word;
        operations.step[place] = BLOCK;
        if (operations.attempts[place] > BROKEN || !posts.readBlock(place, word)) {
            unlink(place);
        }
    }

    private void check(int place) {
        long block = operations.blockCopy(place);
        long word = operations.word[place];
        int slot = operations.slot[place];
        if (!BlockFormat.isWhole(ALL, block, word)) {
            readAgain(place);
        } else if (!Keys.equal(block, operations.key[place], operations.keyBytes[place])) {
            readBlockOf(place, slot + 1);
        } else if (clock.expired(BlockFormat.expiryMillis(ALL, block))) {
            operations.step[place] = EXPIRED;
            takeOut.begin(place);
        } else if (SlotWord.isIndex(word)) {
            readPieces(place);
        } else {
            found(place);
        }
    }

    private void readAgain(int place) {
        counts.add(Counts.READ_AGAIN);
        readBucket(place);
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
        if (!reader.begin()) {
            reader.release();
            readAgain(place);
        } else {
            reader.readMore();
        }
    }

    private void join(int place) {
        if (reader.readMore()) {
            return;
        }
        if (reader.join()) {
            found(place);
        } else {
            // Others have taken the object out since, so the slot has changed.
            reader.release();
            readAgain(place);
        }
    }

    private void takenOut(int place) {
        switch (takeOut.advance(place)) {
            case TakeOut.DONE -> ending.end(place, KvStatus.ABSENT);
            case TakeOut.CHANGED -> readBucket(place);
            default -> {}
        }
    }

    private void unlink(int place) {
        if (!Bucket.mayEvict(operations.bucket(place), operations.slot[place])) {
            // A higher slot may have a former value of the key, which must not come back.
            ending.end(place, KvStatus.ABSENT);
            return;
        }
        counts.add(Counts.UNLINKED);
        operations.step[place] = UNLINK;
        posts.swap(place, operations.slot[place], operations.word[place], SlotWord.EMPTY);
    }

    @Override
    public void abandon(int place) {
        ending.end(place, KvStatus.LOST);
    }
}
