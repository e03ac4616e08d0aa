package io.farheap.kv.eviction;

import static io.farheap.memory.NativeMemory.ALL;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.kv.blocks.BlockAllocator;
import io.farheap.kv.blocks.Mailbox;
import io.farheap.kv.blocks.Reclaimer;
import io.farheap.kv.format.BlockFormat;
import io.farheap.kv.format.Bucket;
import io.farheap.kv.format.MapCalls;
import io.farheap.kv.format.SizeClasses;
import io.farheap.kv.format.Slot;
import io.farheap.kv.format.SlotWord;
import io.farheap.kv.format.SpaceShape;
import io.farheap.kv.format.ValuePieces;
import io.farheap.kv.space.MapSessionCounts;
import io.farheap.kv.space.RequestColumns;
import io.farheap.kv.space.RequestPoster;
import io.farheap.kv.space.SpaceMemory;
import java.util.SplittableRandom;

/**
 * Makes room for a block: from the servers' services while they have any, else by eviction. One READ fetches buckets at
 * a random place, {@link VictimSelector} says which of their objects go, and the compare-and-swap that turns a slot
 * into a history entry decides whether it was this session that took its object out. What a sample gives beyond that
 * serves the session's next evictions ({@link VictimPool}), whichever requests they are for.
 */
public final class SampledEviction {

    private static final int SEGMENT = 0;
    private static final int SAMPLE = 1;
    private static final int VICTIM = 2;
    private static final int NO_ROOM = 3;
    private static final int HEADS = 4;
    private static final int PIECES = 5;
    private static final int NUMBER = 6;
    private static final int TWINS = 7;

    /**
     * Samples without a block of the size before the servers are asked for the last time; and after that, for objects
     * that are large enough, before there is no room.
     */
    private static final int SAMPLES = 64;

    /** Samples without one before the session gives up what it has of other sizes, and asks again. */
    private static final int IN_VAIN = 8;
    /**
     * After so many of another size, less in a small map, the services may have segments of which all blocks are free.
     */
    private static final long MISFITS = 128;

    private static final long MISFITS_SHARE = 256;

    private final RequestColumns operations;
    private final RequestPoster posts;
    private final SpaceMemory space;
    private final BlockAllocator allocator;
    private final Reclaimer reclaimer;
    private final VictimSelector victims;
    private final AccessRecords records;
    private final MapSessionCounts counts;
    private final SplittableRandom random;

    /** How many are read together. */
    private final int buckets;

    /** What the policy keeps in blocks, which are to be read then. */
    private final int extensionWords;

    /** Of each region. */
    private final int tableBuckets;

    private final int[] state;
    private final int[] sizeClass;
    private final int[] region;
    private final int[] bucket;
    /** Of the victim. */
    private final long[] victimBucketAt;

    /** Whether what the request posted last has a fetch-and-add of history numbers. */
    private final boolean[] numbered;
    /** Whether the request was promised one. */
    private final boolean[] promised;

    private final Mailbox mailbox;
    private final EvictionWaits waits;
    /** Requests for which the session has given back what it had of other sizes. */
    private final boolean[] gaveBack;
    /** Requests that have asked once more, where what was evicted did not help. */
    private final boolean[] askedLast;
    /** Requests that evict nothing. */
    private final boolean[] onlyFree;

    private final FingerprintMatches twins;

    /** Victims of another size than what was looked for. */
    private long misfits;

    private final long misfitsToAsk;

    private final VictimPool finds = new VictimPool();
    private final HistoryNumbers numbers;
    private final AccessClock clock;

    public SampledEviction(
            RequestColumns operations,
            RequestPoster posts,
            SpaceMemory space,
            BlockAllocator allocator,
            Mailbox mailbox,
            Reclaimer reclaimer,
            VictimSelector victims,
            AccessRecords records,
            AccessClock clock,
            MapSessionCounts counts,
            long seed) {
        this.clock = clock;
        this.operations = operations;
        this.posts = posts;
        this.space = space;
        this.allocator = allocator;
        this.mailbox = mailbox;
        this.reclaimer = reclaimer;
        this.victims = victims;
        this.records = records;
        this.counts = counts;
        this.random = new SplittableRandom(seed);
        misfitsToAsk = Math.clamp(space.shape().objects() / MISFITS_SHARE, 8, MISFITS);
        tableBuckets = space.shape().bucketsPerRegion();
        extensionWords = records.extensionWords();
        buckets = Math.min(RequestColumns.SAMPLE_BUCKETS, tableBuckets);
        state = new int[operations.count];
        sizeClass = new int[operations.count];
        region = new int[operations.count];
        bucket = new int[operations.count];
        victimBucketAt = new long[operations.count];
        numbers = new HistoryNumbers(operations.count);
        promised = new boolean[operations.count];
        numbered = new boolean[operations.count];
        waits = new EvictionWaits(operations, mailbox, allocator, reclaimer, sizeClass);
        gaveBack = new boolean[operations.count];
        askedLast = new boolean[operations.count];
        twins = new FingerprintMatches(operations);
        onlyFree = new boolean[operations.count];
    }

