package io.farheap.manager.service;

import static io.farheap.manager.service.TestCluster.MIB;
import static io.farheap.manager.service.TestCluster.refusal;
import static io.farheap.manager.service.TestCluster.server;
import static io.farheap.manager.service.TestCluster.share;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.ControlException.Code;
import io.farheap.manager.Allocation;
import io.farheap.manager.AllocationCandidate;
import io.farheap.manager.CacheManager;
import io.farheap.manager.CacheRequest;
import io.farheap.manager.Quota;
import io.farheap.manager.RegionShare;
import io.farheap.manager.ServerReport;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What clients claim and servers hold differs from the manager's records; only the tests advance the clock. */
class ClaimedCachesTest {

    private static final long CLIENT = 99;

    private final TestCluster cluster = new TestCluster(ManagerOptions.DEFAULT, 1);
    private final List<Long> unknown = new ArrayList<>();
    private final List<String> lost = new ArrayList<>();
    private CacheManager.Attendance line = attends();

    private CacheManager.Attendance attends() {
        return cluster.manager.attend(CLIENT, new Unheard() {
            @Override
            public void unknown(long cacheId) {
                unknown.add(cacheId);
            }

            @Override
            public void lost(long cacheId, String server) {
                lost.add(server);
            }
        });
    }

    private void holds(long id, Map<Long, Integer> held) {
        assertEquals(
                Set.of(),
                cluster.manager.report(server(id, "t", false, 4, held)).ended());
    }

    private Allocation claim(long id, int regions, long lifetimeMillis, RegionShare... shares) {
        CacheRequest terms = new CacheRequest(
                id, CLIENT, "cache", regions * MIB, lifetimeMillis, "", List.of(new AllocationCandidate(3, 0)), "acme");
        return cluster.manager.claim(terms, 5, MIB, List.of(shares));
    }

    @Test
    void aCacheThatAServerHoldsAndItsClientClaimsIsTakenUpAgain() {
        holds(1, Map.of(7L, 2));
        holds(2, Map.of(7L, 1));
        line.renew(Set.of(7L));
        assertEquals(List.of(7L), unknown);
        cluster.manager.setQuota("acme", new Quota(MIB, 1));
        Allocation again = claim(7, 3, 60_000, share(1, 2), share(2, 1));
        assertEquals(6, again.generation());
        assertEquals(Map.of(1L, 2, 2L, 1), cluster.record(7).regions());
        assertEquals(cluster.time + 60_000, cluster.record(7).terms().expiresAtMillis());
        assertEquals(3, cluster.record(7).terms().switches());
        assertEquals(again, claim(7, 3, 60_000, share(1, 2), share(2, 1)));
        line.renew(Set.of(7L));
        assertEquals(List.of(7L), unknown);
        // It hears of the next drain, and the rest of its servers' room alone is free.
        cluster.attends(7L);
        holds(3, Map.of());
        cluster.manager.drain("host1:1");
        assertEquals("host1:1", cluster.alerts.getFirst().server());
        refusal(Code.OUT_OF_MEMORY, () -> cluster.allocate(9, 6, 0));
    }

    @Test
    void aCacheThatAServerAloneHoldsIsLeftToItsLease() {
        for (int i = 0; i < 100; i++) {
            cluster.pass(1_000);
            holds(1, Map.of(7L, 2));
            cluster.manager.tick();
        }
        assertEquals(Map.of(), cluster.store.caches);
        assertEquals(List.of(), unknown);
    }

    @Test
    void aCacheThatItsClientAloneClaimsIsNotTakenUp() {
        holds(1, Map.of());
        line.renew(Set.of(7L));
        refusal(Code.NOT_FOUND, () -> claim(7, 2, 0, share(1, 2)));
        assertEquals(Map.of(), cluster.store.caches);
    }

    /** The first server has found the manager, and the others have not, or not reported yet what a move brought. */
    @Test
    void aClaimWaitsForItsServersReports() {
        holds(1, Map.of(7L, 2));
        refusal(Code.BUSY, () -> claim(7, 3, 0, share(1, 2), share(2, 1)));
        holds(2, Map.of());
        refusal(Code.BUSY, () -> claim(7, 3, 0, share(1, 2), share(2, 1)));
        holds(2, Map.of(7L, 1));
        claim(7, 3, 0, share(1, 2), share(2, 1));
        refusal(Code.INVALID_ARGUMENT, () -> claim(8, 3, 0, share(1, 2)));
    }

