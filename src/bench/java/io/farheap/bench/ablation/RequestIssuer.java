package io.farheap.bench.ablation;

/** How the application's thread has requests carried out. One thread. */
interface RequestIssuer extends AutoCloseable {

    /** Begins the request of a slot that is free. */
    void begin(int slot);

    /** @return a slot whose request has ended, or {@link LongQueue#NOTHING} */
    long poll();

    @Override
    void close();
}
