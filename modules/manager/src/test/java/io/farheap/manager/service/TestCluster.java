package io.farheap.manager.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.manager.Allocation;
import io.farheap.manager.AllocationCandidate;
import io.farheap.manager.CacheRequest;
import io.farheap.manager.Reclaim;
import io.farheap.manager.RegionShare;
import io.farheap.manager.ServerReport;
import io.farheap.manager.service.supply.ServerProvisioner;
import io.farheap.manager.state.CacheRecord;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;

/** A cluster manager with a store in memory, a clock that only the tests advance, and one client of all caches. */
final class TestCluster {

    static final long MIB = 1 << 20;
    static final long SECOND = 1_000_000_000L;
    static final long DAY_MILLIS = 86_400_000;
    private static final long CLIENT = 99;

    final MemoryStore store = new MemoryStore();
    final List<Reclaim> alerts = new ArrayList<>();
    final List<Long> ends = new ArrayList<>();
    /** Nanoseconds of the clock for time limits. */
    long now = 1000 * SECOND;

    /** Milliseconds of the time of day. */
    long time = 5_000_000;

    private final ManagerOptions options;
    private final long callNanos;
    ClusterManager manager;

    TestCluster(ManagerOptions options) {
        this(options, ServerProvisioner.CALL_NANOS);
    }

    /** @param callNanos for how long a call waits for room before it is answered BUSY */
    TestCluster(ManagerOptions options, long callNanos) {
        this.options = options;
        this.callNanos = callNanos;
        this.manager = begin();
    }

    private ClusterManager begin() {
        return new ClusterManager(store, options, () -> now, () -> time, callNanos);
    }

    /** Another manager leads from now on. */
    void lead() {
        manager = begin();
    }

    void pass(long millis) {
        now += millis * 1_000_000;
        time += millis;
    }

    /** A report of a server with regions of a MiB. */
    static ServerReport server(long id, String type, boolean spot, int total, Map<Long, Integer> held) {
        return server(id, type, spot, total, held, Set.of());
    }

    /** @param ended caches that it has taken back */
    static ServerReport server(
            long id, String type, boolean spot, int total, Map<Long, Integer> held, Set<Long> ended) {
        int taken = held.values().stream().mapToInt(Integer::intValue).sum();
        String address = "host" + id + ":1";
        return new ServerReport(
                id, address, type, spot, "d/c/r", address, MIB, total, total - taken, 30_000, false, 0, held, ended);
    }

    /** A server reports that it stays, with all that is promised to caches there. */
    void reports(long id, int total) {
        manager.report(server(id, "t", false, total, held(id)));
    }

    /** A server reports that it leaves within 30 s. */
    void leaves(long id, int total) {
        leaves(id, total, 30_000);
    }

    void leaves(long id, int total, long withinMillis) {
        manager.report(server(id, "t", false, total, held(id)).leavingWithin(withinMillis));
    }

    /** A new server has all regions of a new cache. */
    void allocateOn(long server, long cache, int regions) {
        reports(server, regions);
        allocate(cache, regions, 0);
        reports(server, regions);
    }

    /** Returns how many regions are reserved for a cache. */
    int reserved(long id) {
        return record(id).reserved().values().stream()
                .mapToInt(Integer::intValue)
                .sum();
    }

    /** Returns the regions that caches have on a server by their records. */
    Map<Long, Integer> held(long id) {
        Map<Long, Integer> held = new TreeMap<>();
        store.caches.values().forEach(cache -> {
            Integer regions = cache.regions().get(id);
            if (regions != null) {
                held.put(cache.id(), regions);
            }
        });
        return held;
    }

    Allocation allocate(long id, int regions, long lifetimeMillis) {
        return manager.allocate(new CacheRequest(
                id, CLIENT, "cache", regions * MIB, lifetimeMillis, "", List.of(AllocationCandidate.ANY)));
    }

    /** The client is connected, and names these caches as its own. */
    void attends(Long... caches) {
        manager.attend(CLIENT, new RecordedNotices(alerts, ends)).renew(Set.of(caches));
    }

    CacheRecord record(long id) {
        return Objects.requireNonNull(store.caches.get(id));
    }

    long generation(long id) {
        return manager.describe(id).allocation().generation();
    }

    static RegionShare share(long server, int regions) {
        return new RegionShare("host" + server + ":1", regions);
    }

    static ControlException refusal(Code code, Runnable call) {
        ControlException refused = assertThrows(ControlException.class, call::run);
        assertEquals(code, refused.code(), refused.getMessage());
        return refused;
    }
}
