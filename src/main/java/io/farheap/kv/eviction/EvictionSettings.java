package io.farheap.kv.eviction;

import io.farheap.kv.replacement.Replacement;
import io.farheap.kv.replacement.Replacements;

/**
 * What decides what is evicted, and how accesses reach the table.
 *
 * @param name as {@link Replacements#named} knows it
 * @param frequencyBytes memory of a session's frequency-counter cache
 * @param frequencyThreshold accesses that are added up before one fetch-and-add
 */
public record EvictionSettings(String name, long frequencyBytes, int frequencyThreshold) {

    private static final long FREQUENCY_BYTES = 1 << 20;
    private static final int FREQUENCY_THRESHOLD = 10;

    /** Without another word. */
    public static final EvictionSettings ADAPTIVE = of(Replacements.ADAPTIVE);

    /** With 1 MiB for a session's counters, and the paper's threshold of 10 (Ditto, section 4.2.2). */
    public static EvictionSettings of(String name) {
        return new EvictionSettings(name, FREQUENCY_BYTES, FREQUENCY_THRESHOLD);
    }

    /** @throws IllegalArgumentException where there is no such policy, or they keep too much with each object */
    public EvictionSettings {
        Replacements.named(name, 1, 1);
    }

    /** Words of 8 bytes that it keeps with each object. */
    public int extensionWords() {
        return Replacements.named(name, 1, 1).extensionWords();
    }

    /** For one session. */
    Replacement replacement(long objects, long seed) {
        return Replacements.named(name, objects, seed);
    }
}
