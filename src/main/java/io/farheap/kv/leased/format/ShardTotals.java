package io.farheap.kv.leased.format;

/**
 * What shards hold and have done: the words of an answer to {@link LeasedCalls#TOTALS}, behind its status.
 *
 * @param shards that were asked
 * @param objects that they have
 * @param objectBytes of the blocks of these
 * @param markedBytes of blocks that are no key's any more, and leased
 * @param segmentBytes of all segments
 * @param usedBytes of segments that have blocks
 * @param evicted objects, since the map was made
 * @param leases that were given
 * @param renewed of these, by a renewal
 * @param reclaimedLate blocks that waited for their lease
 * @param denied answers without a lease because too much was marked or leased
 * @param rebuilt shards that were put in order again, after a call that did not end
 * @param reported READs of clients that were counted
 * @param capped READs that clients reported and can hardly have made
 * @param reports that were merged
 * @param written of these, by WRITE
 * @param over leases that had ended when their object was leased again, replaced, deleted or evicted
 */
public record ShardTotals(
        long shards,
        long objects,
        long objectBytes,
        long markedBytes,
        long segmentBytes,
        long usedBytes,
        long evicted,
        long leases,
        long renewed,
        long reclaimedLate,
        long denied,
        long rebuilt,
        long reported,
        long capped,
        long reports,
        long written,
        long over) {

    /** How many words there are. */
    public static final int WORDS = 17;

    /** The totals of words. */
    public static ShardTotals of(long[] words) {
        return new ShardTotals(
                words[0], words[1], words[2], words[3], words[4], words[5], words[6], words[7], words[8], words[9],
                words[10], words[11], words[12], words[13], words[14], words[15], words[16]);
    }

    /** The words of these totals. */
    public long[] words() {
        return new long[] {
            shards,
            objects,
            objectBytes,
            markedBytes,
            segmentBytes,
            usedBytes,
            evicted,
            leases,
            renewed,
            reclaimedLate,
            denied,
            rebuilt,
            reported,
            capped,
            reports,
            written,
            over
        };
    }

    /** The sum of both. */
    public ShardTotals plus(ShardTotals other) {
        long[] sum = words();
        long[] more = other.words();
        for (int i = 0; i < WORDS; i++) {
            sum[i] += more[i];
        }
        return of(sum);
    }
}
