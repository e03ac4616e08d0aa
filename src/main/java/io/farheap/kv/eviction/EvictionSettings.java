package io.farheap.kv.eviction;

import io.farheap.kv.replacement.Replacement;
import io.farheap.kv.replacement.Replacements;

/**
 * The eviction policy of a map, and how a session's accesses reach the table.
 *
 * @param name of the policy, as {@link Replacements#named} knows it
 * @param frequencyBytes memory of a session's frequency-counter cache
 * @param frequencyThreshold the most accesses to an object that are held back; the next one sends a fetch-and-add
 */
public record EvictionSettings(String name, long frequencyBytes, int frequencyThreshold) {

    private static final long FREQUENCY_BYTES = 1 << 20;
    private static final int FREQUENCY_THRESHOLD = 10;

    /** The default. */
    public static final EvictionSettings ADAPTIVE = of(Replacements.ADAPTIVE);

    /** With 1 MiB for a session's counters, and the paper's threshold of 10 (Ditto, section 4.2.2). */
    public static EvictionSettings of(String name) {
        return new EvictionSettings(name, FREQUENCY_BYTES, FREQUENCY_THRESHOLD);
    }

    /** @throws IllegalArgumentException if there is no such policy, or it keeps too much with each object */
    public EvictionSettings {
        Replacements.named(name, 1, 1);
    }

    /** Words of 8 bytes that the policy keeps in each object's block. */
    public int extensionWords() {
        return Replacements.named(name, 1, 1).extensionWords();
    }

    /** The policy's state for one session. */
    Replacement replacement(long objects, long seed) {
        return Replacements.named(name, objects, seed);
    }
}
