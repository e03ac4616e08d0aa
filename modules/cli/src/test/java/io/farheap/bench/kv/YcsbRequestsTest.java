package io.farheap.bench.kv;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The same requests are drawn for each store: their kinds and keys are those of the workload. */
class YcsbRequestsTest {

    private static final long OBJECTS = 1000;
    private static final int REQUESTS = 100_000;

    @Test
    void theSharesOfSetsAreTheWorkloads() {
        for (KvWorkload workload : KvWorkload.values()) {
            YcsbRequests requests = new YcsbRequests(workload, true, OBJECTS, 0);
            int sets = 0;
            for (int i = 0; i < REQUESTS; i++) {
                requests.next();
                sets += requests.set() ? 1 : 0;
            }
            assertEquals(workload.updates + workload.inserts, (double) sets / REQUESTS, 0.01, workload.name());
        }
    }

    @Test
    void keysAreThoseThatArePresent() {
        for (boolean zipfian : new boolean[] {false, true}) {
            YcsbRequests requests = new YcsbRequests(KvWorkload.A, zipfian, OBJECTS, 1);
            Map<Long, Integer> drawn = new HashMap<>();
            for (int i = 0; i < REQUESTS; i++) {
                requests.next();
                assertTrue(requests.key() >= 0 && requests.key() < OBJECTS, "key " + requests.key());
                drawn.merge(requests.key(), 1, Integer::sum);
            }
            int most = drawn.values().stream().mapToInt(Integer::intValue).max().orElseThrow();
            assertEquals(zipfian, most > 10 * REQUESTS / OBJECTS, "the most frequent key was drawn " + most + " times");
        }
    }

    /** Threads insert keys of their own, and get those that they have inserted. */
    @Test
    void insertedKeysAreRead() {
        Set<Long> others = new HashSet<>();
        for (int thread = 0; thread < 2; thread++) {
            YcsbRequests requests = new YcsbRequests(KvWorkload.D, true, OBJECTS, thread);
            Set<Long> inserted = new HashSet<>();
            int read = 0;
            for (int i = 0; i < REQUESTS; i++) {
                requests.next();
                if (requests.set()) {
                    assertTrue(inserted.add(requests.key()), "inserted twice: " + requests.key());
                } else if (inserted.contains(requests.key())) {
                    read++;
                } else {
                    assertTrue(requests.key() < OBJECTS, "never inserted: " + requests.key());
                }
            }
            assertTrue(read > REQUESTS / 2, read + " gets of inserted keys");
            assertTrue(inserted.stream().noneMatch(others::contains), "two threads inserted the same key");
            others.addAll(inserted);
        }
    }
}
