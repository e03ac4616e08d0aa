package io.farheap.manager.service;

import static io.farheap.manager.service.TestCluster.SECOND;
import static io.farheap.manager.service.TestCluster.refusal;
import static io.farheap.manager.service.TestCluster.server;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.ControlException.Code;
import io.farheap.manager.ServerReport;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Servers that are silent for long, have caches that were ended, and are given up; some of them return. */
class ForgottenServersTest {

    private static final long FORGET = 600 * SECOND;

    private final TestCluster cluster =
            new TestCluster(new ManagerOptions(3 * SECOND, 30 * SECOND, FORGET, true, 2, Supply.DEFAULT), 1);

    /** Cache 7 has all of server 1, and was ended; then the server is silent. Server 2 reports, with cache 8. */
    @BeforeEach
    void aCacheHasEnded() {
        cluster.reports(1, 4);
        cluster.allocate(7, 4, 60_000);
        cluster.reports(1, 4);
        cluster.allocateOn(2, 8, 1);
        for (int i = 0; i < 7; i++) {
            cluster.reports(1, 4);
            pass(10);
            cluster.attends(7L, 8L);
        }
        cluster.reports(1, 4);
        refusal(Code.BUSY, () -> cluster.allocate(9, 3, 0));
        assertTrue(cluster.record(7).ended());
        pass(100);
        assertEquals(Set.of(1L, 2L), cluster.store.servers.keySet());
        assertEquals(Map.of(1L, 4), cluster.record(7).regions());
    }

    /** Server 2 alone reports meanwhile. */
    private void pass(int seconds) {
        for (int i = 0; i < seconds; i += 2) {
            cluster.pass(2_000);
            cluster.reports(2, 1);
            cluster.attends(8L);
            cluster.manager.tick();
        }
    }

    private Set<Long> endsOn(long id, Map<Long, Integer> held, Set<Long> ended) {
        return cluster.manager.report(server(id, "t", false, 4, held, ended)).ended();
    }

    @Test
    void aServerThatIsGivenUpOwesNothing() {
        cluster.manager.forget("host1:1");
        assertEquals(Set.of(2L), cluster.store.servers.keySet());
        refusal(Code.NOT_FOUND, () -> cluster.manager.forget("host1:1"));
        // Another machine at another address has the room that it had.
        cluster.reports(3, 4);
        assertEquals(3, cluster.allocate(9, 3, 0).shares().getFirst().regions());
    }

    @Test
    void aServerThatReportsOrMayNotHaveFoundTheManagerIsNotGivenUp() {
        assertTrue(refusal(Code.INVALID_ARGUMENT, () -> cluster.manager.forget("host2:1"))
                .getMessage()
                .contains("memory server host2:1 reports"));
        refusal(Code.NOT_FOUND, () -> cluster.manager.forget("host5:1"));
        cluster.lead();
        refusal(Code.BUSY, () -> cluster.manager.forget("host1:1"));
        pass(70);
        cluster.manager.forget("host1:1");
        assertEquals(Set.of(2L), cluster.store.servers.keySet());
    }

    /** Only a server that may have the ended cache has to be told of it. */
    @Test
    void anEndedCacheOnASilentServerCostsTheOthersReportsNothing() {
        cluster.reports(2, 1);
        long answered = cluster.manager.answered();
        for (int i = 0; i < 10; i++) {
            cluster.pass(1_000);
            cluster.reports(2, 1);
            cluster.manager.tick();
        }
        assertEquals(answered, cluster.manager.answered());
        // It takes over a region of the ended cache, by a grant that it was shown before.
        cluster.manager.report(server(2, "t", false, 4, Map.of(7L, 1, 8L, 1)));
        cluster.manager.tick();
        assertEquals(Set.of(7L), endsOn(2, Map.of(7L, 1, 8L, 1), Set.of()));
    }

    /** Each server seems silent to it, and each client. */
    @Test
    void aManagerThatStoodStillOrIsCutOffGivesUpNone() {
        cluster.pass(40_000);
        refusal(Code.BUSY, () -> cluster.manager.forget("host2:1"));
        cluster.reports(2, 1);
        refusal(Code.BUSY, () -> cluster.manager.forget("host1:1"));
        for (int i = 0; i < 40; i++) {
            cluster.pass(1_000);
            cluster.manager.tick();
        }
        refusal(Code.BUSY, () -> cluster.manager.forget("host2:1"));
        assertEquals(Set.of(7L, 8L), cluster.store.caches.keySet());
        pass(4);
        cluster.manager.forget("host1:1");
        assertEquals(Set.of(2L), cluster.store.servers.keySet());
    }

