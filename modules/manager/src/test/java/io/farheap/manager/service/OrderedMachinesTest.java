package io.farheap.manager.service;

import static io.farheap.manager.service.TestCluster.MIB;
import static io.farheap.manager.service.TestCluster.SECOND;
import static io.farheap.manager.service.TestCluster.refusal;
import static io.farheap.manager.service.TestCluster.share;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.manager.AllocationCandidate;
import io.farheap.manager.CacheRequest;
import io.farheap.manager.Reclaim;
import io.farheap.manager.ReclaimOutcome;
import io.farheap.manager.RegionShare;
import io.farheap.manager.provider.MachineOffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Machines are started for all caches that wait together; only the tests advance the clock. */
class OrderedMachinesTest {

    private final TestCluster cluster = new TestCluster(
            new ManagerOptions(3 * SECOND, 30 * SECOND, true, 2, new Supply(0, 60 * SECOND, 300 * SECOND)), 1);
    private final TestProvider provider = new TestProvider(report -> cluster.manager.report(report), _ -> starts());
    private int most = 9;

    /** A provider with machines of 16 regions. */
    private void start(int available) {
        start(available, 16);
    }

    /** @param regions of each of the first machines; those that are offered then have 16 */
    private void start(int available, int regions) {
        most = available;
        provider.lots = List.of(lot(regions, available));
        menu("");
        cluster.manager.use(provider, Map.of(), "manager:1");
    }

    /** @param time further fields of the machines' type */
    private void menu(String time) {
        cluster.manager.menu(
                "{\"types\": [{\"name\": \"t\", \"cores\": 4, \"memory\": \"16m\", \"price\": 2" + time + "}]}");
    }

    private static MachineOffer lot(int available) {
        return lot(16, available);
    }

    private static MachineOffer lot(int regions, int available) {
        return new MachineOffer("t", false, 2, MIB, regions, "d/c/r", 30_000, available);
    }

    private void starts() {
        most--;
        provider.lots = List.of(lot(most));
    }

    private void busy(long id, int regions) {
        refusal(Code.BUSY, () -> cluster.allocate(id, regions, 0));
    }

    /** Cache 7 has all of servers 1 and 2. */
    private void isOnTwoServers() {
        cluster.reports(1, 4);
        cluster.reports(2, 4);
        cluster.allocate(7, 8, 0);
    }

    private void twoServersLeave() {
        cluster.leaves(1, 4);
        cluster.leaves(2, 4);
        cluster.manager.tick();
    }

    /** Cache 7 has all of server 1, and cache 6, which lives for this long, all of server 2. */
    private void another(long lifetimeMillis) {
        cluster.allocateOn(1, 7, 4);
        cluster.reports(2, 4);
        cluster.allocate(6, 4, lifetimeMillis);
        cluster.attends(6L);
    }

    private void serve(int machine) {
        provider.machines.get(machine).serve();
    }

    /** The one machine that the provider has is on its way, and has room for both. */
    @Test
    void aMachineThatIsComingIsForAllThatItHasRoomFor() {
        start(1);
        busy(7, 9);
        busy(8, 7);
        refusal(Code.OUT_OF_MEMORY, () -> cluster.allocate(9, 1, 0));
        serve(0);
        assertEquals(7, cluster.allocate(8, 7, 0).shares().getFirst().regions());
        assertEquals(9, cluster.allocate(7, 9, 0).shares().getFirst().regions());
        assertEquals(1, provider.machines.size());
    }

    /** Whoever comes later does not get what others wait for, however often he asks. */
    @Test
    void roomThatWasOrderedForOneIsNotTakenByAnother() {
        start(1);
        busy(7, 16);
        serve(0);
        refusal(Code.OUT_OF_MEMORY, () -> cluster.allocate(8, 4, 0));
        assertEquals(16, cluster.allocate(7, 16, 0).shares().getFirst().regions());
    }

    @Test
    void whatIsMissingIsAllThatWaitLessAllThatComes() {
        start(9);
        for (int id = 1; id <= 50; id++) {
            busy(id, 1);
        }
        assertEquals(4, provider.machines.size(), "of 16 regions each");
        for (int machine = 0; machine < 4; machine++) {
            serve(machine);
        }
        for (int id = 1; id <= 50; id++) {
            cluster.allocate(id, 1, 0);
        }
        assertEquals(4, provider.machines.size());
    }

    /** A client that is gone keeps no room for longer than a few seconds. */
    @Test
    void roomOfOneThatAsksNoMoreIsForOthers() {
        start(1);
        busy(7, 16);
        serve(0);
        for (int i = 0; i < 8; i++) {
            cluster.pass(1_000);
            provider.machines.getFirst().report(16, Map.of());
            cluster.manager.tick();
        }
        assertEquals(4, cluster.allocate(8, 4, 0).shares().getFirst().regions());
    }

