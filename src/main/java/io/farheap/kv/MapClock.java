package io.farheap.kv;

/** A map's clock. Any thread. */
interface MapClock {

    /** Ticks of access times: any unit, never going back. */
    long ticks();

    /** Milliseconds since the map was created, for expiry. */
    long millis();

    /** Whether an object's time is over; 0 never is. */
    default boolean expired(long expiryMillis) {
        return expiryMillis != 0 && expiryMillis <= millis();
    }
}
