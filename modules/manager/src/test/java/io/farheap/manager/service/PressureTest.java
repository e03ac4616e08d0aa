package io.farheap.manager.service;

import static io.farheap.manager.service.TestCluster.MIB;
import static io.farheap.manager.service.TestCluster.refusal;
import static io.farheap.manager.service.TestCluster.share;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.ControlException.Code;
import io.farheap.manager.AllocationCandidate;
import io.farheap.manager.CacheManager;
import io.farheap.manager.CacheRequest;
import io.farheap.manager.Reclaim;
import io.farheap.manager.ReclaimOutcome;
import io.farheap.manager.RegionShare;
import io.farheap.manager.ReportReply;
import io.farheap.manager.ServerReport;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Servers whose machines want memory back: server 1 has 8 regions, all of cache 7. Only the tests advance the clock.
 */
class PressureTest {

    private static final int ALL = 8;

    private final TestCluster cluster = new TestCluster(ManagerOptions.DEFAULT);
    private final List<String> wanted = new ArrayList<>();
    private CacheManager.Attendance line;

    @BeforeEach
    void begins() {
        cluster.allocateOn(1, 7, ALL);
        attends(7L);
    }

    private void attends(Long... caches) {
        line = cluster.manager.attend(99, new Unheard() {
            @Override
            public void reclaim(Reclaim alert) {
                cluster.alerts.add(alert);
            }

            @Override
            public void wanted(long cacheId, String server, int regions) {
                wanted.add(regions + " of " + cacheId + " on " + server);
            }
        });
        line.renew(Set.of(caches));
    }

    /** The server has what its caches' records say, less what is withdrawn. */
    private ReportReply wants(long id, int total, int regions, int withdrawn) {
        return wants(id, total, cluster.held(id), regions, withdrawn);
    }

    private ReportReply wants(long id, int total, Map<Long, Integer> held, int regions, int withdrawn) {
        return reports(id, "d/c/r", MIB, total, held, regions, withdrawn);
    }

    private ReportReply reports(
            long id, String place, long regionBytes, int total, Map<Long, Integer> held, int regions, int withdrawn) {
        int taken = held.values().stream().mapToInt(Integer::intValue).sum();
        String address = "host" + id + ":1";
        return cluster.manager.report(new ServerReport(
                        id,
                        address,
                        "t",
                        false,
                        place,
                        address,
                        regionBytes,
                        total,
                        total - taken - withdrawn,
                        30_000,
                        false,
                        0,
                        held,
                        Set.of())
                .wanting(regions, withdrawn));
    }

    private void moved(Reclaim alert, RegionShare... shares) {
        int regions = List.of(shares).stream().mapToInt(RegionShare::regions).sum();
        cluster.manager.moved(
                alert.cacheId(),
                alert.generation(),
                regions * MIB,
                null,
                List.of(shares),
                new ReclaimOutcome(alert.server(), 100, 10));
    }

    private int unplaced(long id) {
        return cluster.manager.servers().stream()
                .filter(server -> server.serverId() == id)
                .findFirst()
                .orElseThrow()
                .unplacedRegions();
    }

    @Test
    void asManyRegionsAsAreWantedMoveAndTheOthersStay() {
        cluster.reports(2, 8);
        assertEquals(0, wants(1, ALL, 3, 0).promised());
        cluster.manager.tick();
        Reclaim alert = cluster.alerts.getLast();
        assertEquals(Reclaim.Reason.PRESSURE, alert.reason());
        assertEquals("host1:1", alert.server());
        assertEquals(List.of(share(2, 3)), unsigned(alert.targets()));

        // Two have come back, and the client moves the third: nothing more is planned.
        assertEquals(0, wants(1, ALL, Map.of(7L, 6), 1, 2).promised(), "what leaves is not kept for the cache");
        cluster.reports(2, 8);
        cluster.manager.tick();
        assertEquals(1, cluster.alerts.size());
        moved(alert, share(1, 5), share(2, 3));
        // The server's report is a moment old.
        cluster.manager.tick();
        assertEquals(1, cluster.alerts.size());
        assertEquals(ReportReply.NONE.promised(), wants(1, ALL, 0, 3).promised());
        cluster.manager.tick();
        assertEquals(1, cluster.alerts.size());
        assertEquals(Map.of(1L, 5, 2L, 3), cluster.record(7).regions());
        assertEquals(List.of(), wanted);
    }

