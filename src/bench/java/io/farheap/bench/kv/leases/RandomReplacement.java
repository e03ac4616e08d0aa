package io.farheap.bench.kv.leases;

import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * A model of a map that evicts at random, for the hit ratio alone: no store of ours does that. Every miss inserts. One
 * thread.
 */
final class RandomReplacement {

    private final long[] keys;
    private final Map<Long, Integer> places = new HashMap<>();
    private final SplittableRandom random;
    private int held;

    /** @param objects that it holds */
    RandomReplacement(int objects, long seed) {
        keys = new long[objects];
        random = new SplittableRandom(seed);
    }

    /** Gets a key, or sets it, and returns whether it was there. */
    boolean use(long key) {
        if (places.containsKey(key)) {
            return true;
        }
        int place = held < keys.length ? held++ : evict();
        keys[place] = key;
        places.put(key, place);
        return false;
    }

    /** Evicts an object, and returns its place. */
    private int evict() {
        int place = random.nextInt(keys.length);
        places.remove(keys[place]);
        return place;
    }
}
