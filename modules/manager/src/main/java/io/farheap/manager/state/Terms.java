package io.farheap.manager.state;

import java.util.Objects;

/**
 * What a cache was allocated for. Immutable.
 *
 * @param place of its client, as data center, cluster and rack; empty where nobody said
 * @param switches at most so many lie between its client and its servers, 1 or more
 * @param serverThreads of its servers, together; 0 or more
 * @param expiresAtMillis when it ends by itself, in milliseconds since 1970; 0: never
 */
public record Terms(String place, int switches, int serverThreads, long expiresAtMillis) {

    /** @throws IllegalArgumentException where a value is out of its range */
    public Terms {
        Objects.requireNonNull(place, "place");
        Checks.atLeast("switches", switches, 1);
        Checks.atLeast("serverThreads", serverThreads, 0);
        Checks.atLeast("expiresAtMillis", expiresAtMillis, 0);
    }
}
