package io.farheap.bench.kv;

import java.util.SplittableRandom;

/**
 * Requests that are friendly to one expert, for a cache of N objects. For LRU: keys of a window of nine tenths of N,
 * which moves on by a key every four requests, so that a key that was used is soon never used again. For LFU: every
 * second request is for one of nine tenths of N fixed keys, the others are for keys that are requested once, so that
 * between two requests for a fixed key there are more other keys than the cache holds. One thread.
 */
final class AdaptiveLoad {

    private static final int MOVE_EVERY = 4;
    /** Keeps the three kinds of keys apart: fixed keys, those of windows, and those that are requested once. */
    private static final int WINDOWS = 1 << 28;

    private static final int ONCE = 1 << 29;

    private final int hot;
    private final SplittableRandom random;
    private int windowAt;
    private int once;

    AdaptiveLoad(long objects, long seed) {
        hot = (int) Math.max(1, objects * 9 / 10);
        random = new SplittableRandom(seed);
    }

    int friendlyToLru() {
        if (random.nextInt(MOVE_EVERY) == 0) {
            windowAt++;
        }
        return WINDOWS + windowAt + random.nextInt(hot);
    }

    int friendlyToLfu() {
        return random.nextBoolean() ? random.nextInt(hot) : ONCE + once++;
    }

    int[] phase(boolean lru, int requests) {
        int[] keys = new int[requests];
        for (int i = 0; i < requests; i++) {
            keys[i] = lru ? friendlyToLru() : friendlyToLfu();
        }
        return keys;
    }
}
