package io.farheap.kv.eviction;

import io.farheap.kv.space.MapClock;

/**
 * The time of a session's accesses. Reading a clock costs 20 to 100 ns, as much as a READ of memory that is near, and
 * the choice of a victim does not depend on microseconds. So a fast session reads the clock once for several accesses.
 * The number of accesses follows from the pace of the last ones, so that the time is at most about {@link #MOST_NANOS}
 * old. After a pause it may be as old as the pause for so many accesses, but no older than the map's last beat. In a
 * small map, where objects do not become old, the clock is read for each access. One thread.
 */
public final class AccessClock {

    private static final int MOST_ACCESSES = 16;
    private static final long MOST_NANOS = 20_000;
    /** One reading of the clock serves at most one access for each this many objects that the map is made for. */
    private static final long OBJECTS_AN_ACCESS = 256;

    private static final long SECOND_MILLIS = 1000;

    private final MapClock clock;
    private final int most;
    private long now;
    private long seconds;
    private boolean knowsSeconds;
    /** The map clock's count of beats when it was read last. */
    private long beats;

    /** The number of accesses that the last reading of the clock serves, and how many of them are still to come. */
    private int accesses = 1;

    private int left;

    /** @param objects that the map is made for */
    public AccessClock(MapClock clock, long objects) {
        this.clock = clock;
        most = Math.clamp(objects / OBJECTS_AN_ACCESS, 1, MOST_ACCESSES);
    }

    /** In ticks of the map's clock. */
    long now() {
        if (left == 0) {
            long before = now;
            read();
            // At the same pace, so many accesses take no longer than MOST_NANOS.
            long each = Math.max(1, (now - before) / accesses);
            accesses = Math.clamp(MOST_NANOS / each, 1, most);
            left = accesses;
        } else if (clock.beats() != beats) {
            read();
            accesses = 1;
            left = 1;
        }
        left--;
        return now;
    }

    /** Seconds of the map's clock at the time of {@link #now}. */
    long seconds() {
        if (!knowsSeconds) {
            knowsSeconds = true;
            seconds = clock.millis() / SECOND_MILLIS;
        }
        return seconds;
    }

    private void read() {
        beats = clock.beats();
        now = clock.ticks();
        knowsSeconds = false;
    }
}
