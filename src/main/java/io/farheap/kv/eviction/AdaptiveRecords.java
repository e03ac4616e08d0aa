package io.farheap.kv.eviction;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.kv.blocks.Mailbox;
import io.farheap.kv.format.BlockFormat;
import io.farheap.kv.format.Bucket;
import io.farheap.kv.format.Slot;
import io.farheap.kv.format.SlotWord;
import io.farheap.kv.format.SpaceShape;
import io.farheap.kv.format.ValuePieces;
import io.farheap.kv.policy.ObjectMetadata;
import io.farheap.kv.replacement.FrequencyCounterCache;
import io.farheap.kv.replacement.HistoryIds;
import io.farheap.kv.replacement.Replacement;
import io.farheap.kv.space.MapSessionCounts;
import io.farheap.kv.space.PointerCache;
import io.farheap.kv.space.RequestColumns;
import io.farheap.kv.space.RequestPoster;
import io.farheap.kv.space.SpaceMemory;
import io.farheap.memory.NativeMemory;
import java.lang.foreign.MemorySegment;

/**
 * Connects a session's slots with its {@link Replacement}, which decides (Ditto, section 4.3). Frequencies are added up
 * in the session before they go to the table ({@link FrequencyCounterCache}, section 4.2.2). One thread.
 */
public final class AdaptiveRecords implements AccessRecords, VictimSelector {

    private static final MemorySegment ALL = NativeMemory.ALL;
    private static final long NEVER_EXPIRES = 0;
    /** One of so many accesses looks at the other objects of the bucket. A power of two. */
    private static final int LOOK_EVERY = 16;

    /**
     * Ticks for which a count is held back at most, while the session counts others or is polled with nothing in
     * flight.
     */
    private static final long MOST_HELD = 1_000_000_000;
    /** How many counts that have waited too long one poll of an idle session sends. */
    private static final int OLD_AT_ONCE = 8;

    /**
     * The slot's address for {@link FrequencyCounterCache}: its offset, with the region's number above so many bits.
     */
    private static final int REGION_SHIFT = 40;

    private final RequestPoster posts;
    private final SpaceMemory space;
    private final AccessClock clock;
    private final Replacement replacement;
    private final FrequencyCounterCache frequencies;
    private final MapSessionCounts counts;
    private final PointerCache pointers;
    private final int extensionWords;
    private final ObjectMetadata metadata = new ObjectMetadata();
    private long newestHistory;
    private int accesses;

    public AdaptiveRecords(
            RequestPoster posts,
            SpaceMemory space,
            AccessClock clock,
            EvictionSettings policy,
            MapSessionCounts counts,
            PointerCache pointers,
            long seed) {
        this.pointers = pointers;
        this.posts = posts;
        this.counts = counts;
        this.space = space;
        this.clock = clock;
        this.replacement = policy.replacement(space.shape().objects(), seed);
        this.extensionWords = replacement.extensionWords();
        this.frequencies = new FrequencyCounterCache(
                policy.frequencyBytes(), policy.frequencyThreshold(), MOST_HELD, this::addFrequency);
    }

    @Override
    public ObjectMetadata accessed(long hash, long bucket, int slot, long head, long block) {
        long now = clock.now();
        read(bucket + Slot.offset(slot), now, Long.MAX_VALUE);
        readExtension(Bucket.word(bucket, slot), head);
        if ((accesses++ & LOOK_EVERY - 1) == 0) {
            replacement.seen(greatestAge(bucket, now));
        }
        write(hash, slot, block, now);
        return metadata;
    }

    @Override
    public void accessedByPointer(long hash, int slot, long head, long block) {
        if (!pointers.accesses(hash, metadata)) {
            return;
        }
        long now = clock.now();
        metadata.size(ValuePieces.objectUnits(block)).expiry(NEVER_EXPIRES).now(now);
        readExtension(block, head);
        if (write(hash, slot, block, now)) {
            pointers.noteAccesses(hash, metadata);
        }
    }

