package io.farheap.manager.service.caches;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.manager.Allocation;
import io.farheap.manager.AllocationCandidate;
import io.farheap.manager.CacheManager;
import io.farheap.manager.CacheRequest;
import io.farheap.manager.Reclaim;
import io.farheap.manager.ServerReport;
import io.farheap.manager.service.ClusterManager;
import io.farheap.manager.service.ManagerOptions;
import io.farheap.manager.service.MemoryStore;
import io.farheap.manager.service.RecordedNotices;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Caches whose time has passed give up their room; the store is in memory, and only the tests advance the clock. */
class ExpiredCacheReclaimerTest {

    private static final long MIB = 1 << 20;
    private static final long SECOND = 1_000_000_000L;
    private static final long CLIENT = 99;
    private static final long NEW = 50;
    private static final int MINUTE = 60;

    private final MemoryStore store = new MemoryStore();
    private long now = 1000 * SECOND;
    private long time = 5_000_000;
    private ClusterManager cluster = start();
    private final List<Long> told = new ArrayList<>();
    private final List<Reclaim> moves = new ArrayList<>();
    private CacheManager.Attendance line;

    /** The regions of caches on each server, by the servers' ids. */
    private final Map<Long, Map<Long, Integer>> held = new HashMap<>();

    private final Map<Long, Set<Long>> ended = new HashMap<>();

    private ClusterManager start() {
        return new ClusterManager(store, ManagerOptions.DEFAULT, () -> now, () -> time, 1);
    }

    private Set<Long> report(long id, int total, boolean leaving) {
        Map<Long, Integer> has = held.getOrDefault(id, Map.of());
        int free = total - has.values().stream().mapToInt(Integer::intValue).sum();
        return cluster.report(new ServerReport(
                        id,
                        "host" + id + ":1",
                        "t",
                        false,
                        "d/c/r",
                        "host" + id,
                        MIB,
                        total,
                        free,
                        30_000,
                        leaving,
                        leaving ? 30_000 : 0,
                        has,
                        ended.getOrDefault(id, Set.of())))
                .ended();
    }

    private Set<Long> report(long id, int total) {
        return report(id, total, false);
    }

    private Allocation allocate(long id, int regions, int seconds) {
        return cluster.allocate(new CacheRequest(
                id, CLIENT, "cache", regions * MIB, seconds * 1000L, "", List.of(AllocationCandidate.ANY)));
    }

    /** A cache that has taken the regions that it was allocated. */
    private void has(long id, int regions, int seconds) {
        allocate(id, regions, seconds).shares().forEach(share -> held.computeIfAbsent(
                        server(share.address()), _ -> new HashMap<>())
                .put(id, share.regions()));
    }

    private static long server(String address) {
        return Long.parseLong(address.substring("host".length(), address.indexOf(':')));
    }

    private void attend(Long... caches) {
        line = cluster.attend(CLIENT, new RecordedNotices(moves, told));
        line.renew(Set.of(caches));
    }

    private void pass(int seconds) {
        now += seconds * SECOND;
        time += seconds * 1000L;
        held.keySet().forEach(id -> report(id, total(id)));
        cluster.tick();
    }

    /** The number of regions of a server in these tests. */
    private static int total(long id) {
        return id == 1 ? 4 : 2;
    }

    /** A server ends these caches as the manager asked, and has no regions of them any more. */
    private void takesBack(long id, Set<Long> caches) {
        held.computeIfAbsent(id, _ -> new HashMap<>()).keySet().removeAll(caches);
        ended.computeIfAbsent(id, _ -> new HashSet<>()).addAll(caches);
        report(id, total(id));
    }

    private static ControlException refusal(Code code, Runnable call) {
        ControlException refused = assertThrows(ControlException.class, call::run);
        assertEquals(code, refused.code(), refused.getMessage());
        return refused;
    }