    private static List<RegionShare> unsigned(List<RegionShare> shares) {
        return shares.stream()
                .map(each -> new RegionShare(each.address(), each.regions()))
                .toList();
    }

    @Test
    void freeRegionsComeBeforeThoseOfCaches() {
        cluster.reports(2, 8);
        wants(1, 12, 4, 0);
        cluster.manager.tick();
        assertEquals(List.of(), cluster.alerts, "four are free");
        wants(1, 12, 6, 0);
        cluster.manager.tick();
        assertEquals(List.of(share(2, 2)), unsigned(cluster.alerts.getFirst().targets()));
    }

    /** It would be withdrawn, and the cache would find no room where it was promised some. */
    @Test
    void whatWasPromisedAndNotTakenIsNamedAndNotCountedAsFree() {
        cluster.reports(1, 12);
        cluster.allocate(8, 3, 0);
        assertEquals(3, wants(1, 12, Map.of(7L, ALL), 2, 0).promised());
        cluster.reports(2, 8);
        attends(7L, 8L);
        cluster.manager.tick();
        assertEquals(List.of(share(2, 1)), unsigned(cluster.alerts.getFirst().targets()), "one is free");
        assertEquals(1, wants(1, 12, Map.of(7L, ALL, 8L, 2), 2, 0).promised());
        assertEquals(
                ReportReply.UNKNOWN, wants(1, 12, Map.of(7L, ALL, 8L, 3), 0, 1).promised());
    }

    /** Its client is still connecting, and asks for all of them in one call. */
    @Test
    void whatACacheHasNotTakenYetDoesNotMoveAndStaysPromised() {
        cluster.reports(1, 24);
        cluster.allocate(8, 12, 0);
        cluster.reports(2, 24);
        attends(7L, 8L);
        assertEquals(12, wants(1, 24, Map.of(7L, ALL), 6, 0).promised());
        cluster.manager.tick();
        assertEquals(List.of(7L), movers(), "cache 8 has more there by its record, and holds none");
        assertEquals(List.of(share(2, 2)), unsigned(cluster.alerts.getFirst().targets()), "four are free");
        assertEquals(12, wants(1, 24, Map.of(7L, ALL), 2, 4).promised());
        cluster.manager.tick();
        assertEquals(ReportReply.UNKNOWN, wants(1, 24, Map.of(7L, 6), 0, 6).promised());
    }

    private List<Long> movers() {
        return cluster.alerts.stream().map(Reclaim::cacheId).toList();
    }

    /** The client hears of that move after it has taken its regions, and before it makes the move. */
    @Test
    void whatIsToMoveForAnotherReasonBeforeItWasTakenStaysPromised() {
        cluster.manager.menu("""
                {"types": [{"name": "t", "cores": 4, "memory": "24m", "price": 2},
                           {"name": "cheap", "cores": 4, "memory": "24m", "price": 0.1}]}
                """);
        cluster.reports(1, 24);
        cluster.allocate(8, 12, 0);
        attends(8L);
        cluster.manager.report(TestCluster.server(2, "cheap", false, 24, Map.of()));
        cluster.manager.tick();
        assertEquals(12, cluster.reserved(8), "it is to move to what is cheaper");
        assertEquals(12, wants(1, 24, Map.of(7L, ALL), 6, 0).promised());
        assertEquals(5, wants(1, 24, Map.of(7L, ALL, 8L, 7), 2, 4).promised());
    }

    @Test
    void aServerThatWantsMemoryBackGetsNothingNew() {
        cluster.reports(2, 4);
        wants(2, 4, 1, 0);
        refusal(Code.OUT_OF_MEMORY, () -> cluster.allocate(8, 1, 0));
        String refused = refusal(Code.OUT_OF_MEMORY, () -> cluster.manager.reserve(7, "host2:1", 1))
                .getMessage();
        assertTrue(refused.contains("wants memory back"), refused);
        wants(2, 4, 0, 1);
        refusal(Code.OUT_OF_MEMORY, () -> cluster.manager.reserve(7, "host2:1", 4));
        cluster.allocate(8, 3, 0);
        refusal(Code.OUT_OF_MEMORY, () -> cluster.allocate(9, 1, 0));
    }

