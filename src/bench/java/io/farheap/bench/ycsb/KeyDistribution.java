package io.farheap.bench.ycsb;

import java.util.Locale;

/** The distribution of the requested keys, as in YCSB. */
enum KeyDistribution {
    UNIFORM,
    /** Zipfian of 0.99, scrambled. */
    ZIPFIAN,
    /** The latest inserted most often, Zipfian by age. */
    LATEST;

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
