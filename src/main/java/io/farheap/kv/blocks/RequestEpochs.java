package io.farheap.kv.blocks;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * Periods of a process's time, which its requests are stamped with when they begin: so it can be told whether a request
 * in flight may know of blocks as they were. The keeper's thread, but for {@link #now}.
 */
public final class RequestEpochs {

    private final AtomicLong now = new AtomicLong(1);
    private final LongSupplier oldest;

    /** @param oldest the era of the oldest request in flight, {@link Long#MAX_VALUE} where there is none */
    public RequestEpochs(LongSupplier oldest) {
        this.oldest = oldest;
    }

    /** Any thread. */
    long now() {
        return now.get();
    }

    public long begin() {
        return now.incrementAndGet();
    }

    public long oldest() {
        return oldest.getAsLong();
    }
}
