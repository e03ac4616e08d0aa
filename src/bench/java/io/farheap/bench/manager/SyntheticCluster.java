package io.farheap.bench.manager;

import io.farheap.manager.AllocationCandidate;
import io.farheap.manager.CacheRequest;
import io.farheap.manager.ServerReport;
import io.farheap.manager.Tenant;
import io.farheap.manager.state.AllocationTerms;
import io.farheap.manager.state.CacheRecord;
import io.farheap.manager.state.ServerRecord;
import io.farheap.manager.state.StateChange;
import io.farheap.manager.state.StateStore;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Servers and caches as they are in a manager's state and in the servers' reports: every cache has its regions on one
 * server, which reports them. There is room for as many caches again. Immutable.
 */
final class SyntheticCluster {

    /** Regions of each cache. */
    private static final int REGIONS = 4;

    private static final long REGION_BYTES = 1L << 30;
    /** Of each cache. */
    private static final long CACHE_BYTES = REGIONS * REGION_BYTES;

    /** The client that asks for further caches; its id is no other client's. */
    private static final long CLIENT = 1L << 40;

    private static final String TYPE = "default";
    private static final int RACK_SERVERS = 40;
    private static final long NOTICE_MILLIS = 30_000;
    /** Records in one write, which must be shorter than a million bytes. */
    private static final int WRITE_RECORDS = 1_000;
    /** Spreads ids over the buckets. Multiplication by it is reversible, so no two ids become the same. */
    private static final long SPREAD = 0x9E3779B97F4A7C15L;

    private final int servers;
    private final int caches;

    SyntheticCluster(int servers, int caches) {
        this.servers = servers;
        this.caches = caches;
    }

    private static long serverId(int server) {
        return (server + 1) * SPREAD;
    }

    private static long cacheId(int cache) {
        // Ids of servers may be the same numbers: they are never compared with these.
        return (cache + 1) * SPREAD;
    }

    private int perServer() {
        return (caches + servers - 1) / servers;
    }

    private int regions() {
        return 2 * REGIONS * Math.max(1, perServer());
    }

    private static String address(int server) {
        return "host%d.example:7400".formatted(server);
    }

    private static String place(int server) {
        return "dc/cluster%d/rack%d".formatted(server / RACK_SERVERS / RACK_SERVERS, server / RACK_SERVERS);
    }

    /** Writes all servers and caches, as a manager would do over time. */
    void store(StateStore store) {
        List<StateChange> changes = new ArrayList<>();
        for (int server = 0; server < servers; server++) {
            add(
                    store,
                    changes,
                    new StateChange.PutServer(new ServerRecord(
                            serverId(server),
                            address(server),
                            TYPE,
                            false,
                            0,
                            place(server),
                            REGION_BYTES,
                            regions(),
                            NOTICE_MILLIS,
                            false)));
        }
        for (int cache = 0; cache < caches; cache++) {
            add(
                    store,
                    changes,
                    new StateChange.PutCache(new CacheRecord(
                            cacheId(cache),
                            "pretended-" + cache,
                            CACHE_BYTES,
                            0,
                            REGION_BYTES,
                            new AllocationTerms(
                                    "",
                                    AllocationCandidate.ANY.switches(),
                                    AllocationCandidate.ANY.serverThreads(),
                                    0,
                                    Tenant.DEFAULT),
                            1,
                            new TreeMap<>(Map.of(serverId(cache % servers), REGIONS)),
                            Collections.emptySortedMap())));
        }
        if (!changes.isEmpty()) {
            store.write(changes);
        }
    }

    private static void add(StateStore store, List<StateChange> changes, StateChange change) {
        changes.add(change);
        if (changes.size() == WRITE_RECORDS) {
            store.write(changes);
            changes.clear();
        }
    }

    /** Returns the report that each server sends every second. */
    List<ServerReport> reports() {
        List<ServerReport> reports = new ArrayList<>(servers);
        for (int server = 0; server < servers; server++) {
            Map<Long, Integer> held = new HashMap<>();
            for (int cache = server; cache < caches; cache += servers) {
                held.put(cacheId(cache), REGIONS);
            }
            reports.add(new ServerReport(
                    serverId(server),
                    address(server),
                    TYPE,
                    false,
                    place(server),
                    REGION_BYTES,
                    regions(),
                    regions() - REGIONS * held.size(),
                    NOTICE_MILLIS,
                    false,
                    0,
                    held));
        }
        return reports;
    }

    /** Returns a request for a cache as large as the others. */
    static CacheRequest request(long cacheId) {
        return new CacheRequest(cacheId, CLIENT, "farheap-bench", CACHE_BYTES, 0, "", List.of(AllocationCandidate.ANY));
    }

    /** Returns the caches of each of so many client processes. */
    List<Set<Long>> clients(int processes) {
        List<Set<Long>> clients = new ArrayList<>();
        for (int process = 0; process < processes; process++) {
            Set<Long> ids = new HashSet<>();
            for (int cache = process; cache < caches; cache += processes) {
                ids.add(cacheId(cache));
            }
            clients.add(Set.copyOf(ids));
        }
        return clients;
    }
}
