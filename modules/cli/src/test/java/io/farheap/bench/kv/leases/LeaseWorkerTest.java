package io.farheap.bench.kv.leases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

/** Requests of clients that need no server, by a clock that these set. */
class LeaseWorkerTest {

    private static final int ROOM = 25;

    private long now;

    /** An LRU cache, whose requests take a time. */
    private final class LruClient implements KeyedClient {

        final List<Long> asked = new ArrayList<>();
        private final Set<Long> held = new LinkedHashSet<>();
        private final long took;
        long hits;
        long pointerHits;
        long reads;
        boolean hasPointers;
        boolean hasStalePointers;

        LruClient(long took) {
            this.took = took;
        }

        @Override
        public boolean get(long number) {
            now += took;
            asked.add(number);
            if (hasPointers || hasStalePointers) {
                reads++;
            }
            if (!held.remove(number)) {
                return false;
            }
            held.add(number);
            hits++;
            if (hasPointers) {
                pointerHits++;
            }
            return true;
        }

        @Override
        public void set(long number) {
            now += took;
            held.remove(number);
            if (held.size() == ROOM) {
                held.remove(held.iterator().next());
            }
            held.add(number);
        }

        @Override
        public long pointerHits() {
            return pointerHits;
        }

        @Override
        public long reads() {
            return reads;
        }

        @Override
        public void release() {}
    }

    private static LeaseWorkload workload(long keys, int gets) {
        return new LeaseWorkload(keys, LeaseWorkload.USUAL_SKEW, gets, 8, ROOM, 1, 1);
    }

    private LeaseWorker worker(LruClient client, LeaseWorkload workload) {
        return new LeaseWorker(List.of(client), workload, 1, () -> now);
    }

    /** Else a slow side would be colder when its hits are counted. */
    @Test
    void aSlowSideHitsAsOftenAsAFastOne() {
        LruClient fast = new LruClient(10);
        LruClient slow = new LruClient(10_000_000);
        for (LruClient client : List.of(fast, slow)) {
            LeaseWorker worker = worker(client, workload(100, 95));
            worker.make(500);
            client.hits = 0;
            worker.make(500);
            assertEquals(500, worker.requests());
        }
        assertEquals(fast.asked, slow.asked);
        assertEquals(fast.hits, slow.hits);
        assertTrue(fast.hits > 100 && fast.hits < 500, () -> fast.hits + " hits");
    }

    @Test
    void aGetAndTheSetAfterItsMissAreOneRequest() {
        LeaseWorker worker = worker(new LruClient(10), workload(100, 95));
        worker.play(new int[] {1, 2, 1});
        assertEquals(3, worker.requests());
        assertEquals(2, worker.refills());
        assertEquals(0, worker.sets());
        // Three gets and two sets take 50 ns.
        assertEquals(3 * 1e9 / 50, worker.rate(), 1e-3);
    }

    @Test
    void aRunEndsByTheClock() {
        LeaseWorker worker = worker(new LruClient(10), workload(100, 0));
        worker.run(1000);
        assertEquals(112, worker.requests());
        assertEquals(112, worker.sets());
        worker.run(1);
        assertEquals(16, worker.requests());
    }

    @Test
    void allKeysAreFilledByAllWorkersTogether() {
        LruClient client = new LruClient(10);
        LeaseWorker worker = worker(client, workload(20, 95));
        worker.fill(0, 2);
        worker.fill(1, 2);
        assertEquals(20, client.held.size());
    }

    /** The kinds of one request of a client that has the key, or has not. */
    private Set<String> kinds(LruClient client, int gets, boolean held) {
        LeaseWorkload one = workload(1, gets);
        if (held) {
            client.set(0);
        }
        Map<String, Histogram> latency = new TreeMap<>();
        worker(client, one).time(1, latency);
        return latency.keySet();
    }

    @Test
    void requestsAreOfTheirKinds() {
        assertEquals(Set.of(LeaseWorker.FAST_MESSAGE), kinds(new LruClient(10), 100, true));
        LruClient pointers = new LruClient(10);
        pointers.hasPointers = true;
        assertEquals(Set.of(LeaseWorker.READ), kinds(pointers, 100, true));
        LruClient stale = new LruClient(10);
        stale.hasStalePointers = true;
        assertEquals(Set.of(LeaseWorker.SLOW_MESSAGE), kinds(stale, 100, true));
        assertEquals(Set.of(LeaseWorker.MISS, LeaseWorker.SLOW_WRITE), kinds(new LruClient(10), 100, false));
        assertEquals(Set.of(LeaseWorker.FAST_WRITE), kinds(new LruClient(10), 0, true));
        assertEquals(Set.of(LeaseWorker.SLOW_WRITE), kinds(new LruClient(10), 0, false));
    }
}
