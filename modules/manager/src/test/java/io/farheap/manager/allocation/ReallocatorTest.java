package io.farheap.manager.allocation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.manager.AllocationCandidate;
import io.farheap.manager.allocation.Offer.Kind;
import io.farheap.testing.Effort;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Caches that grow, and get other objectives. */
class ReallocatorTest {

    private static final long GIB = 1 << 30;
    private static final double FOR_EVER = Double.POSITIVE_INFINITY;
    private static final double MOVE_PRICE = 0.01;
    /** A region of 1 GiB costs 0.04 an hour on small, 0.02 on large and 0.039 on likewise. */
    private static final Menu MENU = Menu.of(
            List.of(
                    new MachineType("small", "", 4, 16 * GIB, 0.64, 0.16, 30, 0, 24),
                    new MachineType("likewise", "", 4, 16 * GIB, 0.624, -1, 30, 0, 24),
                    new MachineType("large", "", 32, 128 * GIB, 2.56, -1, 30, 0, 24),
                    new MachineType("bare", "", 0, 64 * GIB, 0.64, -1, 30, 0, 24)),
            MOVE_PRICE,
            0.1,
            0.01);

    private final Stock stock = new Stock();
    private final Prices prices = new Prices(MENU);
    private final Reallocator reallocator = new Reallocator(stock, prices);

    private void offer(long id, String type, boolean spot, String place, int free, double cores) {
        stock.put(new Offer(id, new Kind(type, spot, GIB), NetworkLocation.parse(place), free, cores));
    }

    private void offer(long id, String type, int free) {
        offer(id, type, false, "d/c/r", free, 4);
    }

    private static Holding held(Map<Long, Integer> regions, double threads) {
        return new Holding(GIB, new TreeMap<>(regions), 5, threads);
    }

    private static Need need(int gib, double hours, AllocationCandidate... candidates) {
        return new Need(gib * GIB, hours, NetworkLocation.parse("d/c/r"), List.of(candidates), Set.of(), Set.of());
    }

    private static int sum(Map<Long, Integer> regions) {
        return regions.values().stream().mapToInt(Integer::intValue).sum();
    }

    @Test
    void aCacheGrowsOnItsLastServerAndThenOnAnotherThatCostsAsMuch() throws NoRoomException {
        offer(1, "small", 2);
        offer(2, "small", 5);
        offer(3, "likewise", 16);
        Reallocation found =
                reallocator.find(need(4, FOR_EVER, AllocationCandidate.ANY), held(Map.of(1L, 4), 0), 3, true);
        assertEquals(Set.of(), found.left(), "a fortieth is not worth a move");
        assertEquals(Map.of(1L, 2, 3L, 1), found.more().regions());
        assertEquals(6 * 0.04 + 0.039, found.cost(), 1e-9);
    }

    @Test
    void aLargerServerAndAMoveAreTakenWhereThatIsCheaper() throws NoRoomException {
        offer(1, "small", 2);
        offer(2, "large", 6);
        Need need = need(4, FOR_EVER, AllocationCandidate.ANY);
        Holding held = held(Map.of(1L, 4), 0);
        Reallocation found = reallocator.find(need, held, 2, true);
        assertEquals(Set.of(1L), found.left());
        assertEquals(Map.of(2L, 6), found.more().regions());
        assertEquals(6 * 0.02, found.cost(), 1e-9);
        assertEquals(Set.of(), reallocator.find(need, held, 2, false).left(), "nobody wants to save");
        assertEquals(Set.of(), reallocator.find(need, held, 3, true).left(), "there is no room for 7 on it");
        // The move saves 0.12 an hour and costs 0.04; it must save at least twice its cost.
        assertEquals(Set.of(), reallocator.find(need.within(0.6), held, 2, true).left());
        assertEquals(
                Set.of(1L), reallocator.find(need.within(0.7), held, 2, true).left());
    }

    @Test
    void onlyTheDearServersAreLeft() throws NoRoomException {
        offer(1, "small", 0);
        offer(2, "large", 0);
        offer(3, "large", 20);
        Reallocation found =
                reallocator.find(need(6, FOR_EVER, AllocationCandidate.ANY), held(Map.of(1L, 3, 2L, 3), 0), 1, true);
        assertEquals(Set.of(1L), found.left());
        assertEquals(Map.of(3L, 4), found.more().regions());
    }

