package io.farheap.kv.eviction;

import io.farheap.kv.space.MapClock;

/**
 * The time of accesses, of one session. To read a clock costs 20 to 100 ns, as much as a READ of memory that is near,
 * and who goes does not depend on microseconds: so a session that is fast reads it once for several accesses. How many
 * these are follows from how fast the last ones were, so that the time is {@link #MOST_NANOS} old at most, about; after
 * a pause it may be as old as the pause, for so many accesses, but no older than the map's last beat. In a small map,
 * where objects do not become old, it is read each time. One thread.
 */
public final class AccessClock {

    private static final int MOST_ACCESSES = 16;
    private static final long MOST_NANOS = 20_000;
    /** In a map for fewer objects than this it is read for fewer accesses. */
    private static final long OBJECTS_AN_ACCESS = 256;

    private static final long SECOND_MILLIS = 1000;

    private final MapClock clock;
    private final int most;
    private long now;
    private long seconds;
    private boolean knowsSeconds;
    /** The map's, when the clock was read. */
    private long beats;

    /** For how many accesses the clock was read last, and how many of them are still to come. */
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
            // At the same pace the next so many take no longer.
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

    /** Seconds of the map's clock when {@link #now} was. */
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
