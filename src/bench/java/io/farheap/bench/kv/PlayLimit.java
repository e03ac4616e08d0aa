package io.farheap.bench.kv;

/**
 * How often something random is played, and until when.
 *
 * @param plays at most
 * @param withinNanos no play but the first begins if it is not expected to have ended this long after the beginning
 */
record PlayLimit(int plays, long withinNanos) {

    /**
     * Whether there is time for another play.
     *
     * @param passedNanos since the beginning of all plays
     * @param expectedNanos of the play: how long the first one took
     */
    boolean again(long passedNanos, long expectedNanos) {
        return passedNanos + expectedNanos <= withinNanos;
    }
}