    @Test
    void aSilenceWhileOthersAreHeardGivesUpAfterTheTimeOfTheOptions() {
        pass(480);
        assertEquals(Set.of(1L, 2L), cluster.store.servers.keySet());
        pass(40);
        assertEquals(Set.of(2L), cluster.store.servers.keySet());
        assertThrows(
                IllegalArgumentException.class,
                () -> new ManagerOptions(3 * SECOND, 30 * SECOND, 3 * SECOND, true, 2, Supply.DEFAULT));
    }

    /** A living cache keeps its regions there; the next manager knows that nothing is expected of the server. */
    @Test
    void aServerOfALivingCacheStaysGivenUpForALaterManagerUntilItReports() {
        cluster.reports(3, 2);
        cluster.allocate(9, 2, 0);
        pass(10);
        cluster.manager.forget("host3:1");
        assertTrue(cluster.store.servers.get(3L).forgotten());
        cluster.lead();
        cluster.reports(2, 1);
        cluster.manager.tick();
        assertTrue(cluster.store.servers.get(3L).forgotten());
        assertEquals(Map.of(3L, 2), cluster.record(9).regions());
        cluster.reports(3, 2);
        assertFalse(cluster.store.servers.get(3L).forgotten());
    }

    /** It was cut off, together with the client, while the cache was ended. */
    @Test
    void anEndedCacheIsEndedWheneverItsServerReturns() {
        cluster.manager.forget("host1:1");
        for (int leader = 0; leader < 2; leader++) {
            pass(1_000);
            refusal(Code.NOT_FOUND, () -> cluster.manager.describe(7));
            refusal(Code.NOT_FOUND, () -> cluster.allocate(7, 1, 60_000));
            cluster.ends.clear();
            cluster.attends(7L);
            assertEquals(List.of(7L), cluster.ends);
            assertEquals(Set.of(7L), endsOn(1, Map.of(7L, 4), Set.of()));
            assertEquals(Set.of(7L), endsOn(1, Map.of(7L, 4), Set.of()), "until it has");
            cluster.lead();
        }
        assertEquals(Set.of(7L), endsOn(1, Map.of(), Set.of()), "its client could show its grant there");
        assertEquals(Set.of(), endsOn(1, Map.of(), Set.of(7L)));
        cluster.manager.tick();
        assertFalse(cluster.store.caches.containsKey(7L));
        assertEquals(Set.of(), endsOn(1, Map.of(), Set.of()));
        assertEquals(3, cluster.allocate(9, 3, 0).shares().getFirst().regions());
    }

    /** Its machine was stopped. */
    @Test
    void thatACacheWasEndedIsForgottenAfterAMonth() {
        cluster.manager.forget("host1:1");
        pass(10);
        cluster.pass(29 * TestCluster.DAY_MILLIS);
        pass(70);
        assertTrue(cluster.store.caches.containsKey(7L));
        cluster.pass(2 * TestCluster.DAY_MILLIS);
        pass(70);
        assertEquals(Set.of(8L), cluster.store.caches.keySet());
    }

    /** Others did not need its room for long. */
    @Test
    void theMonthBeginsWithTheEndAndNotWithTheTimeOfACache() {
        cluster.reports(3, 4);
        cluster.allocate(5, 4, 60_000);
        for (int i = 0; i < 7; i++) {
            cluster.reports(3, 4);
            pass(10);
            cluster.attends(5L, 8L);
        }
        cluster.pass(40 * TestCluster.DAY_MILLIS);
        cluster.reports(2, 1);
        cluster.reports(3, 4);
        cluster.manager.tick();
        refusal(Code.BUSY, () -> cluster.allocate(10, 3, 0));
        assertTrue(cluster.record(5).ended());
        pass(10);
        cluster.manager.forget("host3:1");
        pass(70);
        assertTrue(cluster.store.caches.containsKey(5L));
        assertEquals(Set.of(5L), endsOn(3, Map.of(5L, 4), Set.of()));
    }

    /** Another process at its address shows that its memory is gone. */
    @Test
    void aServerThatWasReplacedIsNotAwaited() {
        cluster.manager.report(new ServerReport(
                5,
                "host1:1",
                "t",
                false,
                "d/c/r",
                "host1:1",
                TestCluster.MIB,
                4,
                4,
                30_000,
                false,
                0,
                Map.of(),
                Set.of()));
        pass(10);
        assertFalse(cluster.store.caches.containsKey(7L));
    }
}
