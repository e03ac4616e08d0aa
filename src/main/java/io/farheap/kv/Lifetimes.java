package io.farheap.kv;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Converts the times to live of objects and maps to ms. */
final class Lifetimes {

    private Lifetimes() {}

    /**
     * @param forEver the number that stands for a life without an end
     * @return {@code life} in ms, rounded up, since 0 ms would mean something else; {@code forEver} if it does not fit
     *     into a long
     */
    static long millis(Duration life, long forEver) {
        long millis = TimeUnit.MILLISECONDS.convert(life);
        if (millis == Long.MAX_VALUE) {
            return forEver;
        }
        return life.compareTo(Duration.ofMillis(millis)) > 0 ? millis + 1 : millis;
    }
}
