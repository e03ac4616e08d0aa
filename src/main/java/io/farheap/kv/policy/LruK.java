package io.farheap.kv.policy;

import java.util.Set;

/**
 * LRU-K (O'Neil, SIGMOD '93) as in Ditto's listing 1: evicts the object whose K-th last access is the longest ago; an
 * object with fewer accesses counts by its insertion time, as in FIFO.
 *
 * <p>The original evicts objects with fewer accesses before all others and remembers evicted objects. The listing packs
 * K times into one word with a counter; here each has a word, the latest first.
 */
final class LruK implements EvictionPolicy {

    static final int MOST = ObjectMetadata.EXTENSION_WORDS;

    private final int accesses;

    /** @param accesses K, 2 to {@link #MOST} */
    LruK(int accesses) {
        this.accesses = accesses;
    }

    @Override
    public double priority(ObjectMetadata object) {
        long time = object.extension(accesses - 1);
        return time == 0 ? object.insertTime() : time;
    }

    @Override
    public void update(ObjectMetadata object) {
        for (int word = accesses - 1; word > 0; word--) {
            object.extension(word, object.extension(word - 1));
        }
        object.extension(0, object.now());
    }

    @Override
    public int extensionWords() {
        return accesses;
    }

    @Override
    public Set<AccessInformation> needs() {
        return Set.of(AccessInformation.INSERT_TIME, AccessInformation.EXTENSION);
    }
}