    /** Fifty caches on one server that leaves need four machines, and not fifty. */
    @Test
    void aServerThatLeavesWithManyCachesNeedsAsManyMachinesAsTheirRegions() {
        cluster.reports(1, 50);
        for (int id = 1; id <= 50; id++) {
            cluster.allocate(id, 1, 0);
        }
        start(9);
        cluster.leaves(1, 50);
        cluster.manager.tick();
        assertEquals(4, provider.machines.size());
        for (int machine = 0; machine < 4; machine++) {
            serve(machine);
        }
        cluster.manager.tick();
        assertEquals(
                50,
                cluster.store.caches.values().stream()
                        .filter(cache -> !cache.reserved().isEmpty())
                        .count());
    }

    /** The provider has one machine, and the regions on a server that leaves are lost without it. */
    @Test
    void whatIsLostOtherwiseComesFirst() {
        cluster.allocateOn(1, 7, 16);
        start(1);
        cluster.leaves(1, 16);
        refusal(Code.OUT_OF_MEMORY, () -> cluster.allocate(8, 16, 0));
        assertEquals(1, provider.machines.size());
        serve(0);
        cluster.manager.tick();
        assertEquals(Map.of(100L, 16), cluster.record(7).reserved());
    }

    /** Room that becomes free meanwhile is for the cache that waits, and not for one that comes later. */
    @Test
    void whoeverWaitsIsServedInOrder() {
        cluster.allocateOn(1, 5, 4);
        start(1);
        busy(7, 4);
        cluster.manager.deallocate(5);
        cluster.reports(1, 4);
        Map<Long, Code> others = new TreeMap<>();
        for (long id : new long[] {8, 9}) {
            try {
                cluster.allocate(id, 4, 0);
            } catch (ControlException e) {
                others.put(id, e.code());
            }
        }
        assertEquals(Map.of(8L, Code.BUSY, 9L, Code.BUSY), others, "they wait for the machine");
        assertEquals(List.of(share(1, 4)), cluster.allocate(7, 4, 0).shares());
        assertEquals(1, provider.machines.size());
    }

    /** Caches that wait lose nothing if regions that would be lost get their room. */
    @Test
    void keptRoomGoesToWhatWouldBeLost() {
        cluster.allocateOn(1, 5, 4);
        cluster.reports(2, 4);
        start(1);
        busy(7, 20);
        cluster.leaves(1, 4);
        assertEquals(Map.of(2L, 4), cluster.record(5).reserved());
    }

    /** Time in which the manager works, and no machine comes. */
    private void passes(int seconds) {
        for (int i = 0; i < seconds; i++) {
            cluster.pass(1_000);
            cluster.manager.tick();
        }
    }

    /** It has not come for the first that waited, so it may never come, and the provider has others. */
    @Test
    void aMachineThatIsLateKeepsNoOtherFromBeingStarted() {
        start(9);
        busy(7, 9);
        passes(61);
        busy(8, 4);
        assertEquals(2, provider.machines.size());
    }

    /** A machine that takes 20 s is late after 50 s, and a server that leaves does not wait for 60 s. */
    @Test
    void regionsThatWouldBeLostDoNotWaitForAMachineThatIsLate() {
        cluster.allocateOn(1, 5, 4);
        start(9);
        menu(", \"start\": \"20s\"");
        busy(7, 9);
        passes(50);
        cluster.leaves(1, 4);
        cluster.manager.tick();
        assertEquals(2, provider.machines.size());
    }

    /** The machine that comes for one more region is not enough for fifty, and growth waits until they have moved. */
    @Test
    void growthThatWaitsDoesNotDelayRegionsThatWouldBeLost() {
        cluster.allocateOn(1, 7, 50);
        start(9);
        refusal(Code.BUSY, () -> cluster.manager.reallocate(7, 51 * MIB, List.of()));
        assertEquals(1, provider.machines.size());
        cluster.leaves(1, 50);
        cluster.manager.tick();
        assertEquals(4, provider.machines.size());
        for (int machine = 0; machine < 4; machine++) {
            serve(machine);
        }
        cluster.manager.tick();
        assertEquals(
                50,
                cluster.record(7).reserved().values().stream()
                        .mapToInt(Integer::intValue)
                        .sum());
    }