    /** Whether there would be a block of a class if nothing else were there: else nobody need be evicted for it. */
    public boolean mayHave(int sizeClassOfBlock) {
        return space.shape().hasBlocksOf(sizeClassOfBlock);
    }

    /** The same of a value in pieces. */
    public boolean mayHavePieces(int valueBytes) {
        int segmentUnits = space.shape().segmentBytes() / BlockFormat.UNIT_BYTES;
        return ValuePieces.leastSegments(extensionWords * Long.BYTES, valueBytes, segmentUnits) <= space.segments();
    }

    /** Posts the first step. */
    public void begin(int place, int sizeClassOfBlock) {
        sizeClass[place] = sizeClassOfBlock;
        operations.attempts[place] = 0;
        gaveBack[place] = false;
        askedLast[place] = false;
        onlyFree[place] = false;
        waits.begin(place);
        next(place);
    }

    /** The same, where nothing is to be evicted for it, and no larger block will do. */
    public void beginFree(int place, int sizeClassOfBlock) {
        sizeClass[place] = sizeClassOfBlock;
        operations.attempts[place] = 0;
        onlyFree[place] = true;
        next(place);
    }

    private void next(int place) {
        boolean moves = operations.kind[place] == RequestColumns.MOVE;
        if (moves ? mailbox.hopefulUnlessFull(sizeClass[place]) : mailbox.hopeful()) {
            ask(place, want(place));
        } else if (onlyFree[place]) {
            state[place] = NO_ROOM;
        } else if (operations.attempts[place] == IN_VAIN && !gaveBack[place]) {
            allocator.giveOthersBack(sizeClass[place]);
            gaveBack[place] = ask(place, MapCalls.AGAIN);
        } else if (numbers.spare() && posts.reach().all() && finds.any(mailbox.era(), clock.now(), leastUnits(place))) {
            evictFound(place);
        } else if (operations.attempts[place] < (askedLast[place] ? 2 * SAMPLES : SAMPLES)) {
            operations.attempts[place]++;
            sample(place);
        } else if (!askedLast[place]) {
            askedLast[place] = ask(place, MapCalls.LAST);
        } else {
            state[place] = NO_ROOM;
        }
    }

    /**
     * Of what is evicted. Any size will do at first: what is evicted makes segments free, so that they go to the sizes
     * that are asked for. Evicting only what is large enough would leave them to the sizes that were.
     */
    private int leastUnits(int place) {
        return askedLast[place] || waits.stuck(place) ? SizeClasses.units(sizeClass[place]) : 0;
    }

    private long want(int place) {
        if (onlyFree[place]) {
            return MapCalls.FREE_BLOCKS;
        }
        return gaveBack[place] ? MapCalls.AGAIN : MapCalls.FIRST;
    }

    /**
     * Waits for an answer of the services.
     *
     * @return whether it is one to this question; else another request's, and this one is to ask again
     */
    private boolean ask(int place, long want) {
        state[place] = SEGMENT;
        // It has read nothing that it will use: what it looks for may be made of blocks that others know.
        operations.knows(place, 0);
        boolean asked = mailbox.ask(sizeClass[place], largest(place), want);
        waits.forAnswer(place);
        return asked;
    }

    private void sample(int place) {
        state[place] = SAMPLE;
        region[place] = posts.reach().nearest(random.nextInt(space.shape().tableRegions()));
        int first = random.nextInt(tableBuckets);
        int atEnd = Math.min(buckets, tableBuckets - first);
        bucket[place] = first;
        posts.beginList();
        posts.readSample(place, region[place], first, atEnd, 0);
        if (atEnd < buckets) {
            // The region's last bucket and its first are neighbours, so that all are read equally often.
            posts.readSample(place, region[place], 0, buckets - atEnd, atEnd);
        }
        promise(place);
        askForNumbers(place);
        posts.endList();
    }

    private void promise(int place) {
        promised[place] = true;
        numbers.promise();
    }