    /**
     * Writes what the policy wants of an access to the object that {@code metadata} describes.
     *
     * @return whether time or frequency have changed, in {@code metadata} too
     */
    private boolean write(long hash, int slot, long block, long now) {
        int writes = replacement.accessed(metadata);
        if (writes == 0) {
            return false;
        }
        int region = space.shape().bucketRegion(hash);
        long at = space.shape().bucketAt(hash) + Slot.offset(slot);
        if ((writes & Replacement.WRITE_TIME) != 0) {
            posts.hintWrite(space.region(region), at + Slot.ACCESSED, now);
        }
        if (metadata.frequency() >= Slot.MOST_FREQUENCY) {
            // A fetch-and-add has no limit, and would carry into the expiry.
            writes &= ~(Replacement.COUNT_NOW | Replacement.COUNT);
        }
        if ((writes & Replacement.COUNT_NOW) != 0) {
            posts.hintAdd(space.region(region), at + Slot.FREQUENCY, 1);
        } else if ((writes & Replacement.COUNT) != 0) {
            frequencies.add(hash, (long) region << REGION_SHIFT | at, now);
        }
        if ((writes & Replacement.WRITE_EXTENSION) != 0) {
            posts.hintWriteExtension(block, metadata, extensionWords);
        }
        if ((writes & Replacement.WRITE_TIME) != 0) {
            metadata.lastAccess(now);
        }
        if ((writes & (Replacement.COUNT_NOW | Replacement.COUNT)) != 0) {
            metadata.frequency(metadata.frequency() + 1);
        }
        return (writes & ~Replacement.WRITE_EXTENSION) != 0;
    }

    private static long greatestAge(long bucket, long now) {
        long oldest = now;
        for (int slot = 0; slot < SpaceShape.BUCKET_SLOTS; slot++) {
            if (SlotWord.isLive(Bucket.word(bucket, slot))) {
                oldest = Math.min(oldest, ALL.get(JAVA_LONG, bucket + Slot.offset(slot) + Slot.ACCESSED));
            }
        }
        return now - oldest;
    }

    /**
     * Reads a block's extension; false, and zeros, if the block has been used again and does not describe the object
     * any more.
     */
    private boolean readExtension(long word, long head) {
        if (extensionWords == 0) {
            return true;
        }
        boolean known = head != 0 && BlockFormat.incarnation(ALL, head) == SlotWord.incarnation(word);
        for (int i = 0; i < extensionWords; i++) {
            metadata.extension(
                    i, known ? ALL.get(JAVA_LONG, BlockFormat.extensionAt(head) + (long) i * Long.BYTES) : 0);
        }
        return known;
    }

    @Override
    public int extensionWords() {
        return extensionWords;
    }

    @Override
    public void begin(long head) {
        if (extensionWords == 0) {
            return;
        }
        metadata.now(clock.now()).frequency(0);
        replacement.inserted(metadata, false);
        for (int i = 0; i < extensionWords; i++) {
            ALL.set(JAVA_LONG, BlockFormat.extensionAt(head) + (long) i * Long.BYTES, metadata.extension(i));
        }
    }

    /** To call when nothing is in flight: sends counts that have waited too long. */
    public void idle() {
        if (frequencies.size() > 0) {
            frequencies.sendOld(clock.now(), OLD_AT_ONCE);
        }
    }

    /** Adds a sum of accesses to its slot. If the slot has another object by then, that object profits. */
    private void addFrequency(long hash, long slot, int accesses) {
        posts.hintAdd(
                space.region((int) (slot >>> REGION_SHIFT)),
                (slot & (1L << REGION_SHIFT) - 1) + Slot.FREQUENCY,
                accesses);
    }

    /** Length of a message to the map's controller, in words. */
    public int learnedWords() {
        return replacement.words();
    }

    /** Sends what the session has learned if it is time, and takes over what all sessions have learned. */
    public void exchange(Mailbox mailbox) {
        if (mailbox.hasLearned()) {
            long[] words = mailbox.learned();
            if (mailbox.takeLearned()) {
                try {
                    replacement.answered(words);
                } catch (IllegalArgumentException e) {
                    // The session keeps what it has learned itself.
                    replacement.lost();
                }
            } else {
                replacement.lost();
            }
        } else if (replacement.due() && mailbox.mayLearn()) {
            replacement.send(mailbox.learned());
            mailbox.sendLearned();
        }
    }

