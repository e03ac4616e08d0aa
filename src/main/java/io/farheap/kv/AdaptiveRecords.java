package io.farheap.kv;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.kv.policy.EvictionPolicy;
import io.farheap.kv.policy.FrequencyCounterCache;
import io.farheap.kv.policy.HistoryIds;
import io.farheap.kv.policy.LearnedWeights;
import io.farheap.kv.policy.Metadata;
import io.farheap.kv.policy.Sample;
import io.farheap.memory.NativeMemory;
import io.farheap.remote.RemoteRegion;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Adaptive caching (Ditto, section 4.3): experts name victims, weights decide between them, and a miss of what was
 * evicted takes trust from those that named it. One thread.
 *
 * <p>An access costs the table little: frequencies are added up first, and the time of the last access is written only
 * where the one that is there is old against the age at which objects are evicted.
 */
final class AdaptiveRecords implements AccessRecords, Victims {

    /** An access time is young below this part of the age at eviction, as a power of two. */
    private static final int YOUNG_SHIFT = 4;
    /** How fast the age at eviction is forgotten, as a power of two. */
    private static final int AGE_SHIFT = 5;

    private static final MemorySegment ALL = NativeMemory.ALL;
    private static final long NEVER_EXPIRES = 0;
    private static final long SECOND_MILLIS = 1000;
    /** A region's number stands above an offset in it. */
    private static final int REGION_SHIFT = 40;

    private final Posts posts;
    private final SpaceMemory space;
    private final MapClock clock;
    private final Sample sample;
    private final LearnedWeights weights;
    private final FrequencyCounterCache frequencies;
    private final SplittableRandom random;
    private final Metadata metadata = new Metadata();
    private long newestHistory;
    /**
     * Ticks from the last access of an object to its eviction, of late; 0 before the first: then the map's age counts.
     */
    private long evictionAge;

    AdaptiveRecords(
            Posts posts,
            SpaceMemory space,
            MapClock clock,
            List<EvictionPolicy> experts,
            long frequencyBytes,
            int frequencyThreshold,
            long seed) {
        this.posts = posts;
        this.space = space;
        this.clock = clock;
        this.sample = new Sample(experts);
        this.weights = new LearnedWeights(experts.size(), space.shape().objects());
        this.frequencies =
                new FrequencyCounterCache(frequencyBytes, frequencyThreshold, Long.MAX_VALUE, this::addFrequency);
        this.random = new SplittableRandom(seed);
    }

    @Override
    public void hit(long hash, long bucket, int slot) {
        accessed(hash, bucket, slot);
    }

    @Override
    public void updated(long hash, long bucket, int slot) {
        accessed(hash, bucket, slot);
    }

    private void accessed(long hash, long bucket, int slot) {
        long now = clock.ticks();
        int region = space.shape().bucketRegion(hash);
        long at = space.shape().bucketAt(hash) + Slot.offset(slot);
        long last = ALL.get(JAVA_LONG, bucket + Slot.offset(slot) + Slot.ACCESSED);
        if (now - last > (evictionAge == 0 ? now : evictionAge) >>> YOUNG_SHIFT) {
            posts.hintWrite(space.region(region), at + Slot.ACCESSED, now);
        }
        frequencies.add(hash, (long) region << REGION_SHIFT | at, now);
    }

    /** A sum of accesses goes to its slot. What the slot holds by then may be another object, which it favours. */
    private void addFrequency(long hash, long slot, int accesses) {
        RemoteRegion region = space.region((int) (slot >>> REGION_SHIFT));
        posts.hintAdd(region, (slot & (1L << REGION_SHIFT) - 1) + Slot.FREQUENCY, accesses);
    }

    @Override
    public void missed(long bucket, long hash) {
        int slot = Bucket.findHistory(bucket, hash);
        if (slot != Bucket.NONE) {
            weights.missed(
                    newestHistory,
                    SlotWord.historyNumber(Bucket.word(bucket, slot)),
                    ALL.get(JAVA_LONG, bucket + Slot.offset(slot) + Slot.INSERTED));
        }
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
    public int choose(long bucket) {
        long now = clock.ticks();
        long seconds = clock.millis() / SECOND_MILLIS;
        sample.begin();
        for (int slot = 0; slot < SpaceShape.BUCKET_SLOTS; slot++) {
            if (Bucket.mayEvict(bucket, slot)) {
                read(bucket, slot, now, seconds);
                sample.offer(slot, metadata);
            }
        }
        int victim = sample.choose(weights.weights(), random);
        if (victim == Sample.NONE) {
            return Bucket.NONE;
        }
        read(bucket, victim, now, seconds);
        sample.evicted(metadata);
        long age = Math.max(0, now - metadata.lastAccess());
        evictionAge += age - evictionAge >> AGE_SHIFT;
        return victim;
    }

    private void read(long bucket, int slot, long now, long seconds) {
        long at = bucket + Slot.offset(slot);
        int expiry = ALL.get(JAVA_INT, at + Slot.EXPIRY);
        metadata.insertTime(ALL.get(JAVA_LONG, at + Slot.INSERTED))
                .lastAccess(ALL.get(JAVA_LONG, at + Slot.ACCESSED))
                .frequency(Integer.toUnsignedLong(ALL.get(JAVA_INT, at + Slot.FREQUENCY)))
                .size(SlotWord.size(Bucket.word(bucket, slot)))
                .expiry(expiry != NEVER_EXPIRES && Integer.toUnsignedLong(expiry) < seconds ? now : NEVER_EXPIRES)
                .now(now);
    }

    @Override
    public long experts() {
        return sample.experts();
    }
}
