package io.farheap.manager.service.caches;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.manager.Allocation;
import io.farheap.manager.AllocationCandidate;
import io.farheap.manager.CacheRequest;
import io.farheap.manager.Quota;
import io.farheap.manager.RegionShare;
import io.farheap.manager.ServerReport;
import io.farheap.manager.Tenant;
import io.farheap.manager.service.ClusterManager;
import io.farheap.manager.service.ManagerOptions;
import io.farheap.manager.service.MemoryStore;
import io.farheap.manager.service.Unheard;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The quotas of tenants, with a store in memory and a clock that only the tests advance. */
class TenantsTest {

    private static final long MIB = 1 << 20;
    private static final long SECOND = 1_000_000_000L;

    private final MemoryStore store = new MemoryStore();
    private long now = 1000 * SECOND;
    private ClusterManager cluster = start();

    private ClusterManager start() {
        return new ClusterManager(store, ManagerOptions.DEFAULT, () -> now, () -> 5_000_000);
    }

    @BeforeEach
    void report() {
        cluster.report(new ServerReport(1, "host1:1", "t", false, "d/c/r", MIB, 100, 100, 30_000, false, 0, Map.of()));
    }

    private void pass(int seconds) {
        for (int i = 0; i < seconds; i++) {
            now += SECOND;
            report();
            cluster.tick();
        }
    }

    private Allocation allocate(long id, String tenant, long bytes) {
        return cluster.allocate(
                new CacheRequest(id, 99, "cache", bytes, 0, "", List.of(AllocationCandidate.ANY), tenant));
    }

    private static String refusal(Code code, Runnable call) {
        ControlException refused = assertThrows(ControlException.class, call::run);
        assertEquals(code, refused.code(), refused.getMessage());
        return refused.getMessage();
    }

    private void quota(String tenant, long bytes, long caches) {
        cluster.setQuota(tenant, new Quota(bytes, caches));
    }

    private Tenant tenant(String name) {
        return cluster.tenants("", 1000).stream()
                .filter(tenant -> tenant.name().equals(name))
                .findFirst()
                .orElse(new Tenant(name, Quota.NONE, 0, 0));
    }

    private void assertUse(String tenant, long bytes, long caches) {
        assertEquals(
                bytes + " in " + caches,
                tenant(tenant).bytes() + " in " + tenant(tenant).caches());
    }

    @Test
    void aCacheBelongsToItsTenant() {
        allocate(7, "acme", 3 * MIB);
        allocate(8, "", MIB);
        assertEquals("acme", cluster.describe(7).tenant());
        assertEquals("default", cluster.describe(8).tenant());
        assertEquals(
                List.of("acme", "default"),
                cluster.list(0, 10).stream().map(cache -> cache.tenant()).toList());
        assertEquals("acme", cluster.extend(7, 60_000).tenant());
        cluster = start();
        report();
        assertEquals("acme", cluster.describe(7).tenant());
        allocate(7, "acme", 3 * MIB);
        assertTrue(refusal(Code.INVALID_ARGUMENT, () -> allocate(7, "other", 3 * MIB))
                .contains("belongs to tenant acme, not other"));
    }

    @Test
    void aNameIsOneThatCanBeTyped() {
        for (String name : List.of("-x", ".", "a/b", "a b", "ü", "x".repeat(65))) {
            assertThrows(IllegalArgumentException.class, () -> quota(name, 1, 1), name);
            assertThrows(IllegalArgumentException.class, () -> allocate(7, name, MIB), name);
        }
        quota("A.b-c_9", 1, 1);
        assertThrows(IllegalArgumentException.class, () -> quota("acme", -1, 1));
    }

