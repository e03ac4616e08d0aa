package io.farheap.manager.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.manager.service.Allocator.NoRoomException;
import io.farheap.manager.service.Allocator.Offer;
import io.farheap.manager.service.Allocator.Placement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class AllocatorTest {

    private static final long MIB = 1 << 20;

    @Test
    void theTightestServerThatHasRoomForAllGivesAll() throws NoRoomException {
        List<Offer> offers = List.of(new Offer(1, MIB, 10), new Offer(2, MIB, 4), new Offer(3, MIB, 3));
        assertEquals(new Placement(MIB, sorted(Map.of(2L, 4))), Allocator.place(offers, 4 * MIB));
        assertEquals(sorted(Map.of(3L, 3)), Allocator.move(offers, MIB, 3));
    }

    @Test
    void asFewServersAsCanBeGiveWhatNoneHasAlone() throws NoRoomException {
        List<Offer> offers = List.of(new Offer(1, MIB, 4), new Offer(2, MIB, 10), new Offer(3, MIB, 3));
        assertEquals(
                sorted(Map.of(2L, 10, 3L, 2)), Allocator.place(offers, 12 * MIB).regions());
        assertEquals(
                sorted(Map.of(1L, 4, 2L, 10, 3L, 1)),
                Allocator.place(offers, 15 * MIB).regions());
    }

    @Test
    void regionsOfACacheAreOfOneSizeThatWastesLeast() throws NoRoomException {
        List<Offer> offers = List.of(new Offer(1, MIB, 4), new Offer(2, 4 * MIB, 4));
        assertEquals(new Placement(MIB, sorted(Map.of(1L, 3))), Allocator.place(offers, 2 * MIB + 1));
        assertEquals(new Placement(4 * MIB, sorted(Map.of(2L, 2))), Allocator.place(offers, 5 * MIB));
        assertThrows(NoRoomException.class, () -> Allocator.move(offers, MIB, 5));
    }

    @Test
    void aRefusalSaysWhatCouldBeHad() {
        List<Offer> offers = List.of(new Offer(1, MIB, 4), new Offer(3, MIB, 4), new Offer(2, 4 * MIB, 1));
        assertEquals(8 * MIB, refused(offers, 8 * MIB + 1));
        assertEquals(0, refused(List.of(), 1));
    }

    private static long refused(List<Offer> offers, long capacity) {
        return assertThrows(NoRoomException.class, () -> Allocator.place(offers, capacity))
                .most();
    }

    @Test
    void anyPlacementFitsAndDoesNotDependOnTheOrderOfOffers() throws NoRoomException {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int i = 0; i < 20_000; i++) {
            List<Offer> offers = new ArrayList<>();
            for (int server = 1 + random.nextInt(8); server > 0; server--) {
                offers.add(new Offer(random.nextLong(), MIB << random.nextInt(3), 1 + random.nextInt(20)));
            }
            long capacity = 1 + random.nextLong(60 * MIB);
            boolean fits = offers.stream().collect(Collectors.groupingBy(Offer::regionBytes)).entrySet().stream()
                    .anyMatch(size -> size.getKey()
                                    * size.getValue().stream()
                                            .mapToLong(Offer::free)
                                            .sum()
                            >= capacity);
            String run = "seed " + seed + ", run " + i;
            if (!fits) {
                assertThrows(NoRoomException.class, () -> Allocator.place(offers, capacity), run);
                continue;
            }
            Placement placement = Allocator.place(offers, capacity);
            check(placement, offers, capacity, run);
            List<Offer> shuffled = new ArrayList<>(offers);
            Collections.shuffle(shuffled, random);
            assertEquals(placement, Allocator.place(shuffled, capacity), run);
        }
    }

    private static void check(Placement placement, List<Offer> offers, long capacity, String run) {
        Map<Long, Offer> byId = offers.stream().collect(Collectors.toMap(Offer::serverId, Function.identity()));
        long regions = 0;
        for (Map.Entry<Long, Integer> share : placement.regions().entrySet()) {
            Offer offer = byId.get(share.getKey());
            assertEquals(placement.regionBytes(), offer.regionBytes(), run);
            assertTrue(share.getValue() >= 1 && share.getValue() <= offer.free(), run);
            regions += share.getValue();
        }
        assertEquals((capacity - 1) / placement.regionBytes() + 1, regions, run);
    }

    private static SortedMap<Long, Integer> sorted(Map<Long, Integer> regions) {
        return new TreeMap<>(regions);
    }
}
