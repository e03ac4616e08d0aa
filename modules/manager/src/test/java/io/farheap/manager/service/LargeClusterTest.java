package io.farheap.manager.service;

import static io.farheap.manager.service.TestCluster.MIB;
import static io.farheap.manager.service.TestCluster.SECOND;
import static io.farheap.manager.service.TestCluster.refusal;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.manager.AllocationCandidate;
import io.farheap.manager.ServerReport;
import io.farheap.manager.Tenant;
import io.farheap.manager.state.AllocationTerms;
import io.farheap.manager.state.CacheRecord;
import io.farheap.manager.state.ServerRecord;
import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The work of a manager with ten thousand servers and a hundred thousand caches, of which several hundred have to leave
 * and find no room: how often it looks at all servers and for room while others wait for its lock.
 */
class LargeClusterTest {

    private static final int SERVERS = 10_000;
    /** Of each server; one cache has all of those of each server that leaves, and each other region is a cache. */
    private static final int REGIONS = 11;

    private static final int LEAVING = 300;
    /** What a tick and a call may search for caches that leave, and the few searches beyond with which they end. */
    private static final int TICK = 256 + 1;

    private static final int CALL = 16 + 1;
    /** A tick looks at the lives of all servers, and for spare room. */
    private static final int PASSES = 2;

    private final TestCluster cluster = new TestCluster(
            new ManagerOptions(3 * SECOND, 30 * SECOND, true, 2, new Supply(1, 60 * SECOND, 300 * SECOND)), 1);
    private long searches;
    private long passes;

    private static boolean leaves(int server) {
        return server <= LEAVING;
    }

    private static ServerReport report(int server) {
        SortedMap<Long, Integer> held = new TreeMap<>();
        for (int cache = 0; cache < (leaves(server) ? 1 : REGIONS); cache++) {
            held.put(id(server, cache), leaves(server) ? REGIONS : 1);
        }
        return TestCluster.server(server, "t", false, REGIONS, held);
    }

    private static long id(int server, int cache) {
        return 100L * server + cache;
    }

    @BeforeEach
    void findsThemAll() {
        AllocationTerms terms = new AllocationTerms(
                "", AllocationCandidate.ANY.switches(), AllocationCandidate.ANY.serverThreads(), 0, Tenant.DEFAULT);
        for (int server = 1; server <= SERVERS; server++) {
            ServerReport report = report(server);
            cluster.store.servers.put(
                    report.serverId(),
                    new ServerRecord(
                            report.serverId(),
                            report.address(),
                            report.type(),
                            false,
                            0,
                            report.place(),
                            MIB,
                            REGIONS,
                            report.noticeMillis(),
                            false));
            report.held()
                    .forEach((cache, regions) -> cluster.store.caches.put(
                            cache,
                            new CacheRecord(
                                    cache,
                                    "cache",
                                    regions * MIB,
                                    0,
                                    MIB,
                                    terms,
                                    1,
                                    new TreeMap<>(Map.of(report.serverId(), regions)),
                                    Collections.emptySortedMap())));
        }
        assertTrue(cluster.store.caches.size() >= 100_000);
        cluster.lead();
        for (int server = 1; server <= SERVERS; server++) {
            cluster.manager.report(report(server));
        }
        cluster.manager.tick();
        counts();
    }

    /** Begins to count again. */
    private void counts() {
        searches = cluster.manager.searches();
        passes = cluster.manager.passes();
    }

    private void assertDone(int mostSearches, int mostPasses) {
        long searched = cluster.manager.searches() - searches;
        long passed = cluster.manager.passes() - passes;
        assertTrue(searched <= mostSearches, () -> searched + " searches");
        assertTrue(passed <= mostPasses, () -> "looked at all servers " + passed + " times");
        counts();
    }

    @Test
    void aTickAndACallDoAFewSearchesHoweverManyCachesFindNoRoom() {
        cluster.pass(250);
        cluster.manager.tick();
        assertDone(0, PASSES);
        for (int server = 1; server <= LEAVING; server++) {
            cluster.manager.report(report(server).leavingWithin(30_000));
        }
        // Each once, when its server gives notice.
        assertDone(LEAVING, 0);
        for (int tick = 0; tick < 9; tick++) {
            cluster.pass(250);
            cluster.manager.tick();
            assertDone(TICK, PASSES);
        }
        // Room for a part of one cache: all of them look for it before others get it.
        cluster.manager.report(TestCluster.server(SERVERS + 1, "t", false, REGIONS - 1, Map.of()));
        counts();
        refusal(Code.BUSY, () -> cluster.allocate(1, 1, 0));
        assertDone(CALL, 1);
        for (int call = 0; call < 100; call++) {
            refusal(Code.BUSY, () -> cluster.allocate(1, 1, 0));
        }
        // All calls together do as much as a tick, or one call more.
        assertDone(TICK + CALL, 100);
        int ticks = 0;
        while (isBusy()) {
            ticks++;
            cluster.pass(250);
            cluster.manager.tick();
        }
        assertTrue(ticks <= 3, ticks + " ticks until all have looked");
    }

    private boolean isBusy() {
        try {
            cluster.allocate(1, 1, 0);
            return false;
        } catch (ControlException e) {
            return e.code() == Code.BUSY;
        }
    }
}
