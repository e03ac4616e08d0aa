package io.farheap.time;

import java.time.Duration;

/**
 * How long something is waited for at most, by which no verdict of a test may depend on how busy or slow its machine
 * is: in tests the property {@code farheap.slowness} says how many times longer all time limits are, without it they
 * are as they stand. It multiplies a time after which one gives up, never one that has to pass: waiting for that takes
 * as many times longer.
 */
public final class TimeLimit {

    private static final String PROPERTY = "farheap.slowness";
    private static final int SLOWNESS = Integer.getInteger(PROPERTY, 1);

    private TimeLimit() {}

    /**
     * @param time on a quiet machine with a processor of its own, in any unit
     * @return the limit here, in the same unit
     */
    public static long of(long time) {
        return time * SLOWNESS;
    }

    /** As {@link #of(long)}. */
    public static Duration of(Duration time) {
        return time.multipliedBy(SLOWNESS);
    }

    /** For a JVM that this one starts: a flag with which its limits are as long as here. */
    public static String flag() {
        return "-D" + PROPERTY + "=" + SLOWNESS;
    }
}