    private void waitsFor(long server, Map<Long, Integer> held) {
        for (int i = 0; i < 16; i++) {
            cluster.pass(1_000);
            holds(server, held);
            cluster.manager.tick();
        }
    }

    /** The manager does not know where it was. */
    @Test
    void aCacheIsTakenUpThoughOneOfItsServersIsGone() {
        holds(2, Map.of(7L, 1));
        refusal(Code.BUSY, () -> claim(7, 3, 0, share(1, 2), share(2, 1)));
        waitsFor(2, Map.of(7L, 1));
        Allocation again = claim(7, 3, 0, share(1, 2), share(2, 1));
        assertEquals(List.of(share(1, 2), share(2, 1)), shares(again));
        assertEquals(again, cluster.manager.moved(7, again.generation(), 3 * MIB, List.of(share(1, 2), share(2, 1))));
        cluster.attends(7L);
        holds(3, Map.of());
        cluster.manager.drain("host2:1");
        assertEquals("host2:1", cluster.alerts.getFirst().server());
        long generation = cluster.generation(7);
        holds(3, Map.of(7L, 1));
        cluster.manager.moved(7, generation, 3 * MIB, List.of(share(1, 2), share(3, 1)));
        assertEquals(
                List.of(share(1, 2), share(3, 1)),
                shares(cluster.manager.describe(7).allocation()));
        // It returns nevertheless, so what was counted in its place is forgotten.
        holds(1, Map.of(7L, 2));
        cluster.manager.moved(7, cluster.generation(7), 3 * MIB, List.of(share(1, 2), share(3, 1)));
        cluster.manager.tick();
        assertEquals(Map.of(1L, 2, 3L, 1), cluster.record(7).regions());
        assertEquals(Set.of(1L, 2L, 3L), cluster.store.servers.keySet());
    }

    private static List<RegionShare> shares(Allocation cache) {
        return cache.shares().stream()
                .map(one -> new RegionShare(one.address(), one.regions()))
                .sorted(Comparator.comparing(RegionShare::address))
                .toList();
    }

    /** Another process is at the address; the room there is not the cache's. */
    @Test
    void aCacheIsTakenUpThoughOneOfItsServersWasReplaced() {
        ServerReport other = server(1, "t", false, 4, Map.of());
        ServerReport replaced = new ServerReport(
                5,
                other.address(),
                "t",
                false,
                "d/c/r",
                other.address(),
                MIB,
                4,
                4,
                30_000,
                false,
                0,
                Map.of(),
                Set.of());
        cluster.manager.report(replaced);
        holds(2, Map.of(7L, 4));
        refusal(Code.BUSY, () -> claim(7, 6, 0, share(1, 2), share(2, 4)));
        waitsFor(2, Map.of(7L, 4));
        cluster.manager.report(replaced);
        Allocation again = claim(7, 6, 0, share(1, 2), share(2, 4));
        assertEquals(List.of(share(1, 2), share(2, 4)), shares(again));
        cluster.manager.report(replaced);
        assertEquals(4, cluster.allocate(9, 4, 0).shares().getFirst().regions());
        cluster.manager.deallocate(7);
        cluster.manager.tick();
        assertEquals(Set.of(2L, 5L), cluster.store.servers.keySet());
    }

    /** They were cut off together, and an operator has given the server up. */
    @Test
    void aCacheThatWasGivenUpComesBackWithItsServerAndClient() {
        cluster.allocateOn(1, 7, 4);
        for (int i = 0; i < 40; i++) {
            cluster.pass(1_000);
            cluster.reports(2, 4);
            cluster.manager.tick();
        }
        cluster.manager.forget("host1:1");
        assertEquals(Map.of(), cluster.store.caches);
        holds(1, Map.of(7L, 4));
        line.renew(Set.of(7L));
        assertEquals(List.of(7L), unknown);
        claim(7, 4, 0, share(1, 4));
        assertEquals(Map.of(1L, 4), cluster.record(7).regions());
        assertEquals(Set.of(1L, 2L), cluster.store.servers.keySet());
    }

    /** Both servers report so for some seconds, each second. */
    private void holdFor(int seconds, Map<Long, Integer> first, Map<Long, Integer> second) {
        for (int i = 0; i <= seconds; i++) {
            holds(1, first);
            holds(2, second);
            cluster.manager.tick();
            if (i < seconds) {
                cluster.pass(1_000);
            }
        }
    }