    @Test
    void aServerThatIsSilentOrLeavesIsNotLeft() throws NoRoomException {
        offer(2, "large", 20);
        Reallocation found =
                reallocator.find(need(4, FOR_EVER, AllocationCandidate.ANY), held(Map.of(1L, 4), 0), 1, true);
        assertEquals(Set.of(), found.left());
        assertEquals(Map.of(2L, 1), found.more().regions());
    }

    @Test
    void whatIsToStayForEverLeavesSpotServersWhenItGrows() throws NoRoomException {
        offer(1, "small", true, "d/c/r", 4, 4);
        offer(2, "small", 9);
        Reallocation found =
                reallocator.find(need(4, FOR_EVER, AllocationCandidate.ANY), held(Map.of(1L, 4), 0), 1, true);
        assertEquals(Set.of(1L), found.left());
        assertEquals(Map.of(2L, 5), found.more().regions());
    }

    @Test
    void whatIsNewHasAsManyCoresForEachByte() throws NoRoomException {
        offer(1, "small", false, "d/c/r", 0, 2);
        offer(2, "small", false, "d/c/r", 8, 1);
        offer(3, "small", false, "d/c/r", 8, 4);
        // Each region needs half a thread: server 2 has cores for two more regions.
        Reallocation found =
                reallocator.find(need(4, FOR_EVER, new AllocationCandidate(5, 2)), held(Map.of(1L, 4), 0.5), 3, true);
        assertEquals(Map.of(3L, 3), found.more().regions());
        assertThrows(
                NoRoomException.class,
                () -> reallocator.find(
                        need(4, FOR_EVER, new AllocationCandidate(5, 2)), held(Map.of(1L, 4), 0.5), 11, true));
    }

    @Test
    void anotherObjectiveReconfiguresWhereServersCanServeIt() throws NoRoomException {
        offer(1, "small", false, "d/c/r", 0, 4);
        offer(2, "small", false, "d/c/r", 9, 4);
        Reallocation found =
                reallocator.find(need(4, FOR_EVER, new AllocationCandidate(5, 4)), held(Map.of(1L, 4), 0), 0, true);
        assertEquals(Set.of(), found.left());
        assertEquals(Map.of(), found.more().regions());
        assertEquals(new AllocationCandidate(5, 4), found.candidate());
    }

    @Test
    void serversThatCannotServeAnObjectiveAreLeft() throws NoRoomException {
        offer(1, "bare", false, "d/c/r", 4, 0);
        offer(2, "small", false, "d/c/r", 9, 4);
        offer(3, "small", false, "e/c/r", 9, 4);
        Holding bare = held(Map.of(1L, 4), 0);
        Reallocation cores = reallocator.find(need(4, FOR_EVER, new AllocationCandidate(5, 2)), bare, 0, false);
        assertEquals(Set.of(1L), cores.left());
        assertEquals(4, sum(cores.more().regions()));
        // With the other configuration, the present servers suffice.
        Reallocation other = reallocator.find(
                need(4, FOR_EVER, new AllocationCandidate(5, 2), new AllocationCandidate(5, 0)), bare, 0, false);
        assertEquals(Set.of(), other.left());
        assertEquals(new AllocationCandidate(5, 0), other.candidate());
        Reallocation near = reallocator.find(
                need(4, FOR_EVER, new AllocationCandidate(3, 0)), held(Map.of(1L, 2, 3L, 2), 0), 0, false);
        assertEquals(Set.of(3L), near.left(), "it is too far");
        assertEquals(2, sum(near.more().regions()));
        NoRoomException refused = assertThrows(
                NoRoomException.class,
                () -> reallocator.find(need(4, FOR_EVER, new AllocationCandidate(5, 9)), bare, 0, false));
        Need nine = need(4, FOR_EVER, new AllocationCandidate(5, 9));
        AllocationCandidate threads = nine.candidates().getFirst();
        assertEquals(4, reallocator.wanted(nine, threads, bare, 0));
        assertEquals(refused.most() / GIB, sum(reallocator.part(nine, threads, bare, 0)));
    }

    @Test
    void coresThatItsOwnRegionsWillTakeAreNotFreeForMore() throws NoRoomException {
        offer(1, "small", false, "d/c/r", 8, 4);
        offer(2, "small", false, "d/c/r", 8, 4);
        // 4 regions with a thread each take all the cores of server 1.
        Reallocation found =
                reallocator.find(need(6, FOR_EVER, new AllocationCandidate(5, 6)), held(Map.of(1L, 4), 0), 2, false);
        assertEquals(Set.of(), found.left());
        assertEquals(Map.of(2L, 2), found.more().regions());
    }

