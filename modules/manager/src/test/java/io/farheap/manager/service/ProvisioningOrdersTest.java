package io.farheap.manager.service;

import static io.farheap.manager.service.TestCluster.MIB;
import static io.farheap.manager.service.TestCluster.SECOND;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.manager.Reclaim;
import io.farheap.manager.ReclaimOutcome;
import io.farheap.manager.RegionShare;
import io.farheap.manager.provider.MachineOffer;
import io.farheap.manager.state.CacheRecord;
import io.farheap.testing.Effort;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Two caches on two servers that leave, a third server with room for a half of one of them, and a provider, while a
 * machine fails, another server comes and a new cache asks for room. In each order no room is promised twice, no more
 * machines start than all three need, and at the end all have their room.
 */
class ProvisioningOrdersTest {

    private static final EventOrders ORDERS = new EventOrders(7, 5_040, 1_009);
    /** A manager has a thread; so many orders share one. */
    private static final int SHARE = 50;
    /** After so many reports of all servers and clients nothing is left to do. */
    private static final int ROUNDS = 12;
    /** Regions of each cache, of each server that leaves, and of each machine. */
    private static final int REGIONS = 4;
    /** For twelve regions, of which two have room. */
    private static final int MOST_MACHINES = 3;

    /** As long as a server has when it gives notice. */
    private static final long NOTICE_MILLIS = 20_000;

    private TestCluster cluster = newCluster();
    private TestProvider provider = newProvider();
    /** Added to the ids of servers and caches: each order has its own. */
    private long base;

    /** By number of a server that leaves: when it ends, in ms of the time of day. */
    private final Map<Long, Long> ends = new TreeMap<>();

    private boolean anotherServer;
    /** Machines that the provider still has. */
    private int available;

    private static TestCluster newCluster() {
        return new TestCluster(
                new ManagerOptions(3 * SECOND, 30 * SECOND, true, 2, new Supply(0, 60 * SECOND, 300 * SECOND)), 1);
    }

    private TestProvider newProvider() {
        TestCluster served = cluster;
        TestProvider made = new TestProvider(report -> served.manager.report(report), _ -> offers(available - 1));
        cluster.manager.menu("{\"types\": [{\"name\": \"t\", \"cores\": 4, \"memory\": \"4m\", \"price\": 2}]}");
        cluster.manager.use(made, Map.of(), "manager:1");
        return made;
    }

    private void offers(int machines) {
        available = machines;
        provider.lots = List.of(new MachineOffer("t", false, 2, MIB, REGIONS, "d/c/r", 30_000, machines));
    }

    private long first() {
        return base + 11;
    }

    private long second() {
        return base + 12;
    }

    private long newcomer() {
        return base + 13;
    }

    private void begin(int order) {
        if (order % SHARE == 0) {
            cluster = newCluster();
            provider = newProvider();
        }
        // The servers of earlier orders are silent by now.
        cluster.pass(10_000);
        base += 1_000_000;
        ends.clear();
        anotherServer = false;
        cluster.allocateOn(base + 1, first(), REGIONS);
        cluster.allocateOn(base + 2, second(), REGIONS);
        // One more than all need, since one may fail.
        offers(MOST_MACHINES + 1);
        cluster.attends(first(), second(), newcomer());
        report();
    }

    /** All servers report. */
    private void report() {
        for (long number = 1; number <= 2; number++) {
            Long end = ends.get(number);
            if (end == null) {
                cluster.reports(base + number, REGIONS);
            } else {
                cluster.leaves(base + number, REGIONS, end - cluster.time);
            }
        }
        cluster.reports(base + 3, 2);
        if (anotherServer) {
            cluster.reports(base + 4, REGIONS);
        }
        for (TestProvider.TestMachine machine : provider.machines) {
            if (!machine.isStarting()) {
                cluster.reports(machine.id, REGIONS);
            }
        }
    }

    private void happens(int event) {
        cluster.pass(100);
        switch (event) {
            case 0 -> leaves(1);
            case 1 -> leaves(2);
            case 2 -> serves();
            case 3 -> fails();
            case 4 -> ask();
            case 5 -> comes();
            default -> cluster.manager.tick();
        }
        check();
    }

