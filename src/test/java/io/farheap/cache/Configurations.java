package io.farheap.cache;

import java.util.stream.Stream;

/** The ways in which requests travel: tests of what they have in common run with each. */
final class Configurations {

    static final CacheConfiguration DIRECT = CacheConfiguration.DIRECT.withQueueDepth(8);
    static final CacheConfiguration BATCHED = CacheConfiguration.DIRECT.with(0, 1, 16, 4);

    static final CacheConfiguration HANDED_OVER = CacheConfiguration.DIRECT.with(1, 0, 1, 8);
    static final CacheConfiguration HANDED_OVER_BATCHED = CacheConfiguration.DIRECT.with(2, 1, 16, 4);

    private Configurations() {}

    /** Those in which a session's thread processes its requests, so that a test can tell when each step happens. */
    static Stream<CacheConfiguration> ownThread() {
        return Stream.of(DIRECT, BATCHED);
    }

    static Stream<CacheConfiguration> all() {
        return Stream.of(DIRECT, BATCHED, HANDED_OVER, HANDED_OVER_BATCHED);
    }
}
