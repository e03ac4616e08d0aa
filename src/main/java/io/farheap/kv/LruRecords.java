package io.farheap.kv;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.memory.NativeMemory;

/** Least recently used: the time of the last access is written at each hit. */
final class LruRecords implements AccessRecords, Victims {

    private final Posts posts;
    private final SpaceShape shape;
    private final MapClock clock;
    private long newest;

    LruRecords(Posts posts, SpaceShape shape, MapClock clock) {
        this.posts = posts;
        this.shape = shape;
        this.clock = clock;
    }

    @Override
    public void hit(long hash, long bucket, int slot) {
        posts.hintWrite(
                posts.bucketRegion(hash),
                shape.bucketAt(hash) + slot * Slot.BYTES + Slot.ACCESSED,
                clock.ticks());
    }

    @Override
    public void updated(long hash, long bucket, int slot) {
        hit(hash, bucket, slot);
    }

    @Override
    public void missed(long bucket, long hash) {}

    @Override
    public void historyIsAt(long number) {
        newest = number;
    }

    @Override
    public long newestHistory() {
        return newest;
    }

    @Override
    public int choose(long bucket) {
        int oldest = Bucket.NONE;
        long least = Long.MAX_VALUE;
        for (int slot = 0; slot < SpaceShape.BUCKET_SLOTS; slot++) {
            if (Bucket.mayEvict(bucket, slot)) {
                long accessed = NativeMemory.ALL.get(JAVA_LONG, bucket + slot * Slot.BYTES + Slot.ACCESSED);
                if (accessed < least) {
                    least = accessed;
                    oldest = slot;
                }
            }
        }
        return oldest;
    }

    @Override
    public long experts() {
        return 1;
    }
}
