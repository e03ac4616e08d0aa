package io.farheap.kv.leased.server;

/** What a shard answers to one call. The shard's thread, which reads it before the shard's next call. */
final class ShardAnswer {

    /** One of {@code KvStatus}. */
    int status;
    /** The object that was found or stored: 0 if there is none. */
    long version;

    long incarnation;
    int unit;
    /** The lease of its block, in ns; 0: none. */
    long termNanos;
    /** The bytes of its value, which begins at this offset in the shard's memory. */
    int valueBytes;

    long valueAt;
    /** Whether the value is in pieces, so that its bytes are not there. */
    boolean inPieces;

    void clear(int ending) {
        status = ending;
        version = 0;
        incarnation = 0;
        unit = 0;
        termNanos = 0;
        valueBytes = 0;
        valueAt = 0;
        inPieces = false;
    }
}
