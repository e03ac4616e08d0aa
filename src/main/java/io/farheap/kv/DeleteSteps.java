package io.farheap.kv;

import io.farheap.memory.NativeMemory;

/**
 * A delete: a READ of the key's bucket and a compare-and-swap that empties its slot, where it takes effect; of several
 * slots of the key the highest goes first, as {@link Settling} needs it. The block, which is read before, says whether
 * it is the key's, and whether its time was over, so that nothing was deleted. A slot whose block cannot be read is
 * emptied too, and counts as absent: another process may be able to read it.
 */
final class DeleteSteps implements Steps {

    private static final int BUCKET = Operations.OWN_STEPS;
    private static final int PROBE = Operations.OWN_STEPS + 1;
    private static final int SWAP = Operations.OWN_STEPS + 2;

    private final Operations operations;
    private final Posts posts;
    private final Ending ending;
    private final Reclaimer reclaimer;
    private final MapClock clock;
    private final Counts counts;
    /** Whether the request has taken out a slot. */
    private final boolean[] deleted;
    /** Whether the slot that it empties names what cannot be read. */
    private final boolean[] broken;

    DeleteSteps(Operations operations, Posts posts, Ending ending, Reclaimer reclaimer, MapClock clock, Counts counts) {
        this.operations = operations;
        this.posts = posts;
        this.ending = ending;
        this.reclaimer = reclaimer;
        this.clock = clock;
        this.counts = counts;
        deleted = new boolean[operations.count];
        broken = new boolean[operations.count];
    }

    @Override
    public void begin(int place) {
        deleted[place] = false;
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
            case BUCKET -> look(place, SpaceShape.BUCKET_SLOTS);
            case PROBE -> probed(place);
            default -> swapped(place);
        }
    }

    /** @param below slots from this one on have been looked at */
    private void look(int place, int below) {
        long bucket = operations.bucket(place);
        long hash = operations.hash[place];
        int slot = Bucket.findLast(bucket, hash, below);
        if (slot == Bucket.NONE) {
            ending.end(place, deleted[place] ? KvStatus.DONE : KvStatus.ABSENT);
            return;
        }
        operations.slot[place] = slot;
        operations.word[place] = Bucket.word(bucket, slot);
        operations.step[place] = PROBE;
        if (!posts.readBlock(place, operations.word[place])) {
            swap(place, true);
        }
    }

    /** The block says whose it is: what is answered is to be right. */
    private void probed(int place) {
        long word = operations.word[place];
        long block = operations.blockCopy(place);
        boolean whole = BlockFormat.isWhole(NativeMemory.ALL, block, word);
        if (whole && Keys.equal(block, operations.key[place], operations.keyBytes[place])) {
            swap(place, false);
        } else if (whole) {
            look(place, operations.slot[place]);
        } else if (operations.staysBroken(place, word)) {
            swap(place, true);
        } else {
            readBucket(place);
        }
    }

    private void swap(int place, boolean unreadable) {
        broken[place] = unreadable;
        operations.step[place] = SWAP;
        posts.swap(place, operations.slot[place], operations.word[place], SlotWord.EMPTY);
    }

    private void swapped(int place) {
        if (posts.found(place) != operations.word[place]) {
            counts.add(Counts.SWAPS_LOST);
            readBucket(place);
            return;
        }
        if (broken[place]) {
            // Its block, if it is one, is the services' to find.
            counts.add(Counts.UNLINKED);
        } else {
            reclaimer.reclaim(operations.word[place]);
            deleted[place] |= !clock.expired(BlockFormat.expiryMillis(NativeMemory.ALL, operations.blockCopy(place)));
        }
        look(place, operations.slot[place]);
    }

    @Override
    public void abandon(int place) {
        ending.end(place, KvStatus.LOST);
    }
}
