package io.farheap.manager.allocation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.manager.AllocationCandidate;
import io.farheap.manager.allocation.Offer.Kind;
import io.farheap.testing.Effort;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class AllocatorTest {

    private static final long MIB = 1 << 20;
    private static final long GIB = 1 << 30;
    private static final double INFINITE = Double.POSITIVE_INFINITY;
    private static final NetworkLocation CLIENT = NetworkLocation.parse("d/c/r");
    private static final Menu MENU = Menu.of(
            List.of(
                    new MachineType("small", "", 4, 16 * GIB, 0.4, 0.1, 30, 0, 24),
                    new MachineType("large", "", 16, 128 * GIB, 1.6, 0.3, 30, 0, 24),
                    new MachineType("stranded", "", 0, 64 * GIB, 0, 0, 30, 0, 0.2)),
            0.001,
            0.1,
            0.01);

    private static Offer plain(long id, long regionBytes, int free) {
        return new Offer(id, new Kind("", false, regionBytes), NetworkLocation.UNKNOWN, free, INFINITE);
    }

    private static Offer offer(long id, String type, boolean spot, String place, int free, double cores) {
        return new Offer(id, new Kind(type, spot, GIB), NetworkLocation.parse(place), free, cores);
    }

    private static Allocator of(Menu menu, List<Offer> offers) {
        Stock stock = new Stock();
        offers.forEach(stock::put);
        return new Allocator(stock, new Prices(menu));
    }

    private static CachePlacement place(List<Offer> offers, long capacity) throws NoRoomException {
        return of(Menu.EMPTY, offers).place(Need.of(capacity));
    }

    private static Need need(int gib, double hours, AllocationCandidate... candidates) {
        return new Need(gib * GIB, hours, CLIENT, List.of(candidates), Set.of(), Set.of());
    }

    @Test
    void theTightestServerThatHasRoomForAllGivesAll() throws NoRoomException {
        List<Offer> offers = List.of(plain(1, MIB, 10), plain(2, MIB, 4), plain(3, MIB, 3));
        assertEquals(Map.of(2L, 4), place(offers, 4 * MIB).regions());
        assertEquals(
                Map.of(3L, 3),
                of(Menu.EMPTY, offers).more(Need.of(3 * MIB), MIB, 3, List.of()).regions());
    }

    @Test
    void asFewServersAsCanBeGiveWhatNoneHasAlone() throws NoRoomException {
        List<Offer> offers = List.of(plain(1, MIB, 4), plain(2, MIB, 10), plain(3, MIB, 3));
        assertEquals(Map.of(2L, 10, 3L, 2), place(offers, 12 * MIB).regions());
        assertEquals(Map.of(1L, 4, 2L, 10, 3L, 1), place(offers, 15 * MIB).regions());
    }

    @Test
    void regionsOfACacheAreOfOneSizeThatWastesLeast() throws NoRoomException {
        List<Offer> offers = List.of(plain(1, MIB, 4), plain(2, 4 * MIB, 4));
        assertEquals(Map.of(1L, 3), place(offers, 2 * MIB + 1).regions());
        assertEquals(Map.of(2L, 2), place(offers, 5 * MIB).regions());
        assertThrows(NoRoomException.class, () -> of(Menu.EMPTY, offers).more(Need.of(5 * MIB), MIB, 5, List.of()));
    }

    @Test
    void aRefusalSaysWhatCouldBeHad() {
        List<Offer> offers = List.of(plain(1, MIB, 4), plain(3, MIB, 4), plain(2, 4 * MIB, 1));
        assertEquals(8 * MIB, refused(offers, 8 * MIB + 1));
        assertEquals(0, refused(List.of(), 1));
    }

    private static long refused(List<Offer> offers, long capacity) {
        return assertThrows(NoRoomException.class, () -> place(offers, capacity))
                .most();
    }

    @Test
    void moreOfACacheGoesFirstWhereItIs() throws NoRoomException {
        List<Offer> offers = List.of(plain(1, MIB, 2), plain(2, MIB, 9), plain(3, MIB, 2));
        assertEquals(
                Map.of(1L, 1, 3L, 2),
                of(Menu.EMPTY, offers)
                        .more(Need.of(9 * MIB), MIB, 3, List.of(3L, 1L))
                        .regions());
        Need avoiding = Need.of(9 * MIB).avoiding(Set.of(3L));
        assertEquals(
                Map.of(1L, 2, 2L, 1),
                of(Menu.EMPTY, offers).more(avoiding, MIB, 3, List.of(3L, 1L)).regions());
    }

    @Test
    void theFarthestDistanceThatMeetsTheObjectiveIsNotPassed() throws NoRoomException {
        List<Offer> offers = List.of(
                offer(1, "small", false, "d/c/r", 1, 4),
                offer(2, "small", false, "d/c/q", 2, 4),
                offer(3, "small", false, "d/b/r", 4, 4),
                offer(4, "small", false, "e/c/r", 9, 4),
                offer(5, "small", false, "", 1, 4));
        Allocator allocator = of(MENU, offers);
        assertEquals(
                Map.of(1L, 1),
                allocator
                        .place(need(1, INFINITE, new AllocationCandidate(1, 0)))
                        .regions());
        assertEquals(
                Map.of(1L, 1, 2L, 2),
                allocator
                        .place(need(3, INFINITE, new AllocationCandidate(3, 0)))
                        .regions());
        assertEquals(
                Map.of(1L, 1, 2L, 2, 3L, 4, 5L, 1),
                allocator
                        .place(need(8, INFINITE, new AllocationCandidate(5, 0)))
                        .regions());
        assertEquals(
                GIB,
                assertThrows(
                                NoRoomException.class,
                                () -> allocator.place(need(2, INFINITE, new AllocationCandidate(1, 0))))
                        .most());
    }

    @Test
    void aConfigurationWithoutServerThreadsTakesMemoryThatHasNoCores() throws NoRoomException {
        List<Offer> offers = List.of(
                offer(1, "stranded", false, "d/c/r", 8, 0),
                offer(2, "small", false, "d/b/r", 8, 1),
                offer(3, "large", false, "d/b/q", 8, 1));
        Allocator allocator = of(MENU, offers);
        // At distance 1 the cache needs no threads, at distance 5 two.
        CachePlacement stranded =
                allocator.place(need(8, INFINITE, new AllocationCandidate(1, 0), new AllocationCandidate(5, 2)));
        assertEquals(Map.of(1L, 8), stranded.regions());
        assertEquals(new AllocationCandidate(1, 0), stranded.candidate());
        // Two of 16 cores with 8 of 128 GiB would cost an eighth of that machine, but each server has only one free
        // core, so the regions are divided.
        CachePlacement cores = allocator.place(need(8, INFINITE, new AllocationCandidate(5, 2)));
        assertEquals(Map.of(2L, 4, 3L, 4), cores.regions());
        assertEquals(0.4 / 4 + 1.6 / 16, cores.cost(), 1e-9);
        assertThrows(NoRoomException.class, () -> allocator.place(need(8, INFINITE, new AllocationCandidate(5, 9))));
    }

    @Test
    void spotServersAreForCachesThatEnd() throws NoRoomException {
        Allocator allocator =
                of(MENU, List.of(offer(1, "small", true, "d/c/r", 8, 4), offer(2, "small", false, "d/c/r", 8, 4)));
        AllocationCandidate one = new AllocationCandidate(5, 0);
        assertEquals(Map.of(2L, 8), allocator.place(need(8, INFINITE, one)).regions());
        assertEquals(Map.of(1L, 8), allocator.place(need(8, 10, one)).regions());
        assertThrows(NoRoomException.class, () -> allocator.place(need(9, INFINITE, one)));
        assertEquals(Map.of(1L, 8, 2L, 1), allocator.place(need(9, 10, one)).regions());
    }

    @Test
    void spotServersThatSoonEndAreNotCheaper() throws NoRoomException {
        Stock stock = new Stock();
        stock.put(offer(1, "small", true, "d/c/r", 8, 4));
        stock.put(offer(2, "small", false, "d/c/r", 8, 4));
        Prices prices = new Prices(MENU);
        Allocator allocator = new Allocator(stock, prices);
        Need need = need(8, 10, new AllocationCandidate(5, 0));
        assertEquals(Map.of(1L, 8), allocator.place(need).regions());
        for (int i = 0; i < 20; i++) {
            prices.life("small").add(0.05, true);
        }
        // Twenty moves of a GiB in an hour cost 0.02, and losses the same; the full price of a GiB is 0.025.
        assertEquals(Map.of(2L, 8), allocator.place(need).regions());
    }

    @Test
    void copiesAreInOtherRacks() throws NoRoomException {
        List<Offer> offers = List.of(
                offer(1, "small", false, "d/c/r", 8, 4),
                offer(2, "small", false, "d/c/r", 8, 4),
                offer(3, "small", false, "d/c/q", 9, 4));
        Need need = need(8, INFINITE, new AllocationCandidate(5, 0)).apart(Set.of("d/c/r"));
        assertEquals(Map.of(3L, 8), of(MENU, offers).place(need).regions());
    }

    @Test
    void anyPlacementFitsIsTheCheapestAndDoesNotDependOnTheOrderOfOffers() throws NoRoomException {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        int placed = 0;
        int needs = Effort.count(20_000);
        for (int i = 0; i < needs; i++) {
            List<Offer> offers = new ArrayList<>();
            for (int server = 1 + random.nextInt(8); server > 0; server--) {
                String type = List.of("small", "large", "stranded", "unknown").get(random.nextInt(4));
                Kind kind = new Kind(type, random.nextBoolean(), GIB << random.nextInt(2));
                NetworkLocation at = NetworkLocation.parse(
                        List.of("", "d/c/r", "d/c/q", "d/b/r", "e/c/r").get(random.nextInt(5)));
                double cores = type.equals("unknown") ? INFINITE : type.equals("stranded") ? 0 : random.nextInt(5);
                offers.add(new Offer(random.nextLong(), kind, at, random.nextInt(20), cores));
            }
            int gib = 1 + random.nextInt(40);
            double hours = random.nextBoolean() ? INFINITE : 1 + random.nextInt(9);
            List<AllocationCandidate> candidates = new ArrayList<>();
            for (int switches = 1; switches <= 5; switches += 2) {
                candidates.add(new AllocationCandidate(switches, random.nextInt(3)));
            }
            Need need = need(gib, hours, candidates.toArray(AllocationCandidate[]::new));
            String run = "seed " + seed + ", run " + i;
            double cheapest = cheapest(offers, need);
            Allocator allocator = of(MENU, offers);
            if (cheapest == INFINITE) {
                assertThrows(NoRoomException.class, () -> allocator.place(need), run);
                continue;
            }
            CachePlacement placement = allocator.place(need);
            placed++;
            assertEquals(cheapest, placement.cost(), 1e-9, run);
            check(placement, offers, need, run);
            List<Offer> shuffled = new ArrayList<>(offers);
            Collections.shuffle(shuffled, random);
            assertEquals(placement, of(MENU, shuffled).place(need), run);
        }
        assertTrue(placed > needs / 20 && placed < needs - needs / 20, placed + " of the needs were met");
    }

    @Test
    void serversAsRoomyOfManyKindsAreTakenInTheSameOrder() throws NoRoomException {
        List<Offer> offers = new ArrayList<>();
        for (int i = 1; i <= 40; i++) {
            offers.add(offer(i, "unknown " + i, false, "d/c/r", i % 2 == 0 ? 4 : 9, 4));
        }
        for (int gib : new int[] {3, 4, 7, 9, 13, 20, 200}) {
            Need need = need(gib, INFINITE, new AllocationCandidate(5, 0));
            CachePlacement placement = of(MENU, offers).place(need);
            for (int seed = 0; seed < 20; seed++) {
                List<Offer> shuffled = new ArrayList<>(offers);
                Collections.shuffle(shuffled, new Random(seed));
                assertEquals(placement, of(MENU, shuffled).place(need), gib + " GiB, seed " + seed);
            }
        }
    }

    private static boolean takes(Offer offer, Need need, AllocationCandidate candidate) {
        boolean near = offer.place().equals(NetworkLocation.UNKNOWN)
                ? candidate.switches() >= NetworkLocation.FARTHEST
                : switch (candidate.switches()) {
                    case 1 -> offer.place().equals(CLIENT);
                    case 3 -> offer.place().toString().startsWith("d/c/");
                    default -> offer.place().dataCenter().equals("d");
                };
        return near && (!offer.kind().spot() || need.hours() < INFINITE);
    }

    /** The least cost, found by filling the cheapest offers first, for each configuration and region size. */
    private static double cheapest(List<Offer> offers, Need need) {
        Prices prices = new Prices(MENU);
        double best = INFINITE;
        for (AllocationCandidate candidate : need.candidates()) {
            for (long regionBytes = GIB; regionBytes <= 2 * GIB; regionBytes *= 2) {
                long size = regionBytes;
                int wanted = need.regions(size);
                double threads = (double) candidate.serverThreads() / wanted;
                Map<Double, Integer> room = new TreeMap<>(offers.stream()
                        .filter(offer -> offer.kind().regionBytes() == size && takes(offer, need, candidate))
                        .collect(Collectors.toMap(
                                offer -> prices.hourly(offer.kind(), need.hours(), threads),
                                offer -> offer.room(wanted, candidate.serverThreads()),
                                Integer::sum)));
                double cost = 0;
                int missing = wanted;
                for (Map.Entry<Double, Integer> price : room.entrySet()) {
                    int taken = Math.min(missing, price.getValue());
                    missing -= taken;
                    cost += taken * price.getKey();
                }
                best = missing == 0 ? Math.min(best, cost) : best;
            }
        }
        return best;
    }

    private static void check(CachePlacement placement, List<Offer> offers, Need need, String run) {
        long regions = 0;
        for (Map.Entry<Long, Integer> share : placement.regions().entrySet()) {
            Offer offer = offers.stream()
                    .filter(one -> one.serverId() == share.getKey())
                    .max(Comparator.comparingInt(Offer::free))
                    .orElseThrow();
            assertEquals(placement.regionBytes(), offer.kind().regionBytes(), run);
            assertTrue(takes(offer, need, placement.candidate()), run);
            assertTrue(share.getValue() >= 1 && share.getValue() <= offer.free(), run);
            double cores = (double) placement.candidate().serverThreads()
                    * share.getValue()
                    / need.regions(placement.regionBytes());
            assertTrue(cores <= offer.freeCores() + 1e-9, run);
            regions += share.getValue();
        }
        assertEquals(need.regions(placement.regionBytes()), regions, run);
    }
}
