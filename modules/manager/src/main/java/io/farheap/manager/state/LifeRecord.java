package io.farheap.manager.state;

import java.util.List;
import java.util.Objects;

/**
 * How long spot servers of a type have lived, of those that were observed. Immutable.
 *
 * @param type of the machines
 * @param seen in any order
 */
public record LifeRecord(String type, List<LifeSample> seen) {

    /**
     * Servers that were observed for equally long.
     *
     * @param hours 0 or more
     * @param ended how many ended then
     * @param longer how many were not observed any longer, and may have lived on
     */
    public record LifeSample(double hours, int ended, int longer) {

        /** @throws IllegalArgumentException if a value is out of its range */
        public LifeSample {
            if (!(hours >= 0 && hours < Double.POSITIVE_INFINITY)) {
                throw new IllegalArgumentException("a life of " + hours + " h; it is 0 or more");
            }
            RecordChecks.atLeast("ended of a life", ended, 0);
            RecordChecks.atLeast("longer of a life", longer, 0);
        }
    }

    /** @throws IllegalArgumentException if a value is out of its range */
    public LifeRecord {
        Objects.requireNonNull(type, "type");
        seen = List.copyOf(seen);
    }
}