    /** Another server, with room for one cache. */
    private void comes() {
        anotherServer = true;
        report();
    }

    private void leaves(long number) {
        ends.put(number, cluster.time + NOTICE_MILLIS);
        cluster.leaves(base + number, REGIONS, NOTICE_MILLIS);
    }

    private void serves() {
        starting().ifPresent(TestProvider.TestMachine::serve);
    }

    private void fails() {
        starting().ifPresent(machine -> machine.fail("no socket"));
    }

    private Optional<TestProvider.TestMachine> starting() {
        return provider.machines.stream()
                .filter(TestProvider.TestMachine::isStarting)
                .findFirst();
    }

    private void ask() {
        try {
            cluster.allocate(newcomer(), REGIONS, 0);
        } catch (ControlException e) {
            assertEquals(Code.BUSY, e.code(), e.getMessage());
        }
    }

    private List<CacheRecord> records() {
        return List.of(first(), second(), newcomer()).stream()
                .filter(cluster.store.caches::containsKey)
                .map(cluster::record)
                .toList();
    }

    private int total(long server) {
        return server == base + 3 ? 2 : REGIONS;
    }

    private void check() {
        SortedMap<Long, Integer> promised = new TreeMap<>();
        for (CacheRecord record : records()) {
            record.regions().forEach((server, regions) -> promised.merge(server, regions, Integer::sum));
            record.reserved().forEach((server, regions) -> promised.merge(server, regions, Integer::sum));
        }
        promised.forEach((server, regions) ->
                assertTrue(regions <= total(server), () -> regions + " regions on server " + server));
        assertTrue(provider.machines.size() <= MOST_MACHINES, () -> provider.machines.size() + " machines");
    }

    /** The client does as it was told by the last alert, if that is not of an earlier generation. */
    private void follow(long id) {
        CacheRecord record = cluster.record(id);
        Reclaim alert = last(id);
        if (alert == null || alert.generation() != record.generation()) {
            return;
        }
        SortedMap<Long, Integer> regions = new TreeMap<>(record.regions());
        long source = server(alert.server());
        for (RegionShare target : alert.targets()) {
            regions.merge(source, -target.regions(), Integer::sum);
            regions.merge(server(target.address()), target.regions(), Integer::sum);
        }
        regions.values().removeIf(count -> count == 0);
        List<RegionShare> shares = new ArrayList<>();
        regions.forEach((server, count) -> shares.add(TestCluster.share(server, count)));
        ReclaimOutcome outcome = new ReclaimOutcome(alert.server(), 50, 0);
        cluster.manager.moved(id, alert.generation(), record.capacity(), null, shares, outcome);
    }

    private @Nullable Reclaim last(long id) {
        return cluster.alerts.stream()
                .filter(alert -> alert.cacheId() == id && !alert.targets().isEmpty())
                .reduce((_, later) -> later)
                .orElse(null);
    }

    private static long server(String address) {
        return Long.parseLong(address.substring("host".length(), address.indexOf(':')));
    }

    private void settle() {
        for (int round = 0; round < ROUNDS && !isSettled(); round++) {
            cluster.pass(1_000);
            report();
            serves();
            cluster.manager.tick();
            follow(first());
            follow(second());
            ask();
            check();
        }
        assertTrue(isSettled(), () -> records() + ", " + provider.machines.size() + " machines");
        for (long id : List.of(first(), second(), newcomer())) {
            cluster.manager.deallocate(id);
        }
        List.copyOf(provider.machines).forEach(TestProvider.TestMachine::end);
        cluster.alerts.clear();
    }

    private boolean isSettled() {
        List<CacheRecord> all = records();
        return all.size() == 3
                && all.stream()
                        .allMatch(record -> record.reserved().isEmpty()
                                && record.count() == REGIONS
                                && !record.regions().containsKey(base + 1)
                                && !record.regions().containsKey(base + 2));
    }

    @Test
    void eachOrderEndsWithAllCachesOnServersThatStay() {
        ORDERS.tried(Effort.count(2_500), (number, order) -> {
            begin(number);
            order.forEach(this::happens);
            settle();
        });
    }
}
