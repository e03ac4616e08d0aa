package io.farheap.manager.allocation;

import io.farheap.manager.AllocationCandidate;
import java.util.Set;

/**
 * How an existing cache gets what it needs now.
 *
 * @param more where its new regions go, and those of the servers that it leaves; with the configuration that the cache
 *     has then
 * @param left servers that it leaves
 * @param cost of all of it for an hour, as {@link CachePlacement#cost}
 */
public record Reallocation(CachePlacement more, Set<Long> left, double cost) {

    public Reallocation {
        left = Set.copyOf(left);
    }

    public AllocationCandidate candidate() {
        return more.candidate();
    }
}