    @Test
    void withoutRoomElsewhereNothingMovesAndAllAreNotifiedAtOnce() {
        cluster.allocateOn(2, 8, 4);
        attends(7L, 8L);
        wants(1, ALL, 2, 0);
        wants(2, 4, 1, 0);
        cluster.manager.tick();
        assertEquals(List.of(), cluster.alerts);
        assertEquals(List.of("2 of 7 on host1:1", "1 of 8 on host2:1"), wanted);
        assertEquals(2, unplaced(1));
        assertEquals(1, unplaced(2));
        assertEquals(Map.of(1L, ALL), cluster.record(7).regions());
        for (int i = 0; i < 20; i++) {
            cluster.pass(1_000);
            wants(1, ALL, 2, 0);
            wants(2, 4, 1, 0);
            cluster.manager.tick();
        }
        assertEquals(2, wanted.size(), "once");
        cluster.reports(3, 2);
        cluster.manager.tick();
        assertEquals(List.of(share(3, 2)), unsigned(cluster.alerts.getFirst().targets()));
        assertEquals(0, unplaced(1));
        assertEquals(1, unplaced(2), "server 3 is full");
        wants(1, ALL, Map.of(7L, 6), 0, 2);
        wants(2, 4, 0, 0);
        cluster.manager.tick();
        assertEquals(0, unplaced(2));
    }

    @Test
    void clientsHearOfAsManyRegionsTogetherAsFindNoRoom() {
        cluster.reports(1, 12);
        cluster.allocate(8, 4, 0);
        attends(7L, 8L);
        wants(1, 12, 9, 0);
        cluster.manager.tick();
        assertEquals(9, unplaced(1));
        assertEquals(List.of("8 of 7 on host1:1", "1 of 8 on host1:1"), wanted);
    }

    @Test
    void nothingIsSaidOfWhatASilentServerHasWanted() {
        wants(1, ALL, 2, 0);
        cluster.manager.tick();
        assertEquals(List.of("2 of 7 on host1:1"), wanted);
        for (int i = 0; i < 3; i++) {
            cluster.pass(2_000);
            cluster.manager.tick();
        }
        attends(7L);
        cluster.manager.tick();
        assertEquals(1, wanted.size(), "the process has connected again");
        wants(1, ALL, 2, 0);
        cluster.manager.tick();
        assertEquals(2, wanted.size(), "it still wants them");
    }

    /** There are more of these than one tick looks for room for. */
    @Test
    void whileRegionsThatWouldBeLostLookForRoomNoMoreAreMissingThanAreWanted() {
        wants(1, ALL, 2, 0);
        cluster.manager.tick();
        assertEquals(2, unplaced(1));
        int caches = 600;
        cluster.reports(2, caches);
        allocate(1_000, caches);
        cluster.leaves(2, caches);
        wants(1, ALL, 1, 0);
        cluster.manager.tick();
        assertEquals(1, unplaced(1));
    }

    /** It has more caches than one tick looks for room for, and each tick finds more room than the one before. */
    @Test
    void aServerOfWhichNoRegionFindsRoomHoldsNoOtherUp() {
        int caches = 70;
        cluster.reports(1, ALL + caches);
        allocate(100, caches);
        reports(2, "d/c/r", 2 * MIB, 2, Map.of(), 0, 0);
        cluster.allocate(200, 4, 0);
        attends(7L, 200L);
        attends(ids(100, caches));
        for (int i = 0; i < 3; i++) {
            wants(1, ALL + caches, 2, 0);
            reports(2, "d/c/r", 2 * MIB, 2, Map.of(200L, 2), 1, 0);
            // Regions of this size are of no use to the caches on server 1.
            reports(3, "d/c/r", 2 * MIB, 8 + i, Map.of(), 0, 0);
            cluster.manager.tick();
        }
        assertEquals(List.of(200L), movers());
        assertEquals(List.of(share(3, 1)), unsigned(cluster.alerts.getFirst().targets()));
        assertEquals(2, unplaced(1));
        assertEquals(List.of("2 of 7 on host1:1"), wanted);
    }