    @Test
    void aCacheWhoseTimeIsOverMakesRoom() {
        report(1, 4);
        has(7, 4, MINUTE);
        attend(7L);
        pass(35);
        refusal(Code.OUT_OF_MEMORY, () -> allocate(NEW, 1, 0));
        pass(30);
        refusal(Code.BUSY, () -> allocate(NEW, 3, 0));
        assertEquals(List.of(7L), told);
        assertTrue(
                refusal(Code.NOT_FOUND, () -> cluster.extend(7, 0)).getMessage().contains("its lifetime had passed"));
        refusal(Code.NOT_FOUND, () -> allocate(7, 4, MINUTE));
        assertEquals(Set.of(7L), report(1, 4));
        refusal(Code.BUSY, () -> allocate(NEW, 3, 0));
        takesBack(1, Set.of(7L));
        assertEquals(3, allocate(NEW, 3, 0).shares().getFirst().regions());
        assertEquals(Set.of(), report(1, 4));
        assertEquals(List.of(7L), told, "once");
        cluster.deallocate(7);
        assertEquals(
                List.of(NEW),
                cluster.list(0, 10).stream()
                        .map(cache -> cache.allocation().cacheId())
                        .toList());
    }

    @Test
    void noMoreAreEndedThanAreNeededAndThoseFirstThatAreOverForLongest() {
        report(1, 4);
        has(1, 1, MINUTE + 20);
        has(2, 1, MINUTE);
        has(3, 1, MINUTE + 10);
        has(4, 1, 0);
        attend(1L, 2L, 3L, 4L);
        for (int i = 0; i < 10; i++) {
            pass(10);
        }
        refusal(Code.BUSY, () -> allocate(NEW, 2, 0));
        assertEquals(Set.of(2L, 3L), new TreeSet<>(told));
        refusal(Code.BUSY, () -> allocate(NEW, 2, 0));
        assertEquals(2, told.size(), "what is on its way is enough");
        refusal(Code.OUT_OF_MEMORY, () -> allocate(NEW + 1, 4, 0));
        assertEquals(2, told.size(), "nobody is ended for what would not fit even then");
    }

    @Test
    void oneThatGivesNothingStaysThoughItIsOverForLonger() {
        report(1, 4);
        report(2, 2);
        has(7, 4, MINUTE);
        has(8, 2, MINUTE + 10);
        attend(7L, 8L);
        for (int i = 0; i < 8; i++) {
            pass(10);
        }
        long other = held.get(1L).containsKey(7L) ? 8 : 7;
        cluster.drain("host1:1");
        refusal(Code.BUSY, () -> allocate(NEW, 2, 0));
        assertEquals(List.of(other), told, "the other one's server leaves");
    }

    @Test
    void whoeverIsGivenMoreTimeStays() {
        report(1, 4);
        has(7, 4, MINUTE);
        attend(7L);
        pass(35);
        pass(30);
        cluster.extend(7, 1000);
        cluster.tick();
        refusal(Code.OUT_OF_MEMORY, () -> allocate(NEW, 1, 0));
        assertEquals(List.of(), told);
        pass(2);
        refusal(Code.BUSY, () -> allocate(NEW, 1, 0));
        assertEquals(List.of(7L), told);
    }

    @Test
    void whoeverHasNotHeardInTimeHasHalfAMinute() {
        report(1, 4);
        has(7, 4, MINUTE);
        pass(2);
        now += MINUTE * SECOND;
        time += MINUTE * 1000L;
        cluster = start();
        report(1, 4);
        attend(7L);
        cluster.tick();
        refusal(Code.OUT_OF_MEMORY, () -> allocate(NEW, 1, 0));
        pass(15);
        line.renew(Set.of(7L));
        refusal(Code.OUT_OF_MEMORY, () -> allocate(NEW, 1, 0));
        pass(15);
        refusal(Code.BUSY, () -> allocate(NEW, 1, 0));
    }

    @Test
    void aManagerThatStartsAnewKnowsWhoHasEnded() {
        report(1, 4);
        has(7, 4, MINUTE);
        attend(7L);
        pass(35);
        pass(30);
        refusal(Code.BUSY, () -> allocate(NEW, 3, 0));
        cluster = start();
        assertEquals(Set.of(7L), report(1, 4));
        refusal(Code.NOT_FOUND, () -> cluster.describe(7));
        attend(7L);
        cluster.tick();
        assertEquals(List.of(7L, 7L), told, "over each line");
        refusal(Code.BUSY, () -> allocate(NEW, 3, 0));
        takesBack(1, Set.of(7L));
        allocate(NEW, 3, 0);
        cluster = start();
        assertEquals(Set.of(), report(1, 4));
    }