    @Override
    public void missed(long bucket, long hash) {
        int slot = Bucket.findHistory(bucket, hash);
        if (slot != Bucket.NONE) {
            long experts = Bucket.experts(bucket, slot);
            if (replacement.missed(newestHistory, number(bucket, slot), experts)) {
                counts.regretted(experts);
            }
        }
    }

    private static long number(long bucket, int slot) {
        return SlotWord.historyNumber(Bucket.word(bucket, slot));
    }

    @Override
    public ObjectMetadata inserted(long bucket, long hash) {
        int slot = Bucket.findHistory(bucket, hash);
        boolean returned = slot != Bucket.NONE
                && !HistoryIds.expired(
                        newestHistory, number(bucket, slot), space.shape().objects());
        metadata.now(clock.now()).frequency(returned ? frequency(bucket + Slot.offset(slot)) : 0);
        replacement.inserted(metadata, returned);
        return metadata;
    }

    private static long frequency(long at) {
        return Integer.toUnsignedLong(ALL.get(JAVA_INT, at + Slot.FREQUENCY));
    }

    @Override
    public void historyIsAt(long number) {
        if (HistoryIds.age(number, newestHistory) > 0) {
            newestHistory = number;
        }
    }

    @Override
    public long newestHistory() {
        return newestHistory;
    }

    @Override
    public void begin(long sample, int buckets, long heads, boolean anywhere, int least) {
        long now = clock.now();
        long seconds = clock.seconds();
        // Evicting an object on a server that leaves, or cannot be reached, makes no room.
        boolean leaving = !anywhere && space.anyLeaving();
        boolean cutOff = !anywhere && !posts.reach().all();
        replacement.begin();
        int headsLeft = heads == 0 ? Integer.MAX_VALUE : RequestColumns.SAMPLE_HEADS;
        long head = heads;
        for (int number = 0; number < buckets; number++) {
            long bucket = sample + (long) number * SpaceShape.BUCKET_BYTES;
            int evictable = offerEntries(bucket);
            for (; evictable != 0 && headsLeft > 0; evictable &= evictable - 1) {
                int slot = Integer.numberOfTrailingZeros(evictable);
                long word = Bucket.word(bucket, slot);
                if (ValuePieces.objectUnits(word) >= least
                        && !(leaving && space.isLeaving(word))
                        && !(cutOff && !posts.reach().block(word))
                        && posts.mayTakeOut(word)) {
                    read(bucket + Slot.offset(slot), now, seconds);
                    if (readExtension(word, head) || heads == 0) {
                        replacement.offer(number * SpaceShape.BUCKET_SLOTS + slot, metadata);
                    }
                }
                if (heads != 0) {
                    headsLeft--;
                    head += BlockFormat.MOST_HEAD_BYTES;
                }
            }
        }
    }

    /**
     * Offers a bucket's history entries to the policy, and finds its objects, in one pass.
     *
     * @return the objects' slots, a bit each
     */
    private int offerEntries(long bucket) {
        int evictable = 0;
        for (int slot = SpaceShape.BUCKET_SLOTS - 1; slot >= 0; slot--) {
            long word = Bucket.word(bucket, slot);
            if (SlotWord.isHistory(word)) {
                replacement.offerHistory(newestHistory, SlotWord.historyNumber(word), Bucket.experts(bucket, slot));
            } else if (SlotWord.isLive(word)) {
                evictable |= 1 << slot;
            }
        }
        return evictable;
    }

    private void read(long at, long now, long seconds) {
        long expiry = Integer.toUnsignedLong(ALL.get(JAVA_INT, at + Slot.EXPIRY));
        metadata.insertTime(ALL.get(JAVA_LONG, at + Slot.INSERTED))
                .lastAccess(ALL.get(JAVA_LONG, at + Slot.ACCESSED))
                .frequency(frequency(at))
                .size(ValuePieces.objectUnits(ALL.get(JAVA_LONG, at)))
                .expiry(expiry != NEVER_EXPIRES && expiry < seconds ? now : NEVER_EXPIRES)
                .now(now);
    }

    @Override
    public int choose() {
        int slot = replacement.choose();
        return slot == Replacement.NONE ? Bucket.NONE : slot;
    }

    @Override
    public long experts() {
        return replacement.experts();
    }
}