    /** There are more of these, with more regions, than one tick looks for room for. */
    @Test
    void cachesThatFindNoRoomHoldNoOtherUp() {
        int caches = 70;
        int total = ALL + 2 * caches + 1;
        cluster.reports(1, total);
        for (long id : ids(100, caches)) {
            cluster.manager.allocate(
                    new CacheRequest(id, 99, "near", 2 * MIB, 0, "d/c/r", List.of(new AllocationCandidate(1, 0))));
        }
        cluster.allocate(300, 1, 0);
        line.close();
        attends(300L);
        attends(ids(100, caches));
        for (int i = 0; i < 3; i++) {
            wants(1, total, 1, 0);
            reports(2, "d/c/far", MIB, 4 + i, Map.of(), 0, 0);
            cluster.manager.tick();
        }
        assertEquals(List.of(300L), movers());
        assertEquals(List.of(share(2, 1)), unsigned(cluster.alerts.getFirst().targets()));
    }

    private void allocate(long first, int caches) {
        for (long id : ids(first, caches)) {
            cluster.allocate(id, 1, 0);
        }
    }

    private static Long[] ids(long first, int caches) {
        return LongStream.range(first, first + caches).boxed().toArray(Long[]::new);
    }

    /** It has reported where it is for another reason, and moves the others later. */
    @Test
    void ofAMoveThatAClientHasNotEndedOnlyTheRestIsOnItsWay() {
        cluster.reports(1, 12);
        cluster.allocate(8, 4, 0);
        cluster.reports(2, 16);
        attends(7L, 8L);
        wants(1, 12, 5, 0);
        cluster.manager.tick();
        Reclaim alert = cluster.alerts.getFirst();
        assertEquals(List.of(share(2, 5)), unsigned(alert.targets()));
        cluster.manager.moved(7, alert.generation(), ALL * MIB, List.of(share(1, 5), share(2, 3)));
        assertEquals(2, cluster.reserved(7));
        // Meanwhile the machine wants more: of five, two are on their way.
        wants(1, 12, 5, 3);
        cluster.manager.tick();
        Reclaim other = cluster.alerts.stream()
                .filter(each -> each.cacheId() == 8)
                .findFirst()
                .orElseThrow();
        assertEquals(List.of(share(2, 3)), unsigned(other.targets()));
    }

    @Test
    void asManyMoveAsFindRoom() {
        cluster.reports(2, 2);
        wants(1, ALL, 5, 0);
        cluster.manager.tick();
        assertEquals(List.of(share(2, 2)), unsigned(cluster.alerts.getFirst().targets()));
        assertEquals(3, unplaced(1));
        assertEquals(List.of("3 of 7 on host1:1"), wanted);
    }

    @Test
    void pressureThatEndsLetsClientsEndWhatTheyHaveBegun() {
        cluster.reports(2, 8);
        wants(1, ALL, 2, 0);
        cluster.manager.tick();
        wants(1, ALL, 0, 0);
        cluster.manager.tick();
        assertEquals(2, cluster.reserved(7), "its client moves them");
        moved(cluster.alerts.getFirst(), share(1, 6), share(2, 2));
        assertEquals(Map.of(1L, 6, 2L, 2), cluster.record(7).regions());
        cluster.reports(1, ALL);
        cluster.manager.tick();
        assertEquals(1, cluster.alerts.size());
        cluster.allocate(8, 2, 0);
    }

    /** The other cache's client is there, so its regions leave in their place. */
    @Test
    void aSilentClientHoldsNothingUp() {
        cluster.reports(1, 12);
        cluster.allocate(8, 4, 0);
        cluster.reports(2, 12);
        cluster.manager.tick();
        attends(7L, 8L);
        wants(1, 12, 3, 0);
        cluster.manager.tick();
        assertEquals(7, cluster.alerts.getFirst().cacheId(), "it has most there");
        for (int i = 0; i < 9; i++) {
            passes(3);
        }
        assertEquals(1, cluster.alerts.size());
        passes(3);
        passes(3);
        assertEquals(2, cluster.alerts.size());
        assertEquals(8, cluster.alerts.getLast().cacheId());
        assertEquals(List.of(share(2, 3)), unsigned(cluster.alerts.getLast().targets()));
        for (int i = 0; i < 120; i++) {
            passes(3);
        }
        assertEquals(0, cluster.reserved(7), "it is given up after two minutes");
    }