    /** Two caches of four regions wait for a machine of eight, and its server has seven. */
    @Test
    void whoeverClaimedAMachineFirstGetsWhatItHas() {
        cluster.reports(1, 8);
        cluster.allocate(5, 4, 0);
        cluster.allocate(6, 4, 0);
        start(1, 8);
        cluster.leaves(1, 8);
        cluster.manager.tick();
        assertEquals(1, provider.machines.size());
        provider.lots = List.of();
        provider.machines.getFirst().serveSmaller(7);
        cluster.manager.tick();
        assertEquals(4, cluster.reserved(5) + cluster.reserved(6), "one of them has its room");
        // The other three are not kept for a cache that cannot use them.
        assertEquals(3, cluster.allocate(8, 3, 0).shares().getFirst().regions());
    }

    /** One that has too little room on the only machine does not keep it from another, for which it is enough. */
    @Test
    void roomThatIsTooLittleForOneIsForAnother() {
        cluster.allocateOn(1, 5, 8);
        start(1, 8);
        cluster.leaves(1, 8);
        cluster.manager.tick();
        provider.lots = List.of();
        provider.machines.getFirst().serveSmaller(7);
        cluster.manager.tick();
        assertEquals(4, cluster.allocate(8, 4, 0).shares().getFirst().regions());
    }

    /** It would have to wait until the other one has come, and then for a third one. */
    @Test
    void aMachineThatFailsIsReplacedWhileAnotherOneIsComing() {
        start(9);
        busy(7, 20);
        assertEquals(2, provider.machines.size());
        provider.machines.getFirst().fail("no socket");
        busy(7, 20);
        assertEquals(2, provider.machines.size(), "the one that failed is not among them");
        serve(0);
        serve(1);
        cluster.allocate(7, 20, 0);
    }

    /** Three of the four regions have room, and the machine for the fourth takes its time. */
    @Test
    void whatAGrowingCacheFindsIsKeptWhileTheRestIsComing() {
        cluster.reports(1, 4);
        cluster.allocate(7, 1, 0);
        cluster.reports(1, 4);
        start(1);
        refusal(Code.BUSY, () -> cluster.manager.reallocate(7, 5 * MIB, List.of()));
        busy(8, 3);
        serve(0);
        cluster.manager.reallocate(7, 5 * MIB, List.of());
        assertEquals(Map.of(1L, 3, 100L, 1), cluster.record(7).reserved());
        assertEquals(List.of(share(100, 3)), cluster.allocate(8, 3, 0).shares());
    }

    /** A call looks at sixteen of those that wait, and the room is too small for the first sixteen. */
    @Test
    void theSeventeenthThatWaitsIsServedToo() {
        cluster.allocateOn(1, 50, 4);
        start(99);
        for (int id = 1; id <= 16; id++) {
            busy(id, 16);
        }
        busy(17, 4);
        cluster.manager.deallocate(50);
        cluster.reports(1, 4);
        busy(40, 4);
        assertEquals(List.of(share(1, 4)), cluster.allocate(17, 4, 0).shares());
    }

    /** A hundred caches find no room, and the provider has no machines, for a second and for others, too. */
    @Test
    void aProviderWithoutMachinesIsNotAskedAllTheTime() {
        cluster.reports(1, 100);
        for (int id = 1; id <= 100; id++) {
            cluster.allocate(id, 1, 0);
        }
        start(0);
        cluster.leaves(1, 100);
        for (int i = 0; i < 10; i++) {
            cluster.pass(100);
            cluster.manager.tick();
            refusal(Code.OUT_OF_MEMORY, () -> cluster.allocate(500, 1, 0));
        }
        assertTrue(provider.asked >= 100 && provider.asked <= 200, () -> provider.asked + " times");
        provider.lots = List.of(lot(9));
        most = 9;
        provider.tellAvailable("t");
        cluster.manager.tick();
        assertEquals(7, provider.machines.size(), "at once when it has some");
    }

    /** A few failures at the start of a notice are no reason to let it end without another attempt. */
    @Test
    void machinesThatFailDoNotEndTheAttemptsForRegionsThatWouldBeLost() {
        cluster.allocateOn(1, 5, 4);
        start(9);
        cluster.leaves(1, 4);
        for (int i = 0; i < 3; i++) {
            cluster.manager.tick();
            provider.machines.getFirst().fail("no socket");
        }
        cluster.manager.tick();
        assertEquals(List.of(), provider.machines);
        for (int i = 0; i < 5; i++) {
            cluster.pass(1_000);
            cluster.leaves(1, 4);
            cluster.manager.tick();
        }
        assertEquals(1, provider.machines.size());
    }

    /** The room is on a server that leaves before the cache has it, and the machine is for others by then. */
    @Test
    void roomThatIsKeptAndLostIsOrderedAgain() {
        cluster.allocateOn(1, 50, 4);
        start(2);
        busy(7, 4);
        cluster.manager.deallocate(50);
        cluster.reports(1, 4);
        busy(8, 16);
        assertEquals(1, provider.machines.size(), "cache 7 does not need it any more");
        cluster.leaves(1, 4);
        busy(7, 4);
        assertEquals(2, provider.machines.size());
        serve(0);
        serve(1);
        assertEquals(16, cluster.allocate(8, 16, 0).shares().getFirst().regions());
        cluster.allocate(7, 4, 0);
    }

