package io.farheap.manager.state;

import java.util.Collections;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * The terms that a cache will have after a change, from when its manager has found room until its client reports that
 * the change is done. Immutable.
 *
 * @param switches as in {@link AllocationTerms}
 * @param serverThreads as in {@link AllocationTerms}
 * @param threadRegions as in {@link AllocationTerms}
 * @param left ids of the servers that it leaves
 */
public record CachePlan(int switches, int serverThreads, long threadRegions, SortedSet<Long> left) {

    /** @throws IllegalArgumentException if a value is out of its range */
    public CachePlan {
        RecordChecks.atLeast("switches of a plan", switches, 1);
        RecordChecks.atLeast("serverThreads of a plan", serverThreads, 0);
        RecordChecks.atLeast("threadRegions of a plan", threadRegions, 0);
        left = Collections.unmodifiableSortedSet(new TreeSet<>(left));
    }
}
