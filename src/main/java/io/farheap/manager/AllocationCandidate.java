package io.farheap.manager;

/**
 * A configuration with which a cache meets its objective (Redy, section 6.1): up to so many switches of distance, with
 * so many threads of its servers.
 *
 * @param switches the greatest distance at which it meets it: 1, 3 or 5, or more for any distance
 * @param serverThreads 0 for one-sided operations only, so that memory without cores is enough
 */
public record AllocationCandidate(int switches, int serverThreads) {

    /** The candidate of a cache without an objective: any distance, no threads. */
    public static final AllocationCandidate ANY = new AllocationCandidate(5, 0);

    public AllocationCandidate {
        if (switches < 1 || serverThreads < 0) {
            throw new IllegalArgumentException("a configuration over " + switches + " switches with " + serverThreads
                    + " server threads; the first is at least 1, the second at least 0");
        }
    }
}