    /** A market that takes a rack takes all servers of some caches, each of which leaves one server at a time. */
    @Test
    void aCacheOnTwoServersThatLeaveGetsMachinesForBothAtOnce() {
        isOnTwoServers();
        start(2, 4);
        cluster.attends(7L);
        twoServersLeave();
        assertEquals(2, provider.machines.size());
        serve(0);
        serve(1);
        cluster.manager.tick();
        assertEquals(4, cluster.reserved(7), "the regions of one server");
        cluster.manager.tick();
        refusal(Code.OUT_OF_MEMORY, () -> cluster.allocate(8, 4, 0));
        Reclaim first = cluster.alerts.getLast();
        long other = first.server().equals("host1:1") ? 2 : 1;
        List<RegionShare> shares = new ArrayList<>(first.targets());
        shares.add(share(other, 4));
        cluster.manager.moved(
                7, first.generation(), 8 * MIB, null, shares, new ReclaimOutcome(first.server(), 300, 100));
        cluster.manager.tick();
        Reclaim second = cluster.alerts.getLast();
        assertEquals("host" + other + ":1", second.server());
        assertEquals(4, cluster.reserved(7));
        assertEquals(2, provider.machines.size());
    }

    @Test
    void whatCanBeHadIsOrderedForTheServerThatEndsFirst() {
        isOnTwoServers();
        start(1, 4);
        twoServersLeave();
        assertEquals(1, provider.machines.size());
        serve(0);
        cluster.manager.tick();
        assertEquals(4, cluster.reserved(7));
    }

    private void allocateWithFourThreads(long id) {
        cluster.manager.allocate(
                new CacheRequest(id, 99, "cache", 8 * MIB, 0, "", List.of(new AllocationCandidate(5, 4))));
    }

    /** A machine has four cores, and room for both caches. */
    @Test
    void theCoresOfAMachineAreKeptAsItsRegionsAre() {
        start(1);
        refusal(Code.BUSY, () -> allocateWithFourThreads(7));
        serve(0);
        refusal(Code.OUT_OF_MEMORY, () -> allocateWithFourThreads(8));
        allocateWithFourThreads(7);
        assertEquals(List.of(share(100, 8)), cluster.allocate(9, 8, 0).shares());
    }

    /** A server that leaves was a target of a move when its notice came, and has got the regions. */
    @Test
    void machinesAreOrderedForRegionsThatLeaveLaterToo() {
        isOnTwoServers();
        start(9, 4);
        cluster.leaves(1, 4);
        cluster.manager.tick();
        assertEquals(1, provider.machines.size());
        provider.lots = List.of(lot(4, 9));
        cluster.leaves(2, 4);
        cluster.manager.tick();
        assertEquals(2, provider.machines.size());
    }

    /** The provider has no other machine, and that one is enough for the server that ends later. */
    @Test
    void aMachineThatIsComingRemainsForTheServerForWhichItIsEnough() {
        cluster.reports(1, 8);
        cluster.reports(2, 4);
        cluster.allocate(7, 12, 0);
        start(1, 4);
        cluster.leaves(2, 4);
        cluster.manager.tick();
        assertEquals(1, provider.machines.size());
        cluster.leaves(1, 8, 10_000);
        cluster.manager.tick();
        refusal(Code.OUT_OF_MEMORY, () -> cluster.allocate(8, 4, 0));
        serve(0);
        cluster.manager.tick();
        assertEquals(Map.of(100L, 4), cluster.record(7).reserved());
    }

    /** Three regions have room, a machine comes for the fourth, and then the time of another cache ends. */
    @Test
    void noCacheIsEndedForRoomThatIsComing() {
        another(40_000);
        cluster.reports(3, 3);
        start(1);
        for (int second = 0; second < 45; second++) {
            cluster.pass(1_000);
            cluster.leaves(1, 4);
            cluster.reports(2, 4);
            cluster.reports(3, 3);
            cluster.manager.tick();
        }
        assertEquals(1, provider.machines.size());
        assertEquals(List.of(), cluster.ends);
        serve(0);
        cluster.manager.tick();
        assertEquals(4, cluster.reserved(7));
    }

