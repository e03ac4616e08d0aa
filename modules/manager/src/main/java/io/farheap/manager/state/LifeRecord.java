package io.farheap.manager.state;

import java.util.List;
import java.util.Objects;

/**
 * What was observed of servers of a type: how long spot servers have lived, and how fast caches leave servers.
 * Immutable.
 *
 * @param type of the machines
 * @param sinceHours the time before which nothing is known, in hours since the epoch; 0 if nothing was forgotten
 * @param seen in the order of their times
 * @param bytesPerSecond that leave a server; 0 if no moves were observed
 */
public record LifeRecord(String type, double sinceHours, List<LifeSample> seen, double bytesPerSecond) {

    /**
     * Servers that were observed for equally long.
     *
     * @param hours 0 or more
     * @param ended how many ended then
     * @param longer how many were not observed any longer, and may have lived on
     * @param atHours when that was, in hours since the epoch; 0 if unknown
     */
    public record LifeSample(double hours, int ended, int longer, double atHours) {

        /** @throws IllegalArgumentException if a value is out of its range */
        public LifeSample {
            requireFinite("a life of hours", hours);
            requireFinite("a life's time in hours", atHours);
            RecordChecks.atLeast("ended of a life", ended, 0);
            RecordChecks.atLeast("longer of a life", longer, 0);
        }
    }

    /** @throws IllegalArgumentException if a value is out of its range */
    public LifeRecord {
        Objects.requireNonNull(type, "type");
        requireFinite("the time since which lives are known", sinceHours);
        requireFinite("bytes a second", bytesPerSecond);
        seen = List.copyOf(seen);
    }

    private static void requireFinite(String what, double value) {
        if (!(value >= 0 && value < Double.POSITIVE_INFINITY)) {
            throw new IllegalArgumentException(what + ": " + value + "; it is 0 or more");
        }
    }
}
