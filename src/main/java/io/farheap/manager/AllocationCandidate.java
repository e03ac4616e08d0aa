package io.farheap.manager;

/**
 * A configuration with which a cache meets its objective (Redy, section 6.1): over so many switches it takes so many
 * threads of its servers.
 *
 * @param switches the farthest at which it does: 1, 3 or 5, or more for any distance
 * @param serverThreads 0: one-sided operations alone, so memory that has no cores will do
 */
public record AllocationCandidate(int switches, int serverThreads) {

    /** Of a cache without an objective: any distance, no threads. */
    public static final AllocationCandidate ANY = new AllocationCandidate(5, 0);

    public AllocationCandidate {
        if (switches < 1 || serverThreads < 0) {
            throw new IllegalArgumentException("a configuration over " + switches + " switches with " + serverThreads
                    + " server threads; the first is at least 1, the second at least 0");
        }
    }
}