    /** All of its room for its second move is free, until one of two servers leaves, too. */
    @Test
    void aPartThatIsLeftOfTheRoomForARegionThatLeavesIsForOthers() {
        isOnTwoServers();
        start(0);
        twoServersLeave();
        cluster.reports(3, 4);
        cluster.reports(4, 2);
        cluster.reports(5, 2);
        cluster.manager.tick();
        assertEquals(Map.of(3L, 4), cluster.record(7).reserved());
        refusal(Code.OUT_OF_MEMORY, () -> cluster.allocate(8, 2, 0));
        cluster.leaves(4, 2);
        cluster.manager.tick();
        assertEquals(List.of(share(5, 2)), cluster.allocate(8, 2, 0).shares());
    }

    /** A machine of eight regions is there or coming, and four others become free. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aCacheThatFindsOtherRoomKeepsNoMoreThanItStillNeeds(boolean serves) {
        isOnTwoServers();
        start(1, 8);
        twoServersLeave();
        if (serves) {
            serve(0);
        }
        cluster.reports(3, 4);
        cluster.manager.tick();
        assertEquals(Map.of(3L, 4), cluster.record(7).reserved());
        refusal(Code.OUT_OF_MEMORY, () -> cluster.allocate(8, 5, 0));
        if (!serves) {
            busy(8, 4);
            serve(0);
        }
        assertEquals(List.of(share(100, 4)), cluster.allocate(8, 4, 0).shares());
        refusal(Code.OUT_OF_MEMORY, () -> cluster.allocate(9, 1, 0));
    }

    /** Cache 5 has all of server 1, which leaves, and the first of two machines fails after 50 s. */
    private void aMachineFailsLate(int seconds) {
        cluster.allocateOn(1, 5, 16);
        start(2);
        for (int second = 0; second < seconds; second++) {
            cluster.leaves(1, 16);
            cluster.manager.tick();
            cluster.pass(1_000);
            if (second == 50) {
                provider.machines.getFirst().fail("no socket");
            }
        }
    }

    /** Clients wait for a minute. */
    @Test
    void aMachineForRegionsThatWouldBeLostRemainsTheirsForAsLongAsTheyWait() {
        aMachineFailsLate(65);
        assertEquals(1, provider.machines.size());
        refusal(Code.OUT_OF_MEMORY, () -> cluster.allocate(8, 16, 0));
    }

    /** Its client asks for that while the server is silent, so that it is not refused because of its regions there. */
    @Test
    void growthDoesNotGiveUpTheMachineForRegionsThatWouldBeLost() {
        aMachineFailsLate(58);
        cluster.pass(4_000);
        refusal(Code.BUSY, () -> cluster.manager.reallocate(5, 17 * MIB, List.of()));
        assertEquals(1, provider.machines.size());
        refusal(Code.OUT_OF_MEMORY, () -> cluster.allocate(8, 16, 0));
    }

    /** By the menu a machine starts in one second, and all take longer. */
    @Test
    void machinesThatAreAllLateAreNotReplacedForEver() {
        cluster.allocateOn(1, 5, 4);
        start(9);
        menu(", \"start\": \"1s\"");
        for (int second = 0; second < 30; second++) {
            cluster.leaves(1, 4);
            cluster.manager.tick();
            cluster.pass(1_000);
        }
        assertEquals(3, provider.machines.size());
    }

    /** It would have to wait until the move has ended. */
    @Test
    void aCacheThatWaitsToGrowDoesNotMoveToCheaperServers() {
        cluster.allocateOn(1, 7, 4);
        start(1);
        cluster.manager.menu("""
                {"types": [{"name": "t", "cores": 4, "memory": "16m", "price": 2},
                           {"name": "cheap", "cores": 4, "memory": "16m", "price": 0.1}]}""");
        refusal(Code.BUSY, () -> cluster.manager.reallocate(7, 20 * MIB, List.of()));
        cluster.manager.report(TestCluster.server(3, "cheap", false, 4, Map.of()));
        cluster.manager.tick();
        assertEquals(Map.of(), cluster.record(7).reserved());
        serve(0);
        cluster.manager.reallocate(7, 20 * MIB, List.of());
    }

    private void offersFour() {
        provider.lots = List.of(lot(4, 9));
    }

    /** Each of four servers gives its notice a moment after the last one. */
    @Test
    void machinesThatAreComingRemainThoseOfACacheOfWhichMoreRegionsLeave() {
        for (int id = 1; id <= 4; id++) {
            cluster.reports(id, 4);
        }
        cluster.allocate(7, 16, 0);
        start(9);
        for (int id = 1; id <= 4; id++) {
            offersFour();
            cluster.leaves(id, 4);
            cluster.manager.tick();
            cluster.pass(250);
        }
        assertEquals(4, provider.machines.size());
        offersFour();
        busy(8, 4);
        assertEquals(5, provider.machines.size(), "none of the four is for another cache");
    }

