package io.farheap.cache.session;

import io.farheap.cache.calls.CallHost;
import io.farheap.cache.order.RequestBuffer;
import io.farheap.latency.LatencyTracker;
import io.farheap.remote.device.CompletionEvents;
import org.jspecify.annotations.Nullable;

/** The cache, as its sessions know it; also their buffers' owner. */
interface SessionHost extends RequestBuffer.Owner {

    LatencyTracker latency();

    /** Null where paths sleep by themselves. */
    @Nullable
    CompletionEvents events();

    /**
     * What calls of procedures need.
     *
     * @throws UnsupportedOperationException where the cache has none
     */
    CallHost calls();
}