    private void passes(int wantedRegions) {
        cluster.pass(1_000);
        wants(1, 12, wantedRegions, 0);
        cluster.reports(2, 12);
        cluster.manager.tick();
    }

    @Test
    void aCacheOfAProcessThatIsNotThereIsNotAsked() {
        cluster.reports(1, 12);
        cluster.allocate(8, 4, 0);
        cluster.reports(2, 12);
        line.close();
        attends(8L);
        wants(1, 12, 3, 0);
        cluster.manager.tick();
        assertEquals(8, cluster.alerts.getFirst().cacheId());
        assertEquals(0, cluster.reserved(7));
    }

    /** Its first report is the first that it counts. */
    @Test
    void aManagerThatFollowsContinues() {
        cluster.reports(2, 8);
        wants(1, ALL, 3, 0);
        cluster.manager.tick();
        Reclaim first = cluster.alerts.getFirst();
        cluster.lead();
        attends(7L);
        cluster.reports(2, 8);
        assertEquals(0, wants(1, ALL, 3, 0).promised());
        moved(first, share(1, 5), share(2, 3));
        assertEquals(Map.of(1L, 5, 2L, 3), cluster.record(7).regions(), "what was moved by the earlier one's alert");
        wants(1, ALL, 2, 3);
        cluster.manager.tick();
        assertEquals(2, cluster.alerts.size());
        assertEquals(List.of(share(2, 2)), unsigned(cluster.alerts.getLast().targets()));
    }

    @Test
    void aServerThatLeavesIsLeftByAllRegions() {
        cluster.reports(2, 8);
        wants(1, ALL, 3, 0);
        cluster.manager.tick();
        assertEquals(1, cluster.alerts.size());
        cluster.leaves(1, ALL);
        cluster.manager.tick();
        Reclaim all = cluster.alerts.getLast();
        assertEquals(Reclaim.Reason.LEAVES, all.reason());
        assertEquals(List.of(share(2, 8)), unsigned(all.targets()));
    }

    /** They would be lost, so the room that comes is for them. */
    @Test
    void regionsThatWouldBeLostGetRoomBefore() {
        cluster.allocateOn(2, 8, 4);
        attends(7L, 8L);
        cluster.leaves(2, 4);
        wants(1, ALL, 4, 0);
        cluster.manager.tick();
        assertEquals(List.of(), cluster.alerts);
        cluster.reports(3, 5);
        cluster.manager.tick();
        assertEquals(4, cluster.reserved(8));
        assertEquals(1, cluster.reserved(7), "what is left");
    }

    @Test
    void aServerThatWasStartedAgainWantsNothingForTheOneBefore() {
        cluster.reports(2, 8);
        wants(1, ALL, 3, 0);
        cluster.manager.report(new ServerReport(
                11, "host1:1", "t", false, "d/c/r", "host1:1", MIB, ALL, ALL, 30_000, false, 0, Map.of(), Set.of()));
        cluster.manager.tick();
        assertEquals(List.of(), cluster.alerts);
        assertEquals(
                List.of("host1:1", "host2:1"),
                cluster.manager.servers().stream()
                        .map(ServerReport::address)
                        .sorted()
                        .toList());
    }

    /** Those that have most there give first. */
    @Test
    void severalCachesShareWhatIsWanted() {
        cluster.reports(1, 16);
        Map<Long, Integer> held = new HashMap<>(Map.of(7L, ALL));
        for (long id = 20; id < 24; id++) {
            cluster.allocate(id, 2, 0);
            held.put(id, 2);
        }
        attends(7L, 20L, 21L, 22L, 23L);
        cluster.reports(2, 16);
        wants(1, 16, held, 11, 0);
        cluster.manager.tick();
        assertEquals(
                11,
                cluster.alerts.stream()
                        .mapToInt(alert -> alert.targets().getFirst().regions())
                        .sum());
        assertEquals(
                8,
                cluster.alerts.stream()
                        .filter(alert -> alert.cacheId() == 7)
                        .findFirst()
                        .orElseThrow()
                        .targets()
                        .getFirst()
                        .regions());
        assertEquals(3, cluster.alerts.size());
    }
}
