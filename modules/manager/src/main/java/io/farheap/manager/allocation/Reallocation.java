package io.farheap.manager.allocation;

import io.farheap.manager.Candidate;
import java.util.Set;

/**
 * How a cache that is there gets what it needs now.
 *
 * @param more where the regions go that are new, and those of the servers that it leaves; with the configuration that
 *     it has then
 * @param left servers that it leaves
 * @param cost of all of it for an hour, as {@link Placement#cost}
 */
public record Reallocation(Placement more, Set<Long> left, double cost) {

    public Reallocation {
        left = Set.copyOf(left);
    }

    public Candidate candidate() {
        return more.candidate();
    }
}
