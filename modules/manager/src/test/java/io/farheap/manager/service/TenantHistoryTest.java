package io.farheap.manager.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.manager.AllocationCandidate;
import io.farheap.manager.CacheRequest;
import io.farheap.manager.Quota;
import io.farheap.manager.RegionShare;
import io.farheap.manager.ServerReport;
import io.farheap.manager.Tenant;
import io.farheap.testing.Effort;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Histories of several tenants, compared with a model that adds up each tenant's use again after each step. */
class TenantHistoryTest {

    private static final long SECOND = 1_000_000_000L;
    private static final int REGION = 100;
    private static final int STEPS = 400;
    private static final List<String> TENANTS = List.of("a", "b", "c");

    /** The seeds; with {@code -Dfarheap.seed=S}, that seed alone. */
    static LongStream seeds() {
        Long one = Long.getLong("farheap.seed");
        if (one != null) {
            return LongStream.of(one);
        }
        long first = System.nanoTime();
        return LongStream.range(first, first + Effort.count(20));
    }

    private static final class Known {
        private final String tenant;
        private long capacity;
        private long wanted;
        /**
         * The client gave the cache back, and the manager could not write that: the cache ends once no server has
         * regions of it.
         */
        private boolean ending;

        Known(String tenant, long capacity) {
            this.tenant = tenant;
            this.capacity = capacity;
        }

        long bytes() {
            return Math.max(capacity, wanted);
        }
    }

    private final MemoryStore store = new MemoryStore();
    private long now = 1000 * SECOND;
    private ClusterManager cluster = start();
    private final Map<Long, Known> caches = new TreeMap<>();
    private final Map<String, Quota> quotas = new HashMap<>();
    private Random random = new Random();
    private long nextId = 1;
    private int refused;
    private int done;

    private ClusterManager start() {
        return new ClusterManager(store, ManagerOptions.DEFAULT, () -> now, () -> 5_000_000);
    }

    private void report() {
        cluster.report(new ServerReport(
                1, "host1:1", "t", false, "d/c/r", REGION, 1_000_000, 1_000_000, 30_000, false, 0, Map.of()));
        cluster.attend(99, new Unheard()).renew(Set.copyOf(caches.keySet()));
    }

    private long used(String tenant) {
        return caches.values().stream()
                .filter(cache -> cache.tenant.equals(tenant))
                .mapToLong(Known::bytes)
                .sum();
    }

    private long count(String tenant) {
        return caches.values().stream()
                .filter(cache -> cache.tenant.equals(tenant))
                .count();
    }

    private boolean hasRoom(String tenant, long more) {
        return more <= 0
                || used(tenant) + more
                        <= quotas.getOrDefault(tenant, Quota.NONE).bytes();
    }

    private static long regions(long bytes) {
        return (bytes + REGION - 1) / REGION;
    }

    /** The call succeeds, and the model follows, if the model expects no failure; otherwise it fails with that code. */
    private void step(Code expected, Runnable call, Runnable model) {
        try {
            call.run();
            assertEquals(null, expected);
            model.run();
            done++;
        } catch (ControlException e) {
            if (store.failing && e.code() == Code.INTERNAL) {
                return;
            }
            assertEquals(expected, e.code(), e.getMessage());
            refused++;
        }
    }

    private long some() {
        return 1 + random.nextInt(1000);
    }

    private String anyTenant() {
        return TENANTS.get(random.nextInt(TENANTS.size()));
    }

    private void allocate() {
        long id = nextId++;
        long bytes = random.nextInt(20) == 0 ? 1_000_000_000L : some();
        String tenant = anyTenant();
        boolean allowed =
                count(tenant) < quotas.getOrDefault(tenant, Quota.NONE).caches() && hasRoom(tenant, bytes);
        // There is room for all but the largest.
        Code expected = allowed && bytes < 1_000_000 ? null : Code.OUT_OF_MEMORY;
        CacheRequest request = new CacheRequest(id, 99, "c", bytes, 0, "", List.of(AllocationCandidate.ANY), tenant);
        step(expected, () -> cluster.allocate(request), () -> caches.put(id, new Known(tenant, bytes)));
        if (caches.containsKey(id) && random.nextBoolean()) {
            step(null, () -> cluster.allocate(request), () -> {});
        }
    }