    static LongStream parts() {
        return LongStream.range(0, Effort.seeds(4));
    }

    @ParameterizedTest
    @MethodSource("parts")
    void whateverIsThereWhatIsFoundIsPossibleAndNoDearer(long part) {
        long seed = System.nanoTime() * 4 + part;
        Random random = new Random(seed);
        int found = 0;
        int moves = 0;
        for (int round = 0; round < 500; round++) {
            String where = "seed " + seed + ", round " + round;
            Stock some = new Stock();
            Map<Long, Offer> offers = new HashMap<>();
            String[] types = {"small", "likewise", "large", "bare"};
            for (long id = 1; id <= 1 + random.nextInt(8); id++) {
                String type = types[random.nextInt(4)];
                boolean spot = type.equals("small") && random.nextBoolean();
                String place = random.nextInt(4) == 0 ? "e/c/r" : "d/c/r";
                double cores = type.equals("bare") ? 0 : random.nextInt(9) / 2.0;
                Offer offer = new Offer(
                        id, new Kind(type, spot, GIB), NetworkLocation.parse(place), random.nextInt(12), cores);
                offers.put(id, offer);
                some.put(offer);
            }
            SortedMap<Long, Integer> regions = new TreeMap<>();
            for (int i = 0; i <= random.nextInt(4); i++) {
                regions.put(1L + random.nextInt(9), 1 + random.nextInt(4));
            }
            int has = sum(regions);
            int missing = random.nextInt(6);
            double before = random.nextInt(3) / 4.0;
            List<AllocationCandidate> candidates = new ArrayList<>();
            for (int i = 0; i <= random.nextInt(3); i++) {
                candidates.add(new AllocationCandidate(random.nextBoolean() ? 5 : 3, random.nextInt(6)));
            }
            Need need = need(
                    has + missing,
                    random.nextBoolean() ? FOR_EVER : 0.1 + random.nextInt(20),
                    candidates.toArray(AllocationCandidate[]::new));
            Holding held = held(regions, before);
            Reallocator one = new Reallocator(some, prices);
            Reallocation all;
            Reallocation bare;
            try {
                all = one.find(need, held, missing, true);
                bare = one.find(need, held, missing, false);
            } catch (NoRoomException e) {
                candidates.forEach(candidate -> assertTrue(
                        one.wanted(need, candidate, held, missing) > sum(one.part(need, candidate, held, missing)),
                        where));
                continue;
            }
            found++;
            moves += all.left().size() > bare.left().size() ? 1 : 0;
            assertTrue(all.cost() <= bare.cost(), where);
            check(where, all, need, held, missing, offers);
            check(where, bare, need, held, missing, offers);
        }
        assertTrue(found > 100 && moves > 10, found + " found, of which " + moves + " move to save");
    }

    private void check(
            String where, Reallocation found, Need need, Holding held, int missing, Map<Long, Offer> offers) {
        AllocationCandidate candidate = found.candidate();
        assertTrue(need.candidates().contains(candidate), where);
        assertTrue(held.regions().keySet().containsAll(found.left()), where);
        int moved = found.left().stream()
                .mapToInt(server -> held.regions().get(server))
                .sum();
        assertEquals(missing + moved, sum(found.more().regions()), where);
        double threads = (double) candidate.serverThreads() / need.regions(GIB);
        found.more().regions().forEach((id, regions) -> {
            Offer offer = offers.get(id);
            assertTrue(!found.left().contains(id) && regions <= offer.free(), where);
            assertTrue(need.place().reaches(offer.place(), candidate.switches()), where);
        });
        offers.forEach((id, offer) -> {
            int stays = found.left().contains(id) ? 0 : held.regions().getOrDefault(id, 0);
            int comes = found.more().regions().getOrDefault(id, 0);
            double more = stays * Math.max(0, threads - held.threads()) + comes * threads;
            assertTrue(more <= offer.freeCores() + 1e-6, where + ": " + more + " threads on " + offer);
            assertTrue(
                    stays == 0
                            || candidate.switches() == 5
                            || need.place().reaches(offer.place(), candidate.switches()),
                    where);
        });
    }
}
