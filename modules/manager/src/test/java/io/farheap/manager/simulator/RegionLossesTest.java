package io.farheap.manager.simulator;

import static io.farheap.manager.simulator.TestMarket.TWO_MONTHS;
import static io.farheap.manager.simulator.TestMarket.market;
import static io.farheap.manager.simulator.TestMarket.offer;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.manager.AllocationCandidate;
import io.farheap.manager.CacheRequest;
import io.farheap.manager.Reclaim;
import io.farheap.manager.simulator.SpotMarket.SpotMachine;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** What is lost with a rack that is taken, and why. */
class RegionLossesTest {

    @Test
    void aCacheLosesRegionsOnEachMachineOfItsRack() {
        RackLosses rack = new RackLosses();
        RegionLosses losses = rack.take();
        assertEquals(8, losses.all());
        assertEquals(5, losses.inTurn(), "of the second machine, which was to be left after the first");
        assertEquals(0, losses.absent());
        assertEquals(List.of(rack.cache), rack.closed);
    }

    @Test
    void aClientThatIsBackInTimeLosesNothingByItsAbsence() {
        RackLosses rack = new RackLosses();
        rack.awayMillis = 500;
        RegionLosses losses = rack.take();
        assertEquals(5, losses.inTurn());
        assertEquals(0, losses.absent());
    }

    @Test
    void aClientThatIsAwayForLongLosesByItsAbsence() {
        RackLosses rack = new RackLosses();
        rack.awayMillis = 25_000;
        RegionLosses losses = rack.take();
        assertEquals(0, losses.inTurn());
        assertEquals(5, losses.absent());
    }

    /** A cache with regions on two machines of a rack that is taken. */
    private static final class RackLosses {

        private static final long ID = 5;

        private final List<SpotMachine> gone = new ArrayList<>();
        private final List<SpotCache> closed = new ArrayList<>();
        private final SpotMarket market = market(SpotLifeForm.RACK, gone::add);
        private final SpotMachine first = machine();
        private final SpotMachine second = machine();
        private final SpotCache cache = new SpotCache(
                new CacheRequest(ID, 1, "cache", 8 * CostMeter.GIB, 0, "", List.of(AllocationCandidate.ANY)),
                2 * TWO_MONTHS,
                2 * TWO_MONTHS);
        private long awayMillis;

        private SpotMachine machine() {
            return (SpotMachine) market.start(offer(market, true));
        }

        private void put(SpotMachine machine, int regions) {
            machine.held.put(ID, regions);
            cache.regions.put(machine.number, regions);
        }

        RegionLosses take() {
            market.pass(SpotMarket.START_MILLIS);
            put(first, 3);
            put(second, 5);
            market.pass(TWO_MONTHS);
            cache.sources.add(first);
            long begins = second.endsAt() - 1_000;
            cache.move = new SpotCache.ClientMove(
                    new Reclaim(ID, 1, Reclaim.Reason.LEAVES, second.hostPort(), 0, List.of()),
                    second,
                    awayMillis,
                    begins,
                    begins + 5 * SpotMarketSimulation.MOVE_MILLIS);
            market.pass(TWO_MONTHS + SpotMarket.NOTICE_MILLIS);
            assertEquals(List.of(first, second), gone);
            Map<Long, SpotCache> caches = new TreeMap<>(Map.of(ID, cache));
            RegionLosses losses = new RegionLosses();
            losses.count(gone, caches, one -> {
                caches.remove(one.id());
                closed.add(one);
            });
            return losses;
        }
    }
}
