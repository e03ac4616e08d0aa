package io.farheap.cache.session;

import io.farheap.cache.calls.CallHost;
import io.farheap.cache.order.RequestBuffer;
import io.farheap.latency.LatencyTracker;
import io.farheap.remote.device.CompletionEvents;
import org.jspecify.annotations.Nullable;

/** The cache, as its sessions know it; also their buffers' owner. */
public interface SessionHost extends RequestBuffer.Owner {

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

    /** Throws where the calling thread is in a callback of one of the cache's sessions. */
    void refuseInCallback();

    /**
     * Why requests to a range end with {@link io.farheap.cache.contract.Status#LOST}, with the servers and what the
     * application can do. Any thread.
     */
    String describeLoss(long address, long length);
}
