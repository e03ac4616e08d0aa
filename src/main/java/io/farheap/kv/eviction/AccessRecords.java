package io.farheap.kv.eviction;

import io.farheap.kv.policy.ObjectMetadata;

/** What a session's requests tell of objects, and how it reaches the table. One thread. */
public interface AccessRecords {

    /**
     * A get has found its key, or a set has replaced its key's object.
     *
     * @param bucket the copy in which it was found
     * @param head a copy of the words before the key in the block that its slot named there
     * @param block the word of the block that has the object now
     */
    void accessed(long hash, long bucket, int slot, long head, long block);

    /** Words that blocks have for the policy; 0 where it does without, and nothing has to be read for it. */
    int extensionWords();

    /** Writes the extension that a new object's block begins with. */
    void begin(long head);

    /** A get has not found its key; the bucket may have a history entry of it. */
    void missed(long bucket, long hash);

    /**
     * A set is to make a new object of a key; the bucket may have a history entry of it.
     *
     * @return what its slot is to say, until the next call
     */
    ObjectMetadata inserted(long bucket, long hash);

    /** The number of the next history entry is at least this, modulo 2^48. */
    void historyIsAt(long number);

    /** The latest that is known of {@link #historyIsAt}. */
    long newestHistory();
}
