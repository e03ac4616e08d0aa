package io.farheap.verbs;

/**
 * What a device can do, from ibv_query_device.
 *
 * @param maxQueuePairs queue pairs
 * @param maxCompletionQueues completion queues
 * @param maxQueuePairRequests outstanding work requests on any queue
 * @param maxCompletionEntries entries of a completion queue
 * @param maxMemoryRegionBytes the largest contiguous registration
 * @param maxReadAtomicTarget READs and atomics outstanding at a queue pair as target
 * @param maxReadAtomicInitiator READs and atomics outstanding at a queue pair as initiator
 * @param maxScatterGather entries of a work request's scatter/gather list
 * @param atomics whether CAS and FAA work, at least among operations of this device
 */
public record DeviceLimits(
        int maxQueuePairs,
        int maxCompletionQueues,
        int maxQueuePairRequests,
        int maxCompletionEntries,
        long maxMemoryRegionBytes,
        int maxReadAtomicTarget,
        int maxReadAtomicInitiator,
        int maxScatterGather,
        boolean atomics) {

    /**
     * All remote rights of {@link Access} that the device can give: some devices refuse rights that they do not
     * support, such as atomics.
     */
    public int remoteAccess() {
        return Access.REMOTE_READ | Access.REMOTE_WRITE | (atomics ? Access.REMOTE_ATOMIC : 0);
    }
}