    @Test
    void anEndWaitsForAllOfItsServers() {
        report(1, 4);
        report(2, 2);
        has(7, 6, MINUTE);
        attend(7L);
        pass(35);
        pass(30);
        refusal(Code.BUSY, () -> allocate(NEW, 6, 0));
        takesBack(1, Set.of(7L));
        refusal(Code.BUSY, () -> allocate(NEW, 6, 0));
        assertEquals(Set.of(7L), report(2, 2));
        takesBack(2, Set.of(7L));
        allocate(NEW, 6, 0);
    }

    @Test
    void growthAndWhatLeavesMakeThemGiveUpRoom() {
        report(1, 4);
        report(2, 2);
        has(7, 4, MINUTE);
        has(8, 2, 0);
        long last = held.get(1L).containsKey(8L) ? 1 : 2;
        assertEquals(2, last, "the larger one has the larger cache");
        attend(7L, 8L);
        pass(35);
        pass(30);
        refusal(Code.BUSY, () -> cluster.reallocate(8, 3 * MIB, List.of()));
        assertEquals(List.of(7L), told);
        takesBack(1, Set.of(7L));
        assertEquals(
                3 * MIB,
                cluster.reallocate(8, 3 * MIB, List.of()).reserved().stream()
                                .mapToLong(share -> share.regions() * MIB)
                                .sum()
                        + 2 * MIB);
    }

    @Test
    void whatLeavesIsMovedToWhereOneHasEnded() {
        report(1, 4);
        report(2, 2);
        has(7, 4, MINUTE);
        has(8, 2, 0);
        attend(7L, 8L);
        pass(35);
        pass(30);
        report(2, 2, true);
        cluster.tick();
        assertEquals(List.of(7L), told);
        takesBack(1, Set.of(7L));
        report(2, 2, true);
        cluster.tick();
        assertEquals(1, moves.size());
        assertEquals("host2:1", moves.getFirst().server());
    }

    /** Otherwise one cache after the other is ended, and each time a cache that came later takes the room. */
    @Test
    void theRoomOfACacheThatWasEndedIsForTheOneThatWaits() {
        report(1, 4);
        has(7, 4, MINUTE);
        attend(7L);
        pass(35);
        pass(30);
        refusal(Code.BUSY, () -> allocate(NEW, 3, 0));
        takesBack(1, Set.of(7L));
        refusal(Code.OUT_OF_MEMORY, () -> allocate(NEW + 1, 2, 0));
        assertEquals(3, allocate(NEW, 3, 0).shares().getFirst().regions());
        assertEquals(1, allocate(NEW + 1, 1, 0).shares().getFirst().regions());
    }

    /** The first of two that were ended is not enough, and is kept until the second has given its room, too. */
    @Test
    void theRoomOfCachesThatWereEndedForRegionsOnALeavingServerIsForThese() {
        report(1, 4);
        for (long id = 1; id <= 4; id++) {
            has(id, 1, id <= 2 ? MINUTE : 0);
        }
        report(1, 4);
        report(2, 2);
        has(8, 2, 0);
        attend(1L, 2L, 3L, 4L, 8L);
        pass(35);
        pass(30);
        report(2, 2, true);
        cluster.tick();
        assertEquals(Set.of(1L, 2L), new TreeSet<>(told));
        takesBack(1, Set.of(1L));
        refusal(Code.OUT_OF_MEMORY, () -> allocate(NEW, 1, 0));
        takesBack(1, Set.of(2L));
        report(2, 2, true);
        cluster.tick();
        assertEquals(List.of(8L), moves.stream().map(Reclaim::cacheId).toList());
    }

    /** A client that does not ask any more leaves the room to others. */
    @Test
    void roomThatIsKeptForOneThatIsGoneIsForOthers() {
        report(1, 4);
        has(7, 4, MINUTE);
        attend(7L);
        pass(35);
        pass(30);
        refusal(Code.BUSY, () -> allocate(NEW, 3, 0));
        takesBack(1, Set.of(7L));
        for (int i = 0; i < 8; i++) {
            pass(1);
        }
        assertEquals(4, allocate(NEW + 1, 4, 0).shares().getFirst().regions());
    }
}
