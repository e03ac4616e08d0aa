package io.farheap.bench.ablation;

/** The way in which the application's thread has its requests carried out. One thread. */
interface RequestIssuer extends AutoCloseable {

    /** Begins the request of a free slot. */
    void begin(int slot);

    /** @return a slot whose request has ended, or {@link LongQueue#NOTHING} */
    long poll();

    @Override
    void close();
}
