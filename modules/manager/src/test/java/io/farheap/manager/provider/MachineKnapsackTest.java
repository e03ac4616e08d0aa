package io.farheap.manager.provider;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

class MachineKnapsackTest {

    private static final long GIB = 1 << 30;

    private static MachineOffer lot(String type, double price, int regions, int available) {
        return new MachineOffer(type, false, price, GIB, regions, "d/c/r", 30_000, available);
    }

    private static Optional<Quote> cheapest(int regions, MachineOffer... lots) {
        return MachineKnapsack.of(List.of(lots), new CapacityRequest(regions, MachineOffer::regions, _ -> 0));
    }

    private static List<String> types(Optional<Quote> quote) {
        return quote.orElseThrow().machines().stream()
                .map(MachineOffer::type)
                .sorted()
                .toList();
    }

    @Test
    void oneLargeOrSeveralSmallOnesByTheirPrices() {
        MachineOffer small = lot("small", 1, 4, 10);
        assertEquals(List.of("small", "small", "small"), types(cheapest(12, small, lot("large", 3.5, 16, 10))));
        assertEquals(List.of("large"), types(cheapest(12, small, lot("large", 2.5, 16, 10))));
        assertEquals(List.of("large"), types(cheapest(12, small, lot("large", 3, 16, 10))), "the fewest, for as much");
        assertEquals(List.of("large", "small"), types(cheapest(20, small, lot("large", 3, 16, 10))));
    }

    @Test
    void whatCannotBeHadIsNotInIt() {
        MachineOffer small = lot("small", 1, 4, 2);
        assertEquals(Optional.empty(), cheapest(12, small));
        assertEquals(List.of("large", "small", "small"), types(cheapest(12, small, lot("large", 30, 4, 1))));
        assertEquals(Optional.empty(), cheapest(1, lot("gone", 1, 4, 0)));
        CapacityRequest nowhere = new CapacityRequest(1, _ -> 0, _ -> 0);
        assertEquals(Optional.empty(), MachineKnapsack.of(List.of(small), nowhere));
    }

    @Test
    void aBurdenIsPartOfThePrice() {
        CapacityRequest wish =
                new CapacityRequest(4, MachineOffer::regions, lot -> lot.type().equals("a") ? 5 : 0);
        Quote quote = MachineKnapsack.of(List.of(lot("a", 1, 4, 1), lot("b", 3, 4, 1)), wish)
                .orElseThrow();
        assertEquals("b", quote.machines().getFirst().type());
        assertEquals(3, quote.cost());
    }

    @Test
    void moreRegionsThanItCountsStillHaveRoom() {
        int regions = 1_000_000;
        Quote quote = cheapest(regions, lot("a", 1, 1000, 100_000), lot("b", 2.1, 2000, 100_000))
                .orElseThrow();
        int room = quote.machines().stream().mapToInt(MachineOffer::regions).sum();
        assertTrue(room >= regions && room < 1.1 * regions, "room for " + room);
    }

    /** The least cost, found by trying every number of machines of every lot. */
    private static double leastCost(List<MachineOffer> lots, int from, int regions) {
        if (regions <= 0) {
            return 0;
        }
        if (from == lots.size()) {
            return Double.POSITIVE_INFINITY;
        }
        MachineOffer lot = lots.get(from);
        double least = Double.POSITIVE_INFINITY;
        for (int machines = 0; machines <= lot.available(); machines++) {
            least = Math.min(
                    least, machines * lot.price() + leastCost(lots, from + 1, regions - machines * lot.regions()));
        }
        return least;
    }

    @Test
    void nothingIsCheaper() {
        Random random = new Random(7);
        for (int round = 0; round < 2000; round++) {
            List<MachineOffer> lots = new ArrayList<>();
            for (int i = 0; i <= random.nextInt(4); i++) {
                lots.add(lot("t" + i, random.nextInt(20), 1 + random.nextInt(9), random.nextInt(6)));
            }
            int regions = 1 + random.nextInt(40);
            Optional<Quote> found =
                    MachineKnapsack.of(lots, new CapacityRequest(regions, MachineOffer::regions, _ -> 0));
            double least = leastCost(lots, 0, regions);
            assertEquals(least, found.map(Quote::cost).orElse(Double.POSITIVE_INFINITY), lots + " for " + regions);
            if (found.isPresent()) {
                List<MachineOffer> machines = found.get().machines();
                assertTrue(machines.stream().mapToInt(MachineOffer::regions).sum() >= regions);
                assertEquals(
                        least,
                        machines.stream().mapToDouble(MachineOffer::price).sum());
                for (MachineOffer lot : lots) {
                    assertTrue(machines.stream().filter(lot::equals).count() <= lot.available());
                }
            }
        }
    }
}
