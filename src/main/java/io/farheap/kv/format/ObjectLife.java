package io.farheap.kv.format;

/** For how long an object of a map may live: what every engine takes. */
public final class ObjectLife {

    /**
     * The longest time to live, in milliseconds. As much time again can pass since a map was made before an expiry has
     * no room in a block.
     */
    public static final long MOST_MILLIS = 1L << 47;

    private ObjectLife() {}

    /** @throws IllegalArgumentException if no object may live for that time, of which 0 is for ever */
    public static void check(long millis) {
        if (millis < 0 || millis > MOST_MILLIS) {
            throw new IllegalArgumentException("an object that lives for " + millis + " ms; it has 1 to " + MOST_MILLIS
                    + ", or 0 to live for ever");
        }
    }
}
