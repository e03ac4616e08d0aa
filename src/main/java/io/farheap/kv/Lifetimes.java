package io.farheap.kv;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Durations for which objects and maps live, as numbers. */
final class Lifetimes {

    private Lifetimes() {}

    /**
     * @param forEver the number that stands for a life without an end
     * @return in ms, rounded up, since a life of less than 1 ms is none; {@code forEver} if a number cannot say it
     */
    static long millis(Duration life, long forEver) {
        long millis = TimeUnit.MILLISECONDS.convert(life);
        if (millis == Long.MAX_VALUE) {
            return forEver;
        }
        return life.compareTo(Duration.ofMillis(millis)) > 0 ? millis + 1 : millis;
    }
}
