package io.farheap.kv;

/** What a session's hits, updates and misses tell of objects, and how it reaches the table. One thread. */
interface AccessRecords {

    /**
     * A get has found its key.
     *
     * @param bucket the copy in which it was found
     */
    void hit(long hash, long bucket, int slot);

    /** A set has replaced its key's object. */
    void updated(long hash, long bucket, int slot);

    /** A get has not found its key; the bucket may have a history entry of it. */
    void missed(long bucket, long hash);

    /** The number of the next history entry is at least this, modulo 2^48. */
    void historyIsAt(long number);

    /** The latest that is known of {@link #historyIsAt}. */
    long newestHistory();
}