    /** The room for its second move is there at first, and another cache takes it. */
    @Test
    void aCacheThatLeavesAServerLooksForLaterRoomOnlyAfterAPause() {
        isOnTwoServers();
        cluster.reports(3, 8);
        start(9);
        cluster.leaves(1, 4);
        cluster.leaves(2, 4);
        assertEquals(4, cluster.reserved(7));
        cluster.allocate(8, 4, 0);
        cluster.pass(250);
        cluster.manager.tick();
        assertEquals(0, provider.machines.size());
        cluster.pass(250);
        cluster.manager.tick();
        assertEquals(1, provider.machines.size());
    }

    /** One tick orders for 256 caches, and so many leave one server and have their room for leaving another one. */
    @Test
    void cachesThatHaveAllTheirRoomLeaveTheOrdersToOthers() {
        cluster.allocateOn(5, 9, 4);
        for (int id = 1000; id < 1256; id++) {
            cluster.reports(id, 1);
            cluster.reports(id + 1000, 1);
            cluster.allocate(id, 2, 0);
        }
        start(9, 512);
        for (int id = 1000; id < 1256; id++) {
            cluster.leaves(id, 1);
            cluster.leaves(id + 1000, 1);
        }
        cluster.manager.tick();
        assertEquals(1, provider.machines.size());
        serve(0);
        cluster.manager.tick();
        cluster.manager.tick();
        assertEquals(1, cluster.reserved(1000));
        assertEquals(1, cluster.reserved(1255));
        provider.lots = List.of();
        cluster.leaves(5, 4);
        cluster.pass(600);
        cluster.manager.tick();
        provider.lots = List.of(lot(9));
        provider.tellAvailable("t");
        cluster.manager.tick();
        assertEquals(2, provider.machines.size(), "one for the four regions on server 5");
    }

    private void noticeOf(long server, int regions, int second) {
        cluster.leaves(server, regions, 30_000 - 1_000L * second);
    }

    /** By the menu it takes three times as long to start as the notice lasts, or should be there, or may take long. */
    @ParameterizedTest
    @ValueSource(strings = {", \"start\": \"90s\"", ", \"start\": \"12s\"", ""})
    void aCacheIsEndedForRegionsForWhichAMachineComesTooLate(String time) {
        another(10_000);
        start(1);
        menu(time);
        for (int second = 0; second < 23; second++) {
            noticeOf(1, 4, second);
            cluster.reports(2, 4);
            cluster.manager.tick();
            cluster.pass(1_000);
        }
        assertEquals(1, provider.machines.size());
        assertEquals(List.of(6L), cluster.ends);
    }

    /** Three regions have room, a machine comes for the fourth, and then the server with the three leaves, too. */
    @Test
    void aCacheIsEndedForRegionsOfWhichOnlyAPartHasRoomThatIsComing() {
        another(40_000);
        cluster.reports(3, 3);
        start(1, 1);
        for (int second = 0; second < 45; second++) {
            cluster.pass(1_000);
            cluster.leaves(1, 4);
            cluster.reports(2, 4);
            if (second < 30) {
                cluster.reports(3, 3);
            } else {
                cluster.leaves(3, 3);
            }
            cluster.manager.tick();
        }
        assertEquals(1, provider.machines.size());
        assertEquals(List.of(6L), cluster.ends);
    }

    /** Three regions have room on a server that is silent for a moment, and a machine comes for the fourth. */
    @Test
    void aServerThatIsSilentForAMomentDoesNotMakeACacheGiveUpAMachine() {
        cluster.allocateOn(1, 7, 4);
        cluster.reports(3, 3);
        start(1, 1);
        for (int second = 0; second < 16; second++) {
            cluster.pass(1_000);
            cluster.leaves(1, 4);
            if (second <= 10) {
                cluster.reports(3, 3);
            }
            cluster.manager.tick();
        }
        cluster.pass(1_000);
        cluster.leaves(1, 4);
        cluster.reports(3, 3);
        refusal(Code.OUT_OF_MEMORY, () -> cluster.allocate(8, 3, 0));
        serve(0);
        cluster.manager.tick();
        assertEquals(Map.of(3L, 3, 100L, 1), cluster.record(7).reserved());
    }

    /** Six of twelve regions have room on two servers, of which one leaves, too; then eight find other room. */
    @Test
    void roomThatIsGoneDoesNotReplaceRoomThatIsKept() {
        cluster.reports(1, 8);
        cluster.reports(2, 4);
        cluster.allocate(7, 12, 0);
        cluster.reports(3, 3);
        cluster.reports(4, 3);
        start(1, 6);
        cluster.leaves(1, 8, 20_000);
        cluster.manager.tick();
        cluster.leaves(2, 4, 30_000);
        cluster.manager.tick();
        assertEquals(1, provider.machines.size());
        assertEquals(Map.of(), cluster.record(7).reserved());
        cluster.leaves(3, 3);
        cluster.reports(5, 8);
        busy(8, 2);
        assertEquals(Map.of(5L, 8), cluster.record(7).reserved());
    }

