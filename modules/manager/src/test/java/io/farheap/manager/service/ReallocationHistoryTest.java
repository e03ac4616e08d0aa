package io.farheap.manager.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.manager.Allocation;
import io.farheap.manager.AllocationCandidate;
import io.farheap.manager.CacheRequest;
import io.farheap.manager.ReclaimOutcome;
import io.farheap.manager.RegionShare;
import io.farheap.manager.ServerReport;
import io.farheap.manager.service.requests.Reallocations;
import io.farheap.manager.state.CacheRecord;
import io.farheap.testing.Effort;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Histories of caches that are reallocated, or not, under managers that cannot write, end and restart: each cache is as
 * its client knows it from the last answer, and no server has promised more than it has.
 */
class ReallocationHistoryTest {

    private static final long SECOND = 1_000_000_000L;
    private static final long MIB = 1 << 20;
    private static final int STEPS = 300;
    private static final int SERVERS = 6;
    private static final double CORES = 4;
    private static final String MENU = """
            {"types": [{"name": "dear", "cores": 4, "memory": "16m", "price": 16},
                       {"name": "cheap", "cores": 4, "memory": "32m", "price": 16},
                       {"name": "bare", "memory": "32m", "price": 8}], "move_price": 0.1}""";
    private static final List<String> TYPES = List.of("dear", "cheap", "bare");
    private static final int[] REGIONS = {16, 32, 32};

    /** The seeds; with {@code -Dfarheap.seed=S}, that seed alone. */
    static LongStream seeds() {
        Long one = Long.getLong("farheap.seed");
        if (one != null) {
            return LongStream.of(one);
        }
        long first = System.nanoTime();
        return LongStream.range(first, first + Effort.count(10));
    }

    /** A cache, as its client knows it. */
    private static final class Known {
        private long capacity;
        private AllocationCandidate candidate;
        /** The manager's plan, until it is carried out or given up. */
        private Allocation plan;

        private long wanted;
    }

    private final MemoryStore store = new MemoryStore();
    private final Map<Long, Known> caches = new TreeMap<>();
    private final Map<String, Integer> done = new TreeMap<>();
    private long now = 1000 * SECOND;
    private ClusterManager cluster = start();
    private Random random = new Random();
    private long nextId = 1;

    private ClusterManager start() {
        ClusterManager started = new ClusterManager(store, ManagerOptions.DEFAULT, () -> now, () -> now / 1_000_000);
        started.menu(MENU);
        return started;
    }

    private void report() {
        for (int i = 0; i < SERVERS; i++) {
            int type = i % TYPES.size();
            cluster.report(new ServerReport(
                    i + 1,
                    "host" + (i + 1) + ":1",
                    TYPES.get(type),
                    false,
                    "d/c/r",
                    MIB,
                    REGIONS[type],
                    REGIONS[type],
                    30_000,
                    false,
                    0,
                    Map.of()));
        }
        cluster.attend(99, new Unheard()).renew(Set.copyOf(caches.keySet()));
    }

    private void count(String what) {
        done.merge(what, 1, Integer::sum);
    }

    private List<AllocationCandidate> candidates() {
        List<AllocationCandidate> some = new ArrayList<>();
        for (int i = 0; i <= random.nextInt(2); i++) {
            some.add(new AllocationCandidate(5, random.nextInt(5)));
        }
        return some;
    }

    private long bytes() {
        return MIB / 2 + random.nextLong(12 * MIB);
    }

    private void step() {
        List<Long> ids = new ArrayList<>(caches.keySet());
        long id = ids.isEmpty() ? 0 : ids.get(random.nextInt(ids.size()));
        Known cache = caches.get(id);
        store.failing = random.nextInt(12) == 0;
        try {
            int what = random.nextInt(100);
            if (cache == null || what < 12) {
                allocate();
            } else if (cache.plan == null) {
                plan(id, cache);
            } else if (what < 60) {
                become(id, cache);
            } else if (what < 80) {
                stay(id, cache);
            } else if (what < 88) {
                store.failing = false;
                cluster = start();
                report();
                count("restart");
            } else if (what < 92) {
                pass();
            } else if (what < 96) {
                assertEquals(cache.plan, cluster.reallocate(id, cache.wanted, List.of(cache.plan.candidate())));
            } else {
                store.failing = false;
                cluster.deallocate(id);
                caches.remove(id);
            }
        } catch (ControlException e) {
            assertTrue(
                    e.code() == Code.OUT_OF_MEMORY || store.failing && e.code() == Code.INTERNAL,
                    () -> e.code() + ": " + e.getMessage());
            count(e.code().toString());
        } finally {
            store.failing = false;
        }
    }

    private void allocate() {
        long id = nextId++;
        Known cache = new Known();
        cache.capacity = bytes();
        Allocation got = cluster.allocate(new CacheRequest(id, 99, "c", cache.capacity, 0, "d/c/r", candidates()));
        cache.candidate = got.candidate();
        caches.put(id, cache);
        // Without a renewal the manager would give the cache up.
        cluster.attend(99, new Unheard()).renew(Set.copyOf(caches.keySet()));
    }

