package io.farheap.kv.leased.server;

/**
 * For how long a shard leases its blocks. An object of queue n gets n times the term of queue 1, and at most the
 * longest term; if there is one queue alone, every object gets that term. What is marked and leased is memory that no
 * object can use, so terms shrink when that is more than a 16th of the shard, and at an eighth none is given. Nor is
 * one for a while after a set has found all that it could evict leased. The shard's thread.
 */
final class LeaseTerms {

    /** The share of a shard that may be marked and leased: one in so many. */
    private static final int MOST_SHARE = 8;

    private final long termNanos;
    private final long mostNanos;
    /** The number of the lowest queue, from which the terms are counted: 0, or 1 if there is one queue alone. */
    private final int first;

    /** The term of the highest queue. */
    private final long longestNanos;

    private long noneUntil = Long.MIN_VALUE;

    /**
     * @param termNanos of queue 1
     * @param mostNanos the longest; 0: no leases
     * @param queues how many there are
     */
    LeaseTerms(long termNanos, long mostNanos, int queues) {
        this.termNanos = termNanos;
        this.mostNanos = mostNanos;
        first = queues == 1 ? 1 : 0;
        longestNanos = Math.min((first + queues - 1) * termNanos, mostNanos);
    }

    /** The term of a queue if nothing is marked. */
    long of(int queue) {
        return Math.min((first + queue) * termNanos, mostNanos);
    }

    /**
     * For how long an object stays in a queue without a use: for its term, or without leases for the term that it would
     * have, so that popularity ends with and without them.
     */
    long stay(int queue) {
        return mostNanos == 0 ? queue * termNanos : of(queue);
    }

    /**
     * The term of a queue.
     *
     * @param marked how much is marked and leased
     * @param all how much there is
     */
    long of(int queue, long now, long marked, long all) {
        long full = of(queue);
        if (now < noneUntil || marked * MOST_SHARE >= all) {
            return 0;
        }
        long half = Math.max(1, all / (2 * MOST_SHARE));
        return marked <= half ? full : (long) ((double) full * Math.max(0, 2 * half - marked) / half);
    }

    /** Whether blocks may be kept that nothing leases, for a client that is about to read them. */
    boolean mayHold(long marked, long all) {
        return marked * MOST_SHARE < all;
    }

    /** All that could be evicted is leased: no lease is given until the longest one that was given has ended. */
    void exhausted(long now) {
        noneUntil = now + longestNanos;
    }
}
