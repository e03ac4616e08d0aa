package io.farheap.cache.session;

import io.farheap.cache.calls.CallHost;
import io.farheap.cache.order.RequestBuffer;
import io.farheap.latency.LatencyTracker;
import io.farheap.remote.device.CompletionEvents;
import org.jspecify.annotations.Nullable;

/** The cache, as its sessions use it; also the owner of their buffers. */
public interface SessionHost extends RequestBuffer.Owner {

    LatencyTracker latency();

    /**
     * Wakes sleeping owners when their completion channels raise events; null if the paths themselves sleep and wake.
     */
    @Nullable
    CompletionEvents events();

    /**
     * The cache, as calls of procedures use it.
     *
     * @throws UnsupportedOperationException if the cache has no procedures
     */
    CallHost calls();

    /** Throws if the calling thread is in a callback of one of the cache's sessions. */
    void refuseInCallback();

    /**
     * Why requests to a range end with {@link io.farheap.cache.contract.Status#LOST}, with the servers' addresses and
     * the remedy. Any thread.
     */
    String describeLoss(long address, long length);

    /** The servers that have a range, and the remedy if one does not answer, for messages. Any thread. */
    default String describeServers(long address, long length) {
        return "";
    }
}