    /** With what is posted now: as many ahead as requests in flight may want until the answer is there. */
    private void askForNumbers(int place) {
        if (numbers.few(Math.min(HistoryNumbers.AT_ONCE, operations.inUse()))
                && posts.reach().region(0)) {
            addNumbers(place);
        }
    }

    private void addNumbers(int place) {
        numbered[place] = true;
        numbers.ask();
        posts.add(place, space.region(0), SpaceShape.HISTORY_COUNTER, HistoryNumbers.AT_ONCE);
    }

    private void takeNumbers(int place) {
        if (numbered[place]) {
            numbered[place] = false;
            long number = posts.counted(place);
            numbers.came(number);
            records.historyIsAt(number + HistoryNumbers.AT_ONCE);
        }
    }

    /** A connection failed during a request's last step, which is one of these. */
    public void abandon(int place) {
        if (state[place] == VICTIM && posts.found(place) == operations.word[place]) {
            evicted(place);
        }
        if (numbered[place]) {
            numbered[place] = false;
            numbers.lost();
        }
        keepPromise(place);
    }

    private void keepPromise(int place) {
        if (promised[place]) {
            promised[place] = false;
            numbers.keep();
        }
    }

    /**
     * Goes on; begins the next step if the block is not there yet.
     *
     * @return the block; or {@link BlockAllocator#NONE}, then see {@link #none}
     */
    public long advance(int place) {
        takeNumbers(place);
        switch (state[place]) {
            case SEGMENT, PIECES, NUMBER -> {}
            case SAMPLE -> {
                if (extensionWords > 0 && leastUnits(place) == 0) {
                    readHeads(place);
                    return BlockAllocator.NONE;
                }
                if (evict(place)) {
                    return BlockAllocator.NONE;
                }
            }
            case HEADS -> {
                if (evict(place)) {
                    return BlockAllocator.NONE;
                }
            }
            case TWINS -> {
                if (evictOfTwins(place)) {
                    return BlockAllocator.NONE;
                }
            }
            default -> {
                evicted(place);
                if (!reclaimer.isIdle()) {
                    // There will be more than was asked for.
                    state[place] = PIECES;
                    waits.forPieces(place);
                    return BlockAllocator.NONE;
                }
            }
        }
        if (!waits.isAsking() && mailbox.hasBlocks()) {
            // They came too late for who asked.
            allocator.takeGiven(sizeClass[place]);
        }
        long block = allocator.take(sizeClass[place], largest(place));
        if (block == BlockAllocator.NONE) {
            next(place);
        }
        return block;
    }

    /** Reads what the policy keeps with the objects of the sample. */
    private void readHeads(int place) {
        state[place] = HEADS;
        int number = 0;
        posts.beginList();
        for (int slot = 0; slot < buckets * SpaceShape.BUCKET_SLOTS && number < RequestColumns.SAMPLE_HEADS; slot++) {
            long bucketCopy =
                    operations.sample(place) + (long) (slot / SpaceShape.BUCKET_SLOTS) * SpaceShape.BUCKET_BYTES;
            int slotOfBucket = slot % SpaceShape.BUCKET_SLOTS;
            long word = Bucket.word(bucketCopy, slotOfBucket);
            if (SlotWord.isLive(word)) {
                // Where it cannot be read, it is of no incarnation that there is.
                ALL.set(JAVA_LONG, operations.sampledHead(place, number), 0);
                posts.readHead(place, word, RequestColumns.sampledHeadAt(place, number++), extensionWords);
            }
        }
        posts.endList();
    }

    /** What the services give is right; any block that is large enough will do, where nothing else has helped. */
    private int largest(int place) {
        if (onlyFree[place]) {
            return sizeClass[place];
        }
        int near = Math.max(SizeClasses.near(sizeClass[place]), waits.given(place));
        return operations.attempts[place] >= IN_VAIN ? SizeClasses.COUNT - 1 : near;
    }

    public EvictionWaits waits() {
        return waits;
    }

    /** Whether there is none. */
    public boolean none(int place) {
        return state[place] == NO_ROOM;
    }

    /** Looks for victims in the sample that is there; says whether the request goes on with one. */
    private boolean evict(int place) {
        keepPromise(place);
        long sample = operations.sample(place);
        int least = leastUnits(place);
        // Where few are large enough, all of them are looked at, and not those alone whose heads would be read.
        long heads = extensionWords == 0 || least > 0 ? 0 : operations.sampledHead(place, 0);
        victims.begin(sample, buckets, heads, false, least);
        int slot = victims.choose();
        if (slot == Bucket.NONE) {
            return false;
        }
        if (numbers.any() || !posts.reach().region(0)) {
            long copy = bucketCopy(sample, slot);
            victimBucketAt[place] = bucketAt(place, slot);
            evictOrLook(place, copy, slot % SpaceShape.BUCKET_SLOTS);
            slot = victims.choose();
        } else {
            // They come from another server than the sample.
            state[place] = NUMBER;
            addNumbers(place);
        }
        if (slot != Bucket.NONE) {
            keepFinds(place, sample, slot);
        }
        return true;
    }

