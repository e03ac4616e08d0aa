package io.farheap.kv.blocks;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * The eras of a process. Each request is stamped with the era in which it begins, and the keeper begins a new era when
 * blocks must not be used any more: once no request in flight is of an older era, no request knows these blocks. The
 * keeper's thread, except {@link #present}.
 */
public final class RequestEpochs {

    private final AtomicLong now = new AtomicLong(1);
    private final LongSupplier oldest;

    /** @param oldest the era of the oldest request in flight; {@link Long#MAX_VALUE} if there is none */
    public RequestEpochs(LongSupplier oldest) {
        this.oldest = oldest;
    }

    /** The present era. Any thread. */
    public long present() {
        return now.get();
    }

    /** Begins an era. @return its number */
    public long begin() {
        return now.incrementAndGet();
    }

    /** The era of the oldest request in flight; {@link Long#MAX_VALUE} if there is none. */
    public long oldest() {
        return oldest.getAsLong();
    }
}