    private void reallocate(long id, Known cache) {
        long bytes = random.nextInt(4) == 0 && cache.wanted != 0 ? cache.wanted : some();
        boolean grows = regions(bytes) > regions(cache.capacity) && cache.wanted != bytes;
        Code expected = !hasRoom(cache.tenant, bytes - cache.bytes())
                ? Code.OUT_OF_MEMORY
                : grows && cache.wanted != 0 ? Code.BUSY : null;
        step(expected, () -> cluster.reallocate(id, bytes), () -> cache.wanted = grows ? bytes : cache.wanted);
    }

    private void moved(long id, Known cache) {
        long bytes = cache.wanted != 0 && random.nextBoolean() ? cache.wanted : some();
        boolean fits = regions(bytes) == regions(cache.capacity);
        Code expected = bytes > cache.capacity && bytes != cache.wanted && !fits
                ? Code.INVALID_ARGUMENT
                : hasRoom(cache.tenant, bytes - cache.bytes()) ? null : Code.OUT_OF_MEMORY;
        List<RegionShare> shares = List.of(new RegionShare("host1:1", (int) regions(bytes)));
        step(expected, () -> cluster.moved(id, cluster.describe(id).allocation().generation(), bytes, shares), () -> {
            cache.capacity = bytes;
            cache.wanted = 0;
        });
    }

    private void setQuota() {
        String tenant = anyTenant();
        Quota quota = new Quota(
                random.nextInt(3) == 0 ? Quota.UNLIMITED : random.nextInt(6000),
                random.nextInt(3) == 0 ? Quota.UNLIMITED : random.nextInt(12));
        step(null, () -> cluster.setQuota(tenant, quota), () -> quotas.put(tenant, quota));
    }

    /** Lets time pass until no cache grows any more, and caches that were given back have ended. */
    private void pass() {
        store.failing = false;
        for (int i = 0; i < 12; i++) {
            now += SECOND;
            report();
            cluster.tick();
        }
        caches.values().removeIf(cache -> cache.ending);
        caches.values().forEach(cache -> cache.wanted = 0);
    }

    private void step() {
        store.failing = random.nextInt(10) == 0;
        List<Long> ids = new ArrayList<>(caches.keySet());
        long id = ids.isEmpty() ? 0 : ids.get(random.nextInt(ids.size()));
        Known cache = caches.get(id);
        int what = random.nextInt(100);
        if (what < 30 || cache == null) {
            allocate();
        } else if (what < 50) {
            reallocate(id, cache);
        } else if (what < 70) {
            moved(id, cache);
        } else if (what < 87) {
            cache.ending = true;
            step(null, () -> cluster.deallocate(id), () -> caches.remove(id));
        } else if (what < 95) {
            setQuota();
        } else if (what < 97) {
            store.failing = false;
            cluster = start();
            report();
            caches.values().forEach(known -> known.ending = false);
        } else {
            pass();
        }
        store.failing = false;
    }

    private List<Tenant> modelled() {
        return TENANTS.stream()
                .map(name -> new Tenant(name, quotas.getOrDefault(name, Quota.NONE), used(name), count(name)))
                .filter(tenant -> tenant.caches() > 0 || !tenant.quota().equals(Quota.NONE))
                .toList();
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void whatTenantsHaveIsWhatTheirCachesHave(long seed) {
        random = new Random(seed);
        report();
        for (int i = 0; i < STEPS; i++) {
            step();
            assertEquals(modelled(), cluster.tenants("", 10), "seed " + seed + ", after step " + i);
        }
        assertTrue(done > STEPS / 4 && refused > STEPS / 40, done + " done, " + refused + " refused");
    }
}
