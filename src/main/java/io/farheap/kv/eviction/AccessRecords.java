package io.farheap.kv.eviction;

import io.farheap.kv.policy.ObjectMetadata;

/** Records what a session's requests learn about objects, in the table and in the policy's state. One thread. */
public interface AccessRecords {

    /**
     * A get has found its key, or a set has replaced its key's object.
     *
     * @param bucket the copy in which the slot was found
     * @param head a copy of the words before the key of the block that the slot named there
     * @param block the word of the block that has the object now
     * @return what is known of the object's accesses now, valid until the next call
     */
    ObjectMetadata accessed(long hash, long bucket, int slot, long head, long block);

    /**
     * A get has found its key by a pointer.
     *
     * @param slot that names the block
     * @param head a copy of the block's words before its key
     * @param block the word of the block
     */
    void accessedByPointer(long hash, int slot, long head, long block);

    /** Words that blocks have for the policy; 0 if it needs none, so that no heads have to be read for it. */
    int extensionWords();

    /** Writes the initial extension of a new object's block. */
    void begin(long head);

    /** A get has not found its key; the bucket may have a history entry for it. */
    void missed(long bucket, long hash);

    /**
     * A set is about to make a new object of a key; the bucket may have a history entry for it.
     *
     * @return the metadata for its slot, valid until the next call
     */
    ObjectMetadata inserted(long bucket, long hash);

    /** The number of the next history entry is at least this, modulo 2^48. */
    void historyIsAt(long number);

    /** The newest number that {@link #historyIsAt} was called with. */
    long newestHistory();
}
