package io.farheap.time;

import java.time.Duration;

/**
 * The longest time to wait for something. No verdict of a test may depend on how busy or slow its machine is, so in
 * tests the property {@code farheap.slowness} multiplies all time limits; without it they are as written. It applies to
 * times after which a waiter gives up, never to times that must pass, such as an expiry: that would only make the wait
 * longer.
 */
public final class TimeLimit {

    private static final String PROPERTY = "farheap.slowness";
    private static final int SLOWNESS = Integer.getInteger(PROPERTY, 1);

    private TimeLimit() {}

    /**
     * @param time the limit on a quiet machine with a processor of its own, in any unit
     * @return the limit here, in the same unit
     */
    public static long of(long time) {
        return time * SLOWNESS;
    }

    /** As {@link #of(long)}. */
    public static Duration of(Duration time) {
        return time.multipliedBy(SLOWNESS);
    }

    /** A flag that gives a JVM started by this one the same limits. */
    public static String flag() {
        return "-D" + PROPERTY + "=" + SLOWNESS;
    }
}
