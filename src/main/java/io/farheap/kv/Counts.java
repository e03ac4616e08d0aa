package io.farheap.kv;

/** What a session has met. Its thread. */
final class Counts {

    /** Gets that read their bucket anew, since the block had been used again. */
    long getsRetried;
    /** Compare-and-swaps of sets and deletes that found another word. */
    long swapsLost;
    /** Slots that named what cannot be read, and were taken out. */
    long unlinked;
    /** Second slots of one key that were taken out. */
    long duplicates;
    /** Objects evicted. */
    long evicted;
    /** Objects evicted since their bucket was full. */
    long crowdedOut;
    /** Evictions that another client was faster with. */
    long victimsLost;
}