    @Test
    void aRefusalNamesTenantUseQuotaAndRemedy() {
        quota("acme", 4 * MIB, 2);
        allocate(7, "acme", 3 * MIB);
        assertEquals(
                "tenant acme has 3 MiB and asks for 1.0 MiB (1048577 bytes) more, and its quota is 4 MiB; ask for less,"
                        + " close or shrink some of its caches, or raise the quota with 'farheap manager tenant acme'",
                refusal(Code.OUT_OF_MEMORY, () -> allocate(8, "acme", MIB + 1)));
        allocate(8, "acme", MIB / 2);
        assertEquals(
                "tenant acme has 2 caches, and its quota is 2; close some of them, or raise the quota with"
                        + " 'farheap manager tenant acme'",
                refusal(Code.OUT_OF_MEMORY, () -> allocate(9, "acme", 1)));
        allocate(9, "other", 50 * MIB);
        assertUse("acme", 3 * MIB + MIB / 2, 2);
    }

    @Test
    void whatIsAskedForAgainCountsOnce() {
        quota("acme", 4 * MIB, 1);
        Allocation first = allocate(7, "acme", 4 * MIB);
        assertEquals(first, allocate(7, "acme", 4 * MIB));
        assertUse("acme", 4 * MIB, 1);
        quota("acme", 6 * MIB, 1);
        cluster.reallocate(7, 6 * MIB);
        cluster.reallocate(7, 6 * MIB);
        assertUse("acme", 6 * MIB, 1);
    }

    @Test
    void whatIsRefusedClosedOrForgottenIsGivenBack() {
        quota("acme", 200 * MIB, 2);
        assertTrue(refusal(Code.OUT_OF_MEMORY, () -> allocate(7, "acme", 101 * MIB))
                .contains("there is no room"));
        assertUse("acme", 0, 0);
        allocate(7, "acme", 10 * MIB);
        assertTrue(refusal(Code.OUT_OF_MEMORY, () -> cluster.reallocate(7, 150 * MIB))
                .contains("cannot have"));
        assertUse("acme", 10 * MIB, 1);
        cluster.deallocate(7);
        cluster.deallocate(7);
        assertUse("acme", 0, 0);
        allocate(8, "acme", 10 * MIB);
        // The cache's client never renews it, and no server reports regions of it.
        pass(40);
        refusal(Code.NOT_FOUND, () -> cluster.describe(8));
        assertUse("acme", 0, 0);
        quota("acme", Quota.UNLIMITED, Quota.UNLIMITED);
        assertEquals(List.of(), cluster.tenants("", 10));
        assertEquals(Map.of(), store.tenants);
    }

    @Test
    void growthCountsFromWhenItIsReserved() {
        quota("acme", 6 * MIB, 9);
        allocate(7, "acme", 3 * MIB);
        assertTrue(refusal(Code.OUT_OF_MEMORY, () -> cluster.reallocate(7, 7 * MIB))
                .contains("has 3 MiB and asks for 4 MiB more"));
        Allocation growing = cluster.reallocate(7, 6 * MIB);
        assertUse("acme", 6 * MIB, 1);
        refusal(Code.OUT_OF_MEMORY, () -> allocate(8, "acme", 1));
        // From now on the quota is less than the tenant uses, but this growth was promised before.
        quota("acme", MIB, 9);
        cluster.moved(7, growing.generation(), 6 * MIB, List.of(new RegionShare("host1:1", 6)));
        assertUse("acme", 6 * MIB, 1);
        quota("acme", 9 * MIB, 9);
        cluster.reallocate(7, 9 * MIB);
        assertUse("acme", 9 * MIB, 1);
        // The client does not take the reserved room.
        cluster.attend(99, new Unheard()).renew(Set.of(7L));
        pass(12);
        assertUse("acme", 6 * MIB, 1);
        long generation = cluster.describe(7).allocation().generation();
        cluster.moved(7, generation, 2 * MIB, List.of(new RegionShare("host1:1", 2)));
        assertUse("acme", 2 * MIB, 1);
    }

