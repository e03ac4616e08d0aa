package io.farheap.kv.space;

/** A map's clock. Any thread. */
public interface MapClock {

    /** Ticks for access times, in nanoseconds. A correction of the clock may set them back a little. */
    long ticks();

    /**
     * A number that changes several times a second as long as the clock is kept up, and costs less to read than the
     * time: if it is the same as before, little time has passed.
     */
    default long beats() {
        return 0;
    }

    /** Milliseconds since the map was created, for expiry. */
    long millis();

    /** Whether an object has expired; one with 0 never does. */
    default boolean expired(long expiryMillis) {
        return expiryMillis != 0 && expiryMillis <= millis();
    }
}
