package io.farheap.kv.space;

/** A map's clock. Any thread. */
public interface MapClock {

    /** Ticks of access times: any unit, never going back. */
    long ticks();

    /**
     * Changes several times a second as long as all is well, and costs less than to ask for the time: who finds it as
     * it was knows that little time has passed.
     */
    default long beats() {
        return 0;
    }

    /** Milliseconds since the map was created, for expiry. */
    long millis();

    /** Whether an object's time is over; 0 never is. */
    default boolean expired(long expiryMillis) {
        return expiryMillis != 0 && expiryMillis <= millis();
    }
}