    /**
     * Evicts the object of a slot; or first reads the heads of its block and of those in higher slots that may have the
     * same key. Where these are too many, or one names no block that can be, the highest goes.
     */
    private void evictOrLook(int place, long copy, int slot) {
        operations.block[place] = victims.experts();
        if (!twins.find(place, copy, slot, space)) {
            int highest = twins.highest(place);
            evict(place, highest, Bucket.word(copy, highest));
            return;
        }
        state[place] = TWINS;
        promise(place);
        twins.readHeads(place, posts);
    }

    /**
     * The heads are there.
     *
     * @return false where it needs a history number first
     */
    private boolean evictOfTwins(int place) {
        keepPromise(place);
        if (!numbers.any() && posts.reach().region(0)) {
            return false;
        }
        int goes = twins.goes(place);
        evict(place, twins.slot(place, goes), twins.word(place, goes));
        return true;
    }

    /** What the sample gives from a slot on; those that are to be looked at more closely are not kept. */
    private void keepFinds(int place, long sample, int firstSlot) {
        long now = clock.now();
        int sampledRegion = region[place];
        for (int slot = firstSlot; slot != Bucket.NONE; slot = victims.choose()) {
            long copy = bucketCopy(sample, slot);
            int slotOfBucket = slot % SpaceShape.BUCKET_SLOTS;
            if (Bucket.mayEvict(copy, slotOfBucket)) {
                finds.add(
                        sampledRegion,
                        bucketAt(place, slot),
                        slotOfBucket,
                        Bucket.word(copy, slotOfBucket),
                        victims.experts(),
                        operations.era(place),
                        Bucket.accessed(copy, slotOfBucket),
                        now);
            }
        }
    }

    private static long bucketCopy(long sample, int slot) {
        return sample + (long) (slot / SpaceShape.BUCKET_SLOTS) * SpaceShape.BUCKET_BYTES;
    }

    /** Where the bucket of a slot of the sample is in its region. */
    private long bucketAt(int place, int slot) {
        return space.shape().bucketAt((bucket[place] + slot / SpaceShape.BUCKET_SLOTS) % tableBuckets);
    }

    private void evictFound(int place) {
        int find = finds.first();
        finds.take();
        region[place] = finds.region(find);
        victimBucketAt[place] = finds.bucketAt(find);
        operations.block[place] = finds.experts(find);
        evict(place, finds.slot(find), finds.word(find));
    }

    /** A slot of the victim's bucket becomes a history entry. */
    private void evict(int place, int slot, long word) {
        operations.slot[place] = slot;
        operations.word[place] = word;
        state[place] = VICTIM;
        finds.evicts();
        long history = numbers.any() ? SlotWord.history(numbers.take(), SlotWord.fingerprint(word)) : SlotWord.EMPTY;
        posts.beginList();
        posts.swap(place, space.region(region[place]), victimBucketAt[place], slot, word, history);
        askForNumbers(place);
        posts.endList();
    }

    private void evicted(int place) {
        if (posts.found(place) == operations.word[place]) {
            counts.add(MapSessionCounts.EVICTED);
            counts.evictedBy(operations.block[place]);
            if (SizeClasses.of(SlotWord.units(operations.word[place])) != sizeClass[place]
                    && ++misfits % misfitsToAsk == 0) {
                mailbox.hopeAnew();
            }
            reclaimer.reclaim(operations.word[place]);
            operations.takes(place, SlotWord.EMPTY);
            posts.hintWrite(
                    space.region(region[place]),
                    victimBucketAt[place] + Slot.offset(operations.slot[place]) + Slot.INSERTED,
                    operations.block[place]);
        } else {
            counts.add(MapSessionCounts.VICTIMS_LOST);
        }
    }

    /** The slot of a full bucket whose object makes way for another of that bucket. */
    public int victimOf(long fullBucket) {
        victims.begin(fullBucket, 1, 0, true, 0);
        int slot = victims.choose();
        return slot == Bucket.NONE ? SpaceShape.BUCKET_SLOTS - 1 : slot;
    }
}