    /** A machine comes for eight of twelve regions, and then the time of another cache ends. */
    @Test
    void aCacheIsEndedForRegionsForWhichAMachineHasNoRoomBesideOthers() {
        for (int id = 1; id <= 3; id++) {
            cluster.reports(id, 4);
        }
        cluster.allocate(7, 12, 0);
        cluster.reports(4, 4);
        cluster.allocate(6, 4, 40_000);
        cluster.attends(6L);
        start(1, 8);
        for (int second = 0; second < 45; second++) {
            cluster.pass(1_000);
            for (int id = 1; id <= 3; id++) {
                cluster.leaves(id, 4);
            }
            cluster.reports(4, 4);
            cluster.manager.tick();
        }
        assertEquals(1, provider.machines.size());
        assertEquals(List.of(6L), cluster.ends);
    }

    /** A machine comes for four of twelve regions, then the time of another cache ends: it has no room for eight. */
    @Test
    void noCacheIsEndedForAMachineThatIsOfNoUseToTheOtherRegions() {
        cluster.reports(1, 4);
        cluster.reports(2, 8);
        cluster.allocate(7, 12, 0);
        cluster.reports(4, 4);
        cluster.allocate(6, 4, 40_000);
        cluster.attends(6L);
        start(1, 4);
        for (int second = 0; second < 45; second++) {
            cluster.pass(1_000);
            cluster.leaves(1, 4);
            cluster.leaves(2, 8);
            cluster.reports(4, 4);
            cluster.manager.tick();
        }
        assertEquals(1, provider.machines.size());
        assertEquals(List.of(), cluster.ends);
    }

    /** It did not get its four regions there a moment ago, and there is no room for the other eight. */
    @Test
    void roomThatIsSetAsideForOneServerDoesNotHideThatThereIsNoneForAnother() {
        cluster.reports(1, 8);
        cluster.reports(2, 4);
        cluster.allocate(7, 12, 0);
        start(1, 8);
        cluster.attends(7L);
        cluster.reports(3, 4);
        cluster.leaves(2, 4);
        cluster.manager.tick();
        assertEquals(Map.of(3L, 4), cluster.record(7).reserved());
        cluster.manager.moved(
                7,
                cluster.generation(7),
                12 * MIB,
                null,
                List.of(share(1, 8), share(2, 4)),
                new ReclaimOutcome("host2:1", 300, 100));
        cluster.leaves(1, 8);
        cluster.manager.tick();
        assertEquals(1, provider.machines.size());
    }

    /** It is free after two to three seconds, unless the cache's server does not take it back. */
    @Test
    void noMachineIsStartedForRoomOfACacheThatWasEndedAMomentAgo() {
        another(1_000);
        start(1);
        cluster.manager.tick();
        cluster.pass(1_000);
        for (int second = 0; second <= 6; second++) {
            cluster.leaves(1, 4);
            cluster.reports(2, 4);
            cluster.manager.tick();
            assertEquals(List.of(6L), cluster.ends);
            assertEquals(second <= 5 ? 0 : 1, provider.machines.size(), "after " + second + " s");
            cluster.pass(1_000);
        }
    }

    /** Two regions have room, which is enough for the server that ends first with the room of an ended cache. */
    @ParameterizedTest
    @ValueSource(ints = {0, 9})
    void roomThatIsMadeForTheServerThatEndsFirstIsNotForAnother(int available) {
        cluster.reports(1, 8);
        cluster.reports(2, 2);
        cluster.allocate(7, 10, 0);
        cluster.reports(4, 6);
        cluster.allocate(6, 6, 1_000);
        cluster.attends(6L, 7L);
        cluster.reports(3, 2);
        start(available);
        cluster.manager.tick();
        cluster.pass(1_000);
        cluster.reports(3, 2);
        cluster.reports(4, 6);
        cluster.leaves(1, 8, 20_000);
        cluster.leaves(2, 2, 60_000);
        cluster.manager.tick();
        assertEquals(List.of(6L), cluster.ends);
        cluster.pass(500);
        cluster.manager.tick();
        assertEquals(Map.of(), cluster.record(7).reserved());
        cluster.manager.report(TestCluster.server(4, "t", false, 6, Map.of(), Set.of(6L)));
        cluster.manager.tick();
        assertEquals(Map.of(3L, 2, 4L, 6), cluster.record(7).reserved());
    }

