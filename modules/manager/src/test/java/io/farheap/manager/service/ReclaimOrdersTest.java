package io.farheap.manager.service;

import static io.farheap.manager.service.TestCluster.MIB;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.manager.Allocation;
import io.farheap.manager.Reclaim;
import io.farheap.manager.ReclaimOutcome;
import io.farheap.manager.RegionShare;
import io.farheap.manager.ServerReport;
import io.farheap.manager.state.CacheRecord;
import io.farheap.testing.Effort;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Two caches on three servers, of which two leave, while one cache grows, the other becomes smaller, another manager
 * leads and the answers to reports are lost. The third server has room for what both need at the end, but for no more,
 * and a third cache there has outlived its time. In each order of notices, plans, alerts and reports no room is
 * promised twice, the third cache is ended only if both needed its room for a while, and at the end both are where they
 * can stay.
 */
class ReclaimOrdersTest {

    private static final EventOrders ORDERS = new EventOrders(9, 362_880, 224_269);
    /** A manager has a thread; so many orders share one. */
    private static final int SHARE = 50;

    private static final long STAYS = 3;
    /** After so many reports of all servers and clients nothing is left to do. */
    private static final int ROUNDS = 15;
    /** A cache of four regions, and one of two. */
    private static final int NEEDED = 6;

    /** A cache, as its client has it, which the manager may not know yet. */
    private static final class ClientCache {
        private final long id;
        private SortedMap<Long, Integer> regions = new TreeMap<>();
        /** The last alert with targets that was not followed. */
        private @Nullable Reclaim alert;
        /** Whether it was told that a server leaves, while it grows. */
        private boolean urgent;

        private @Nullable Allocation plan;
        /** The last report that the manager has accepted. */
        private @Nullable Runnable accepted;

        private ClientCache(long id) {
            this.id = id;
        }

        private int count() {
            return regions.values().stream().mapToInt(Integer::intValue).sum();
        }

        private List<RegionShare> shares() {
            return regions.entrySet().stream()
                    .map(share -> TestCluster.share(share.getKey(), share.getValue()))
                    .toList();
        }

        private void add(long server, int more) {
            regions.merge(server, more, Integer::sum);
            regions.values().removeIf(count -> count == 0);
        }
    }

    private TestCluster cluster = new TestCluster(ManagerOptions.DEFAULT, 1);
    /** Added to the ids of servers: each order has its own. */
    private long base;

    /** The cache that has outlived its time. */
    private long over;
    /** Whether both others have needed more than the room without its region. */
    private boolean tight;

    private ClientCache first = new ClientCache(0);
    private ClientCache second = new ClientCache(0);
    private final List<Long> leaving = new ArrayList<>();
    private int heard;

    private long server(long number) {
        return base + number;
    }

    private int total(long number) {
        return number == STAYS ? NEEDED + 1 : 4;
    }

    private void report(long number) {
        Map<Long, Integer> held = new TreeMap<>();
        for (ClientCache cache : List.of(first, second)) {
            Integer regions = cache.regions.get(server(number));
            if (regions != null) {
                held.put(cache.id, regions);
            }
        }
        boolean ended = number == STAYS && cluster.ends.contains(over);
        if (number == STAYS && !ended) {
            held.put(over, 1);
        }
        ServerReport report =
                TestCluster.server(server(number), "t", false, total(number), held, ended ? Set.of(over) : Set.of());
        cluster.manager.report(leaving.contains(number) ? report.leavingWithin(30_000) : report);
        hear();
    }

    private void hear() {
        for (; heard < cluster.alerts.size(); heard++) {
            Reclaim alert = cluster.alerts.get(heard);
            ClientCache cache = alert.cacheId() == first.id ? first : second;
            cache.urgent = true;
            if (!alert.targets().isEmpty()) {
                cache.alert = alert;
            }
        }
    }

    private void begin(int order) {
        if (order % SHARE == 0) {
            cluster = new TestCluster(ManagerOptions.DEFAULT, 1);
            heard = 0;
        }
        // The servers of earlier orders are silent by now.
        cluster.pass(10_000);
        base += 10;
        leaving.clear();
        tight = false;
        over = base + 3;
        cluster.reports(server(STAYS), total(STAYS));
        cluster.allocate(over, 1, 500);
        first = allocated(base + 1, 1);
        second = allocated(base + 2, 2);
        report(STAYS);
        attends();
        // Its client is notified before its time ends.
        cluster.manager.tick();
        cluster.pass(1_000);
    }

    private void attends() {
        cluster.attends(first.id, second.id, over);
    }

    private ClientCache allocated(long id, long number) {
        ClientCache cache = new ClientCache(id);
        report(number);
        cluster.allocate(id, 3, 0);
        cache.add(server(number), 3);
        assertEquals(cache.regions, cluster.record(id).regions());
        return cache;
    }

    private void happens(int event) {
        cluster.pass(100);
        switch (event) {
            case 0 -> leaves(1);
            case 1 -> leaves(2);
            case 2 -> grows();
            case 3 -> answers(first);
            case 4 -> shrinks();
            case 5 -> answers(second);
            case 6 -> leads();
            case 7 -> repeats();
            default -> cluster.manager.tick();
        }
        hear();
        check();
    }

    private void leaves(long number) {
        leaving.add(number);
        report(number);
        for (ClientCache cache : List.of(first, second)) {
            if (cache.regions.containsKey(server(number)) && cache.plan != null) {
                assertTrue(cache.urgent, "a client that grows learns at once that its server leaves");
            }
        }
    }

    /** Servers and clients find it at once, but the servers report later. */
    private void leads() {
        cluster.lead();
        attends();
    }

