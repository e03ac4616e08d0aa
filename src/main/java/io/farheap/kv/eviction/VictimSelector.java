package io.farheap.kv.eviction;

import io.farheap.kv.format.BlockFormat;
import io.farheap.kv.format.Bucket;
import io.farheap.kv.space.RequestColumns;

/** Chooses the objects of a sample that are to be evicted. One thread. */
public interface VictimSelector {

    /**
     * Begins with a sample.
     *
     * @param sample address of the copies of buckets, one after another
     * @param buckets how many there are
     * @param heads of the blocks of the sample's first {@link RequestColumns#SAMPLE_HEADS} objects,
     *     {@link BlockFormat#MOST_HEAD_BYTES} each; 0 if they were not read
     * @param anywhere chooses also objects whose eviction frees no block that the session can use: on servers that
     *     leave, or cannot be reached
     * @param least chooses only objects of at least so many units of 64 bytes
     */
    void begin(long sample, int buckets, long heads, boolean anywhere, int least);

    /**
     * The next slot of the sample to evict.
     *
     * @return its number, counted from the first bucket on; or {@link Bucket#NONE} if there is no more
     */
    int choose();

    /** The experts that named the object which was chosen last, a bit each. */
    long experts();
}
