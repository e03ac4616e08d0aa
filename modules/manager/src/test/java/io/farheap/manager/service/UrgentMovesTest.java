package io.farheap.manager.service;

import static io.farheap.manager.service.TestCluster.share;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.manager.AllocationCandidate;
import io.farheap.manager.CacheDescription.LateMove;
import io.farheap.manager.CacheRequest;
import io.farheap.manager.Reclaim;
import io.farheap.manager.ReclaimOutcome;
import io.farheap.manager.RegionShare;
import io.farheap.manager.ServerReport;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A cache with 32 regions on server 1, and 8 on server 2; 8 regions take 9.4 s to move. Only the tests advance the
 * clock.
 */
class UrgentMovesTest {

    private static final long REGION = 1L << 30;

    private final TestCluster cluster = new TestCluster(ManagerOptions.DEFAULT);

    private void reports(long id, int total, Map<Long, Integer> held, long leavesWithinSeconds) {
        String address = "host" + id + ":1";
        int taken = held.values().stream().mapToInt(Integer::intValue).sum();
        ServerReport stays = new ServerReport(
                id,
                address,
                "t",
                false,
                "d/c/r",
                address,
                REGION,
                total,
                total - taken,
                120_000,
                false,
                0,
                held,
                Set.of());
        cluster.manager.report(leavesWithinSeconds == 0 ? stays : stays.leavingWithin(1_000 * leavesWithinSeconds));
    }

    /** Server 1 leaves within two minutes, and the cache's client has begun to move off it. */
    @BeforeEach
    void begins() {
        reports(1, 32, Map.of(), 0);
        reports(2, 8, Map.of(), 0);
        cluster.manager.allocate(
                new CacheRequest(7, 99, "cache", 40 * REGION, 0, "", List.of(AllocationCandidate.ANY)));
        reports(2, 8, Map.of(7L, 8), 0);
        reports(3, 64, Map.of(), 0);
        cluster.attends(7L);
        reports(1, 32, Map.of(7L, 32), 120);
        assertEquals(List.of("host1:1"), alerts());
        passes(5, 0);
    }

    private void passes(int seconds, int second) {
        for (int i = 0; i < seconds; i++) {
            cluster.pass(1_000);
            reports(1, 32, cluster.held(1), 110);
            reports(2, 8, cluster.held(2), second == 0 ? 0 : second - i);
            reports(3, 64, cluster.held(3), 0);
            cluster.manager.tick();
        }
    }

    private List<String> alerts() {
        return cluster.alerts.stream().map(Reclaim::server).toList();
    }

    private void moved(Reclaim alert, RegionShare... shares) {
        cluster.manager.moved(
                7,
                alert.generation(),
                40 * REGION,
                null,
                List.of(shares),
                new ReclaimOutcome(alert.server(), 10_000, 10));
        cluster.manager.tick();
    }

    @Test
    void aLongMoveGivesWayToOneThatCannotWait() {
        passes(2, 30);
        assertEquals(List.of("host1:1", "host2:1"), alerts());
        assertEquals(List.of(), cluster.alerts.getLast().targets());
        assertEquals(
                cluster.alerts.getFirst().generation(), cluster.alerts.getLast().generation());
        moved(cluster.alerts.getFirst(), share(1, 24), share(2, 8), share(3, 8));
        assertEquals(List.of("host1:1", "host2:1", "host2:1"), alerts());
        assertEquals(List.of(share(3, 8)), cluster.alerts.getLast().targets());
        moved(cluster.alerts.getLast(), share(1, 24), share(3, 16));
        assertEquals(List.of("host1:1", "host2:1", "host2:1", "host1:1"), alerts());
        assertEquals(List.of(share(3, 24)), cluster.alerts.getLast().targets(), "at once, and to the same server");
    }

    /** Eight regions take 9.4 s, also if the longer move gives way at once. */
    @Test
    void theClientHearsOnceOfRegionsThatCannotLeaveInTime() {
        List<LateMove> late = new ArrayList<>();
        cluster.manager
                .attend(99, new Unheard() {
                    @Override
                    public void late(long cacheId, LateMove move) {
                        late.add(move);
                    }
                })
                .renew(Set.of(7L));
        passes(1, 30);
        assertEquals(List.of(), late);
        assertEquals(List.of(), cluster.manager.describe(7).lateMoves());
        passes(1, 5);
        LateMove move = new LateMove("host2:1", 8, 4, 5_000, true);
        assertEquals(List.of(move), late);
        assertEquals(List.of(move), cluster.manager.describe(7).lateMoves());
        passes(1, 4);
        assertEquals(List.of(move), late, "one more is too few to be said");
        passes(1, 1);
        assertEquals(2, late.size());
        assertEquals(8, late.getLast().lost());
        passes(1, 30);
        assertEquals(List.of(), cluster.manager.describe(7).lateMoves());
    }

    @Test
    void oneThatCanWaitDoes() {
        passes(20, 100);
        assertEquals(List.of("host1:1"), alerts());
        moved(cluster.alerts.getFirst(), share(2, 8), share(3, 32));
        assertEquals(List.of("host1:1", "host2:1"), alerts());
    }
}
