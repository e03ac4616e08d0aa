package io.farheap.kv.leased.server;

/** A thread that carries out the calls of the shards that belong to it. */
interface ShardOwner {

    /** Whether it carries out no call any more. Any thread. */
    boolean hasEnded();

    /** Hands a call over to it. Any thread. */
    void hand(HandedCall call);

    /** There may be something for it to do. Any thread. */
    void look();
}