    /** A region has left the first server, whose report of that comes a second later; another one is to follow. */
    @Test
    void aReportThatIsOlderThanAMoveIsNoReasonToAsk() {
        cluster.allocateOn(1, 7, 2);
        holds(2, Map.of());
        cluster.manager.reserve(7, "host2:1", 1);
        holds(1, Map.of(7L, 2));
        holds(2, Map.of(7L, 1));
        cluster.manager.moved(7, cluster.generation(7), 2 * MIB, List.of(share(1, 1), share(2, 1)));
        holdFor(1, Map.of(7L, 2), Map.of(7L, 1));
        line.renew(Set.of(7L));
        assertEquals(List.of(), unknown);
        holdFor(2, Map.of(7L, 2), Map.of(7L, 1));
        line.renew(Set.of(7L));
        assertEquals(List.of(7L), unknown, "it has said so for longer");
    }

    /** Each of them finds a new leader after seconds, and the first one only after all that time. */
    @Test
    void aClaimWaitsForTheOtherServersFromTheFirstOnesReport() {
        refusal(Code.BUSY, () -> claim(7, 3, 0, share(1, 2), share(2, 1)));
        waitsFor(3, Map.of());
        holds(1, Map.of(7L, 2));
        refusal(Code.BUSY, () -> claim(7, 3, 0, share(1, 2), share(2, 1)));
        holds(2, Map.of(7L, 1));
        claim(7, 3, 0, share(1, 2), share(2, 1));
        assertEquals(Map.of(1L, 2, 2L, 1), cluster.record(7).regions());
    }

    /** No process has the id under which its regions are counted. */
    @Test
    void anEndedCacheIsNotRememberedForAServerThatIsNone() {
        holds(2, Map.of(7L, 1));
        refusal(Code.BUSY, () -> claim(7, 3, 60_000, share(1, 2), share(2, 1)));
        waitsFor(2, Map.of(7L, 1));
        claim(7, 3, 60_000, share(1, 2), share(2, 1));
        for (int i = 0; i < 70; i++) {
            cluster.attends(7L);
            cluster.pass(1_000);
            holds(2, Map.of(7L, 1));
            cluster.manager.tick();
        }
        refusal(Code.BUSY, () -> cluster.allocate(9, 4, 0));
        assertTrue(cluster.record(7).ended());
        cluster.manager.report(server(2, "t", false, 4, Map.of(), Set.of(7L)));
        cluster.manager.tick();
        assertFalse(cluster.store.caches.containsKey(7L));
    }

    /** The manager's state was restored, and is older than the cache's last move. */
    @Test
    void aCacheThatIsElsewhereThanItsRecordSaysIsCorrected() {
        cluster.allocateOn(1, 7, 2);
        holds(1, Map.of(7L, 2));
        line.renew(Set.of(7L));
        assertEquals(List.of(), unknown);
        holdFor(2, Map.of(7L, 1), Map.of(7L, 1));
        line.renew(Set.of(7L));
        assertEquals(List.of(7L), unknown, "a part of it");
        holdFor(2, Map.of(), Map.of(7L, 2));
        line.renew(Set.of(7L));
        assertEquals(List.of(7L, 7L), unknown);
        cluster.manager.moved(7, cluster.generation(7), 2 * MIB, List.of(share(2, 2)));
        assertEquals(Map.of(2L, 2), cluster.record(7).regions());
        line.renew(Set.of(7L));
        assertEquals(List.of(7L, 7L), unknown);
        cluster.attends(7L);
        cluster.manager.drain("host2:1");
        assertEquals("host2:1", cluster.alerts.getFirst().server());
    }

    /** All of its servers are heard: its client asks them, and its leases decide. */
    @Test
    void theClientOfACacheThatNoServerReportsIsAdvised() {
        cluster.allocateOn(1, 7, 4);
        for (int i = 0; i < 5; i++) {
            cluster.pass(1_000);
            holds(1, Map.of());
            line.renew(Set.of(7L));
        }
        assertEquals(List.of(), lost, "the client may not have taken its room yet");
        for (int i = 0; i < 12; i++) {
            cluster.pass(1_000);
            holds(1, Map.of());
            line.renew(Set.of(7L));
        }
        assertEquals(List.of("host1:1"), lost);
        line = attends();
        line.renew(Set.of(7L));
        assertEquals(List.of("host1:1", "host1:1"), lost, "over each line");
        assertTrue(cluster.store.caches.containsKey(7L));
        assertFalse(cluster.record(7).ended());
    }
}