    /** The room of an ended cache is for eight of twelve regions on servers that end together. */
    @Test
    void roomThatIsMadeForTheLargerShareIsNotReplacedByThatForASmallerOne() {
        cluster.reports(1, 8);
        cluster.reports(2, 4);
        cluster.allocate(7, 12, 0);
        cluster.reports(3, 8);
        cluster.allocate(6, 8, 1_000);
        cluster.attends(6L, 7L);
        cluster.reports(3, 8);
        cluster.allocateOn(4, 5, 4);
        cluster.manager.tick();
        cluster.pass(1_000);
        cluster.reports(3, 8);
        cluster.leaves(1, 8);
        assertEquals(List.of(6L), cluster.ends);
        cluster.leaves(4, 4, 40_000);
        cluster.pass(500);
        cluster.leaves(2, 4);
        cluster.manager.tick();
        cluster.manager.report(TestCluster.server(3, "t", false, 8, Map.of(), Set.of(6L)));
        cluster.manager.tick();
        assertEquals(Map.of(3L, 8), cluster.record(7).reserved());
    }

    /** It waits for one more region when its server gives notice. */
    @Test
    void roomThatIsMadeForACacheStaysItsOwnThoughItWaitedToGrow() {
        another(4_000);
        start(9, 1);
        cluster.manager.tick();
        refusal(Code.BUSY, () -> cluster.manager.reallocate(7, 5 * MIB, List.of()));
        assertEquals(1, provider.machines.size());
        cluster.pass(4_000);
        cluster.reports(2, 4);
        cluster.leaves(1, 4);
        cluster.manager.tick();
        assertEquals(List.of(6L), cluster.ends);
        assertEquals(1, provider.machines.size());
        long before = cluster.manager.searches();
        cluster.manager.tick();
        assertEquals(before, cluster.manager.searches(), "nothing has become free");
    }

    /** It has waited to grow into the room of an ended cache, which has not come, until its server gives notice. */
    @Test
    void regionsThatLeaveWaitForEndedCachesForNoLessTimeSinceTheirCacheWaitedToGrow() {
        another(15_000);
        cluster.reports(3, 1);
        cluster.allocate(5, 1, 1_000);
        cluster.attends(5L, 6L);
        start(9);
        cluster.manager.tick();
        for (int second = 1; second <= 15; second++) {
            cluster.pass(1_000);
            cluster.reports(1, 4);
            cluster.reports(2, 4);
            cluster.reports(3, 1);
            if (second == 1) {
                refusal(Code.BUSY, () -> cluster.manager.reallocate(7, 5 * MIB, List.of()));
            }
            cluster.manager.tick();
        }
        assertEquals(List.of(5L), cluster.ends);
        cluster.leaves(1, 4);
        cluster.manager.tick();
        assertEquals(List.of(5L, 6L), cluster.ends);
        assertEquals(0, provider.machines.size(), "the room is free in a moment");
    }

    private void asks(long id, int regions) {
        try {
            cluster.allocate(id, regions, 0);
        } catch (ControlException e) {
            assertTrue(e.code() == Code.BUSY || e.code() == Code.OUT_OF_MEMORY, e.getMessage());
        }
    }

    /** Two thousand caches find too little room in each second, and look for it before a call does. */
    @Test
    void aCallThatIsRefusedForAMomentKeepsTheMachineThatIsComingForIt() {
        cluster.reports(1, 40_000);
        for (int id = 1_001; id <= 3_000; id++) {
            cluster.allocate(id, 20, 0);
        }
        start(1);
        busy(8, 16);
        for (int second = 0; second < 12; second++) {
            cluster.pass(1_000);
            cluster.leaves(1, 40_000);
            cluster.manager.report(TestCluster.server(2, "t", false, 2, Map.of(500L, 1)));
            cluster.manager.report(TestCluster.server(2, "t", false, 2, Map.of()));
            busy(8, 16);
            cluster.manager.tick();
        }
        serve(0);
        for (int tick = 0; tick < 30 && !cluster.store.caches.containsKey(8L); tick++) {
            asks(9, 16);
            asks(8, 16);
            cluster.manager.tick();
        }
        assertEquals(Map.of(100L, 16), cluster.record(8).regions());
    }

    /** Each of twenty caches is on sixteen servers, of which each one that ends later has fewer of its regions. */
    @Test
    void aTickAsksForMachinesForAPartOfACacheOnlySoOften() {
        for (int cache = 0; cache < 20; cache++) {
            for (int server = 0; server < 16; server++) {
                cluster.reports(1_000 + 16 * cache + server, 16 - server);
            }
            cluster.allocate(1_000 + cache, 136, 0);
        }
        start(0);
        for (int server = 0; server < 320; server++) {
            cluster.leaves(1_000 + server, 16 - server % 16);
        }
        int before = provider.asked;
        cluster.manager.tick();
        int asked = provider.asked - before;
        assertTrue(asked > 200 && asked <= 256 + 16, () -> asked + " times");
    }
}
