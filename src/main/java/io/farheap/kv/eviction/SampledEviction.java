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
 * Gets a block for a request: from the servers' services while they have any, else by evicting an object.
 *
 * <p>No client keeps a list of objects in the order of their use. Instead one READ fetches some buckets at a random
 * place, slots with their metadata, and a policy compares the objects in them ({@link VictimSelector}). A
 * compare-and-swap then turns the victim's slot into a history entry. It fails if the slot's word has changed, so of
 * several clients that evict the same object at most one succeeds, and that one owns the block. Victims that a sample
 * gives beyond the one that is needed serve the session's next evictions, whichever requests they are for
 * ({@link VictimPool}).
 *
 * <p>A request takes these steps until it has a block; {@link #next} chooses the next one. It asks the services while
 * they may have something. Otherwise it evicts a victim from the pool, or one from a new sample, of any size at first:
 * blocks of other sizes that are evicted empty segments, whose class the services can change. After {@link #IN_VAIN}
 * samples without a block that fits, it gives the session's free blocks of other sizes back and asks again. After
 * {@link #SAMPLES} it asks for the last time, and then evicts only objects that are large enough; after as many samples
 * again there is no room.
 *
 * <p>One thread; a request is named by its place in {@link RequestColumns}.
 */
public final class SampledEviction {

    private static final int SEGMENT = 0;
    private static final int SAMPLE = 1;
    private static final int VICTIM = 2;
    private static final int NO_ROOM = 3;
    private static final int HEADS = 4;
    private static final int PIECES = 5;
    private static final int NUMBER = 6;

    /**
     * How many samples without a block that fits a request takes before it asks the servers for the last time; and
     * after that, of objects that are large enough, before there is no room.
     */
    private static final int SAMPLES = 64;

    /**
     * How many samples without a block that fits a request takes before the session gives its blocks of other sizes
     * back.
     */
    private static final int IN_VAIN = 8;
    /**
     * After so many victims of another size, or fewer in a small map, the services may have segments whose blocks are
     * all free.
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

    /** How many buckets are read together. */
    private final int buckets;

    /** Words that the policy keeps in blocks; if there are any, a sample's heads are read. */
    private final int extensionWords;

    /** Buckets of each region. */
    private final int tableBuckets;

    private final int[] state;
    private final int[] sizeClass;
    private final int[] region;
    private final int[] bucket;
    /** The offset of the victim's bucket in its region. */
    private final long[] victimBucketAt;

    /** The word that takes the place of the victim's. */
    private final long[] entries;

    /** Whether the list that the request posted last has a fetch-and-add for history numbers. */
    private final boolean[] numbered;
    /** Whether the request was promised a history number. */
    private final boolean[] promised;

    private final Mailbox mailbox;
    private final EvictionWaits waits;
    /** Requests for which the session has given its blocks of other sizes back. */
    private final boolean[] gaveBack;
    /** Requests that have asked for the last time, since evicting did not help. */
    private final boolean[] askedLast;
    /** Requests for which no object is evicted. */
    private final boolean[] onlyFree;

    /** Victims of another size than the request needed. */
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
        entries = new long[operations.count];
        numbers = new HistoryNumbers(operations.count);
        promised = new boolean[operations.count];
        numbered = new boolean[operations.count];
        waits = new EvictionWaits(operations, mailbox, allocator, reclaimer, sizeClass);
        gaveBack = new boolean[operations.count];
        askedLast = new boolean[operations.count];
        onlyFree = new boolean[operations.count];
    }

    /** Whether an empty map would have a block of this class: if not, evicting objects for it is in vain. */
    public boolean mayHave(int sizeClassOfBlock) {
        return space.shape().hasBlocksOf(sizeClassOfBlock);
    }

    /** The same for a value in pieces. */
    public boolean mayHavePieces(int valueBytes) {
        int segmentUnits = space.shape().segmentBytes() / BlockFormat.UNIT_BYTES;
        return ValuePieces.leastSegments(extensionWords * Long.BYTES, valueBytes, segmentUnits) <= space.segments();
    }

    /** Begins to look for a block, and posts the first step. */
    public void begin(int place, int sizeClassOfBlock) {
        sizeClass[place] = sizeClassOfBlock;
        operations.attempts[place] = 0;
        gaveBack[place] = false;
        askedLast[place] = false;
        onlyFree[place] = false;
        waits.begin(place);
        next(place);
    }

    /** The same, but evicts nothing, and takes no block of a larger class. */
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
     * The least size of an object to evict. Any size will do at first: evicting empties segments, and these go to the
     * classes that are asked for. If only objects that are large enough were evicted, the memory would stay with the
     * classes that have it.
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
     * @return true if this question is asked, or an earlier one is answered or has waited too long; false if an earlier
     *     one has no answer yet, so that this request waits for that answer and then has to ask again
     */
    private boolean ask(int place, long want) {
        state[place] = SEGMENT;
        // The request has read nothing that it will use, so it must not hold back the reuse of blocks that others know.
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
            // The region's first bucket follows its last one, so that all buckets are sampled equally often.
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

    /**
     * Adds a fetch-and-add to the list, if there are fewer numbers than requests in flight may want until its answer.
     */
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

    /** A connection failed during the request's last step. */
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
     * Continues a request whose last step has ended, and begins the next step if there is no block yet.
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
            default -> {
                if (posts.heldBack(place)) {
                    swap(place);
                    return BlockAllocator.NONE;
                }
                evicted(place);
                if (!reclaimer.isIdle()) {
                    // The pieces will be free soon, and are more than was asked for.
                    state[place] = PIECES;
                    waits.forPieces(place);
                    return BlockAllocator.NONE;
                }
            }
        }
        if (!waits.isAsking() && mailbox.hasBlocks()) {
            // An answer that came too late for the request that asked.
            allocator.takeGiven(sizeClass[place]);
        }
        long block = allocator.take(sizeClass[place], largest(place));
        if (block == BlockAllocator.NONE) {
            next(place);
        }
        return block;
    }

    /** Reads the extensions that the policy keeps with the objects of the sample. */
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
                // If the READ fails, the head has incarnation 0, which no block has.
                ALL.set(JAVA_LONG, operations.sampledHead(place, number), 0);
                posts.readHead(place, word, RequestColumns.sampledHeadAt(place, number++), extensionWords);
            }
        }
        posts.endList();
    }

    /** The largest class of block that will do: what the services gave, or any class once some samples were in vain. */
    private int largest(int place) {
        if (onlyFree[place]) {
            return sizeClass[place];
        }
        int near = Math.max(SizeClasses.near(sizeClass[place]), waits.given(place));
        return operations.attempts[place] >= IN_VAIN ? SizeClasses.COUNT - 1 : near;
    }

    /** The requests that wait. */
    public EvictionWaits waits() {
        return waits;
    }

    /** Whether there is no room. */
    public boolean none(int place) {
        return state[place] == NO_ROOM;
    }

    /** Looks for victims in the sample that was read; returns whether the request continues with one. */
    private boolean evict(int place) {
        keepPromise(place);
        long sample = operations.sample(place);
        int least = leastUnits(place);
        // If a least size is asked for, few objects have it, so all are looked at, and not only those whose heads are
        // read.
        long heads = extensionWords == 0 || least > 0 ? 0 : operations.sampledHead(place, 0);
        victims.begin(sample, buckets, heads, false, least);
        int slot = victims.choose();
        if (slot == Bucket.NONE) {
            return false;
        }
        if (numbers.any() || !posts.reach().region(0)) {
            long copy = bucketCopy(sample, slot);
            int slotOfBucket = slot % SpaceShape.BUCKET_SLOTS;
            victimBucketAt[place] = bucketAt(place, slot);
            operations.block[place] = Bucket.historyRecord(Bucket.hash(copy, slotOfBucket), victims.experts());
            evict(place, slotOfBucket, Bucket.word(copy, slotOfBucket));
            slot = victims.choose();
        } else {
            // The number comes from another server than the sample, and is not here yet.
            state[place] = NUMBER;
            addNumbers(place);
        }
        if (slot != Bucket.NONE) {
            keepFinds(place, sample, slot);
        }
        return true;
    }

    /** Keeps the sample's victims from a slot on. */
    private void keepFinds(int place, long sample, int firstSlot) {
        long now = clock.now();
        int sampledRegion = region[place];
        for (int slot = firstSlot; slot != Bucket.NONE; slot = victims.choose()) {
            long copy = bucketCopy(sample, slot);
            int slotOfBucket = slot % SpaceShape.BUCKET_SLOTS;
            finds.add(
                    sampledRegion,
                    bucketAt(place, slot),
                    slotOfBucket,
                    Bucket.word(copy, slotOfBucket),
                    Bucket.historyRecord(Bucket.hash(copy, slotOfBucket), victims.experts()),
                    operations.era(place),
                    Bucket.accessed(copy, slotOfBucket),
                    now);
        }
    }

    private static long bucketCopy(long sample, int slot) {
        return sample + (long) (slot / SpaceShape.BUCKET_SLOTS) * SpaceShape.BUCKET_BYTES;
    }

    /** The offset in its region of the bucket with a slot of the sample. */
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

    /** Posts the compare-and-swap that turns a slot of the victim's bucket into a history entry. */
    private void evict(int place, int slot, long word) {
        operations.slot[place] = slot;
        operations.word[place] = word;
        state[place] = VICTIM;
        finds.evicts();
        long history = numbers.any() ? SlotWord.history(numbers.take(), SlotWord.fingerprint(word)) : SlotWord.EMPTY;
        entries[place] = history;
        posts.beginList();
        swap(place);
        askForNumbers(place);
        posts.endList();
    }

    private void swap(int place) {
        posts.swap(
                place,
                space.region(region[place]),
                victimBucketAt[place],
                operations.slot[place],
                operations.word[place],
                entries[place]);
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

    /** The slot of a full bucket whose object makes way for another object of that bucket. */
    public int victimOf(long fullBucket) {
        victims.begin(fullBucket, 1, 0, true, 0);
        int slot = victims.choose();
        return slot == Bucket.NONE ? SpaceShape.BUCKET_SLOTS - 1 : slot;
    }
}
