package io.farheap.kv.eviction;

import io.farheap.kv.format.BlockFormat;
import io.farheap.kv.format.Bucket;
import io.farheap.kv.space.RequestColumns;

/** Says which objects of a sample are to go. One thread. */
public interface VictimSelector {

    /**
     * @param buckets how many copies lie there, one after another
     * @param heads of the blocks of its first {@link RequestColumns#SAMPLE_HEADS} objects,
     *     {@link BlockFormat#MOST_HEAD_BYTES} each; 0 where they were not read
     * @param atOnce objects alone that {@link Bucket#mayEvict} allows
     * @param least units of 64 bytes: only objects that are at least as large
     */
    void begin(long sample, int buckets, long heads, boolean atOnce, int least);

    /**
     * The next slot of the sample that is to be taken out.
     *
     * @return its number, counted from the first bucket on; or {@link Bucket#NONE}, where it gives no more
     */
    int choose();

    /** The experts that named the one that was chosen last, a bit each. */
    long experts();
}
