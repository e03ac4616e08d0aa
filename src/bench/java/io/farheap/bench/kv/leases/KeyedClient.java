package io.farheap.bench.kv.leases;

/** Gets and sets keys, one at a time, and counts what its gets posted. One thread at a time. */
interface KeyedClient {

    /** Gets a key, waits, and returns whether it was there. */
    boolean get(long number);

    /** Sets a key, and waits. */
    void set(long number);

    /** Returns how many gets found their object by a pointer so far. */
    long pointerHits();

    /** Returns how many READs were posted so far. */
    long reads();

    /** Lets another thread use this next. */
    void release();
}