    private void plan(long id, Known cache) {
        long wanted = random.nextInt(3) == 0 ? cache.capacity : bytes();
        List<AllocationCandidate> wish = random.nextInt(3) == 0 ? List.of() : candidates();
        Allocation plan = cluster.reallocate(id, wanted, wish);
        assertEquals(cache.capacity, plan.capacity(), "it is what it was");
        assertTrue((wish.isEmpty() ? List.of(cache.candidate) : wish).contains(plan.candidate()));
        count(plan.left().isEmpty() ? "stays" : "leaves");
        if (store.caches.get(id).plan() != null) {
            cache.plan = plan;
            cache.wanted = wanted;
        }
    }

    /** Carries out the whole plan; a smaller cache keeps the first servers' regions. */
    private void become(long id, Known cache) {
        Map<String, Integer> regions = new TreeMap<>();
        cache.plan.shares().stream()
                .filter(share -> !cache.plan.left().contains(share.address()))
                .forEach(share -> regions.merge(share.address(), share.regions(), Integer::sum));
        cache.plan.reserved().forEach(share -> regions.merge(share.address(), share.regions(), Integer::sum));
        List<RegionShare> shares = new ArrayList<>();
        int left = (int) ((cache.wanted - 1) / MIB + 1);
        for (Map.Entry<String, Integer> share : regions.entrySet()) {
            if (left > 0) {
                shares.add(new RegionShare(share.getKey(), Math.min(left, share.getValue())));
                left -= shares.getLast().regions();
            }
        }
        assertEquals(0, left);
        cluster.moved(id, cache.plan.generation(), cache.wanted, cache.plan.candidate(), shares);
        cache.capacity = cache.wanted;
        cache.candidate = cache.plan.candidate();
        cache.plan = null;
        count("becomes");
    }

    private void stay(long id, Known cache) {
        if (cache.wanted == cache.capacity && cache.plan.candidate().equals(cache.candidate)) {
            return;
        }
        cluster.moved(id, cache.plan.generation(), cache.capacity, cache.candidate, cache.plan.shares());
        cache.plan = null;
        count("stays what it was");
    }

    /** Lets more time pass than any plan is kept. */
    private void pass() {
        store.failing = false;
        for (int i = 0; i < 310; i++) {
            now += 2 * SECOND;
            report();
            cluster.tick();
        }
        caches.forEach((id, cache) -> {
            cache.plan = null;
            Allocation told = cluster.describe(id).allocation();
            if (!told.reserved().isEmpty()) {
                // The manager has planned a move to cheaper servers, and the client declines. Only the answer that
                // names
                // the server that it was to leave counts.
                told.shares()
                        .forEach(share -> cluster.moved(
                                id,
                                cluster.describe(id).allocation().generation(),
                                told.capacity(),
                                null,
                                told.shares(),
                                ReclaimOutcome.nothing(share.address())));
            }
        });
        count("time");
    }

    private void check() {
        assertEquals(caches.keySet(), store.caches.keySet());
        Map<Long, Double> threads = new HashMap<>();
        Map<Long, Integer> regions = new HashMap<>();
        Set<Long> left = new HashSet<>();
        caches.forEach((id, cache) -> {
            CacheRecord record = store.caches.get(id);
            assertEquals(cache.capacity, record.capacity());
            assertEquals(cache.candidate, Reallocations.candidate(record.terms()));
            assertEquals(cache.plan == null, record.plan() == null);
            assertEquals((cache.capacity - 1) / MIB + 1, record.count());
            record.regions().forEach((server, count) -> {
                regions.merge(server, count, Integer::sum);
                threads.merge(server, count * record.threadsOfRegion(), Double::sum);
            });
            record.reserved().forEach((server, count) -> {
                regions.merge(server, count, Integer::sum);
                double each =
                        (double) record.plan().serverThreads() / record.plan().threadRegions();
                threads.merge(server, count * each, Double::sum);
            });
            if (record.plan() != null) {
                left.addAll(record.plan().left());
            }
        });
        regions.forEach((server, count) ->
                assertTrue(count <= REGIONS[(int) (server - 1) % TYPES.size()], count + " regions on " + server));
        threads.forEach((server, count) -> {
            double cores = (server - 1) % TYPES.size() == 2 ? 0 : CORES;
            assertTrue(left.contains(server) || count <= cores + 1e-6, count + " threads on " + server);
        });
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void eachCacheIsWhatItsClientWasToldAndServersHaveWhatTheyPromised(long seed) {
        random = new Random(seed);
        report();
        for (int i = 0; i < STEPS; i++) {
            try {
                step();
                check();
            } catch (AssertionError e) {
                throw new AssertionError("seed " + seed + ", step " + i + ", done " + done, e);
            }
        }
        assertTrue(
                done.getOrDefault("becomes", 0) > 10 && done.getOrDefault("leaves", 0) > 0,
                "seed " + seed + ": " + done);
    }
}