    @Test
    void bytesForWhichTheLastRegionHasRoomCountToo() {
        quota("acme", 2 * MIB, 9);
        Allocation first = allocate(7, "acme", MIB + 10);
        allocate(8, "acme", MIB - 20);
        refusal(Code.OUT_OF_MEMORY, () -> cluster.reallocate(7, MIB + 21));
        cluster.reallocate(7, MIB + 20);
        List<RegionShare> shares = List.of(new RegionShare("host1:1", 2));
        assertTrue(refusal(Code.OUT_OF_MEMORY, () -> cluster.moved(7, first.generation(), MIB + 21, shares))
                .contains("asks for 11 bytes more"));
        cluster.moved(7, first.generation(), MIB + 20, shares);
        assertUse("acme", 2 * MIB, 2);
    }

    @Test
    void aQuotaBelowWhatIsUsedTakesNothingAway() {
        allocate(7, "acme", 5 * MIB);
        allocate(8, "acme", 2 * MIB);
        Tenant lowered = cluster.setQuota("acme", new Quota(3 * MIB, 1));
        assertEquals(new Tenant("acme", new Quota(3 * MIB, 1), 7 * MIB, 2), lowered);
        refusal(Code.OUT_OF_MEMORY, () -> allocate(9, "acme", 1));
        refusal(Code.OUT_OF_MEMORY, () -> cluster.reallocate(8, 3 * MIB));
        allocate(7, "acme", 5 * MIB);
        cluster.moved(8, 1, MIB, List.of(new RegionShare("host1:1", 1)));
        cluster.deallocate(7);
        cluster.reallocate(8, 3 * MIB);
        assertUse("acme", 3 * MIB, 1);
    }

    @Test
    void aNewManagerCountsFromTheRecords() {
        quota("acme", 5 * MIB, 3);
        quota("nobody", 1, Quota.UNLIMITED);
        allocate(7, "acme", 2 * MIB);
        cluster.reallocate(7, 4 * MIB);
        List<Tenant> before = cluster.tenants("", 10);
        cluster = start();
        report();
        assertEquals(before, cluster.tenants("", 10));
        assertEquals(
                List.of(
                        new Tenant("acme", new Quota(5 * MIB, 3), 4 * MIB, 1),
                        new Tenant("nobody", new Quota(1, Quota.UNLIMITED), 0, 0)),
                before);
        assertEquals(
                List.of("nobody"),
                cluster.tenants("acme", 10).stream().map(Tenant::name).toList());
        assertEquals(
                List.of("acme"),
                cluster.tenants("", 1).stream().map(Tenant::name).toList());
        refusal(Code.OUT_OF_MEMORY, () -> allocate(8, "acme", MIB + 1));
        allocate(8, "acme", MIB);
    }

    @Test
    void whatIsNotWrittenIsNotCounted() {
        quota("acme", 5 * MIB, 3);
        store.failing = true;
        refusal(Code.INTERNAL, () -> allocate(7, "acme", 5 * MIB));
        refusal(Code.INTERNAL, () -> quota("acme", 1, 1));
        store.failing = false;
        assertEquals(new Tenant("acme", new Quota(5 * MIB, 3), 0, 0), tenant("acme"));
        allocate(8, "acme", 5 * MIB);
    }

    @Test
    void ofAllocationsAtOnceNoneTakesWhatAnotherHas() throws Exception {
        quota("acme", 10 * MIB, 100);
        List<Future<Boolean>> calls = new ArrayList<>();
        try (ExecutorService threads = Executors.newFixedThreadPool(8)) {
            for (long id = 1; id <= 40; id++) {
                long cache = id;
                calls.add(threads.submit(() -> {
                    try {
                        allocate(cache, "acme", MIB);
                        return true;
                    } catch (ControlException e) {
                        assertEquals(Code.OUT_OF_MEMORY, e.code(), e.getMessage());
                        return false;
                    }
                }));
            }
        }
        int made = 0;
        for (Future<Boolean> call : calls) {
            made += call.get() ? 1 : 0;
        }
        assertEquals(10, made);
        assertUse("acme", 10 * MIB, 10);
    }
}