    /** The answers to the last reports were lost on their way. */
    private void repeats() {
        for (ClientCache cache : List.of(first, second)) {
            if (cache.accepted != null) {
                try {
                    cache.accepted.run();
                } catch (ControlException e) {
                    assertTrue(e.code() == Code.BUSY || e.code() == Code.INVALID_ARGUMENT, e.getMessage());
                }
            }
        }
    }

    /** @throws ControlException if the manager refuses the report */
    private void report(ClientCache cache, long generation, @Nullable ReclaimOutcome outcome) {
        List<RegionShare> shares = cache.shares();
        long bytes = cache.count() * MIB;
        Runnable report = () -> cluster.manager.moved(cache.id, generation, bytes, null, shares, outcome);
        report.run();
        cache.accepted = report;
    }

    private void grows() {
        if (first.plan != null) {
            return;
        }
        try {
            long wanted = (first.count() + 1) * MIB;
            tight |= first.count() + 1 + second.count() > NEEDED;
            Allocation plan = cluster.manager.reallocate(first.id, wanted);
            first.plan = plan.reserved().isEmpty() ? null : plan;
            first.urgent = false;
        } catch (ControlException e) {
            // The other cache may have the room, or the servers have not reported to a new manager.
            assertTrue(e.code() == Code.BUSY || e.code() == Code.OUT_OF_MEMORY, e.getMessage());
        }
    }

    /** The client does what is due: it ends its growth or gives it up, follows an alert, or reports where it is. */
    private void answers(ClientCache cache) {
        Allocation plan = cache.plan;
        Reclaim alert = cache.alert;
        if (plan != null) {
            cache.plan = null;
            become(cache, plan);
        } else if (alert != null) {
            cache.alert = null;
            follow(cache, alert);
        } else {
            says(cache);
        }
    }

    private void become(ClientCache cache, Allocation plan) {
        if (cache.urgent) {
            says(cache);
            return;
        }
        SortedMap<Long, Integer> before = new TreeMap<>(cache.regions);
        plan.reserved().forEach(share -> cache.add(id(share), share.regions()));
        try {
            report(cache, plan.generation(), null);
        } catch (ControlException e) {
            // The plan was given up, so the cache gives the new regions back.
            cache.regions = before;
        }
    }

    private static long id(RegionShare share) {
        return Long.parseLong(
                share.address().substring("host".length(), share.address().indexOf(':')));
    }

    private void follow(ClientCache cache, Reclaim alert) {
        long source = Long.parseLong(
                alert.server().substring("host".length(), alert.server().indexOf(':')));
        for (RegionShare target : alert.targets()) {
            int moved = Math.min(target.regions(), cache.regions.getOrDefault(source, 0));
            if (moved > 0) {
                cache.add(source, -moved);
                cache.add(id(target), moved);
            }
        }
        try {
            report(cache, alert.generation(), new ReclaimOutcome(alert.server(), 50, 0));
        } catch (ControlException e) {
            // It is reported again.
            assertEquals(Code.BUSY, e.code(), e.getMessage());
        }
    }

    /** A report that answers nothing; the manager may not know yet what the servers hold. */
    private void says(ClientCache cache) {
        try {
            report(cache, cluster.generation(cache.id), null);
        } catch (ControlException e) {
            assertEquals(Code.INVALID_ARGUMENT, e.code(), e.getMessage());
        }
    }

    private void shrinks() {
        if (second.count() > 1) {
            second.add(second.regions.firstKey(), -1);
        }
        says(second);
    }

    /** No server has promised more than it has. */
    private void check() {
        SortedMap<Long, Integer> promised = new TreeMap<>();
        tight |= first.count() + second.count() > NEEDED;
        assertTrue(tight || !cluster.ends.contains(over), "a cache was ended without need");
        if (cluster.store.caches.containsKey(over)) {
            promised.put(server(STAYS), 1);
        }
        for (ClientCache cache : List.of(first, second)) {
            CacheRecord record = cluster.record(cache.id);
            record.regions().forEach((server, regions) -> promised.merge(server, regions, Integer::sum));
            record.reserved().forEach((server, regions) -> promised.merge(server, regions, Integer::sum));
        }
        promised.forEach((server, regions) ->
                assertTrue(regions <= total(server - base), () -> regions + " regions on server " + (server - base)));
    }

    private void settle() {
        for (int round = 0; round < ROUNDS && !isSettled(); round++) {
            cluster.pass(1_000);
            for (long number = 1; number <= STAYS; number++) {
                report(number);
            }
            cluster.manager.tick();
            hear();
            answers(first);
            answers(second);
            check();
        }
        for (ClientCache cache : List.of(first, second)) {
            CacheRecord record = cluster.record(cache.id);
            assertEquals(cache.regions, record.regions());
            assertEquals(Map.of(server(STAYS), cache.count()), cache.regions);
            assertEquals(Map.of(), record.reserved());
            assertEquals(0, record.wanted());
            cluster.manager.deallocate(cache.id);
        }
        cluster.manager.deallocate(over);
    }

    private boolean isSettled() {
        return List.of(first, second).stream().allMatch(cache -> {
            CacheRecord record = cluster.record(cache.id);
            return cache.plan == null
                    && cache.regions.equals(Map.of(server(STAYS), cache.count()))
                    && cache.regions.equals(record.regions())
                    && record.reserved().isEmpty()
                    && record.wanted() == 0;
        });
    }

    @Test
    void eachOrderEndsWithBothCachesWhereTheyCanStay() {
        ORDERS.tried(Effort.count(2_500), (number, order) -> {
            begin(number);
            order.forEach(this::happens);
            settle();
        });
    }
}
