package io.farheap.soak;

/**
 * What an episode did.
 *
 * @param heldNanos how long a client that was stopped or killed still had its regions
 */
record EpisodeResult(
        long operations,
        long mapOperations,
        long codedOperations,
        long calls,
        long slabsRegenerated,
        long neighboursOperations,
        long regionsMoved,
        long recoveries,
        long bytesLost,
        long shortStops,
        long heldNanos) {}
