package io.farheap.manager.state;

import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.locks.LockSupport;

/** Records for tests. */
final class Samples {

    private static final String AWKWARD = "a=Ü\\\n\r\t\0,:#€\uD83D\uDE00\uD83D\uDE00x\u2028 n";

    static final AllocationTerms TERMS = new AllocationTerms("d/c/r", 3, 2, 0, "acme");

    private Samples() {}

    static ServerRecord server(long id) {
        return new ServerRecord(id, "host" + id + ":7000", "spot", true, 1000, "rack-1", 1 << 20, 64, 30_000, false);
    }

    static CacheRecord cache(long id, long generation) {
        SortedMap<Long, Integer> regions = new TreeMap<>();
        regions.put(1L, 3);
        regions.put(2L, 1);
        return new CacheRecord(id, "cache " + id, 1L << 32, 0, 1 << 20, TERMS, generation, regions, new TreeMap<>());
    }

    /** A random valid record. */
    static ServerRecord server(Random random) {
        return new ServerRecord(
                random.nextLong(),
                "x" + text(random),
                text(random),
                random.nextBoolean(),
                positive(random),
                text(random),
                1 + positive(random),
                random.nextInt(Integer.MAX_VALUE),
                positive(random),
                random.nextBoolean(),
                random.nextBoolean());
    }

    /** A random valid record. */
    static CacheRecord cache(Random random) {
        return new CacheRecord(
                random.nextLong(),
                "x" + text(random),
                positive(random),
                positive(random),
                1 + positive(random),
                new AllocationTerms(
                        text(random),
                        1 + random.nextInt(5),
                        random.nextInt(9),
                        random.nextBoolean() ? 0 : positive(random),
                        random.nextBoolean() ? 0 : positive(random),
                        "x-" + random.nextInt(100)),
                positive(random),
                counts(random),
                counts(random),
                random.nextBoolean()
                        ? null
                        : new CachePlan(
                                1 + random.nextInt(5),
                                random.nextInt(9),
                                positive(random),
                                new TreeSet<>(counts(random).keySet())),
                random.nextBoolean());
    }

    private static long positive(Random random) {
        return random.nextLong(Long.MAX_VALUE) >> random.nextInt(63);
    }

    private static SortedMap<Long, Integer> counts(Random random) {
        SortedMap<Long, Integer> counts = new TreeMap<>();
        for (int i = random.nextInt(5); i > 0; i--) {
            counts.put(random.nextLong() >> random.nextInt(64), 1 + random.nextInt(Integer.MAX_VALUE - 1));
        }
        return counts;
    }

    /** Waits until a store knows that another store was opened. */
    static void awaitFollowed(ZooKeeperStore store) {
        long end = System.nanoTime() + 60_000_000_000L;
        while (!store.followed()) {
            if (System.nanoTime() - end > 0) {
                throw new AssertionError("it does not learn that another was opened");
            }
            LockSupport.parkNanos(10_000_000);
        }
    }

    private static String text(Random random) {
        StringBuilder text = new StringBuilder();
        for (int i = random.nextInt(12); i > 0; i--) {
            // Any character, also half of a surrogate pair.
            text.append(
                    random.nextBoolean()
                            ? AWKWARD.charAt(random.nextInt(AWKWARD.length()))
                            : (char) random.nextInt(0x10000));
        }
        return text.toString();
    }
}
