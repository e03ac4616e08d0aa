package io.farheap.bench.kv;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.LongSupplier;

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

    /** Plays one of several. */
    @FunctionalInterface
    interface Play<T> {
        void play(T played) throws IOException;
    }

    private record TimedPlay<T>(T played, long nanos) {}

    /**
     * Plays all once, in their order, and then those again for which there is time, the shortest first.
     *
     * @param nanoTime as {@link System#nanoTime}
     */
    <T> void playAll(List<T> all, Play<T> play, LongSupplier nanoTime) throws IOException {
        List<TimedPlay<T>> shortest = new ArrayList<>();
        long begun = nanoTime.getAsLong();
        for (T played : all) {
            long from = nanoTime.getAsLong();
            play.play(played);
            shortest.add(new TimedPlay<>(played, nanoTime.getAsLong() - from));
        }
        shortest.sort(Comparator.comparingLong(TimedPlay::nanos));
        for (int number = 1; number < plays; number++) {
            for (TimedPlay<T> timed : shortest) {
                if (again(nanoTime.getAsLong() - begun, timed.nanos())) {
                    play.play(timed.played());
                }
            }
        }
    }
}
