package io.farheap.manager.simulator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class SimulationTest {

    private static final SimulatedCacheOptions ALL = new SimulatedCacheOptions(100, true, true, true);

    private static Simulation run(long seed, SimulatedCacheOptions options) {
        Simulation simulation = new Simulation(500, 0.5, seed, options);
        simulation.run();
        return simulation;
    }

    /** The report without the figures that depend on the machine's clock. */
    private static JsonObject json(Simulation simulation) {
        JsonObject json = new SimulationReport(simulation).json();
        Set.of("allocations_per_s", "slowest_allocation_us", "p999_allocation_us")
                .forEach(json::remove);
        return json;
    }

    @Test
    void theSameSeedGivesTheSameFigures() {
        JsonObject first = json(run(1, ALL));
        assertEquals(first, json(run(1, ALL)));
        assertNotEquals(first, json(run(2, ALL)));
    }

    @Test
    void whatServersHoldIsWhatCachesHave() {
        Simulation simulation = run(3, ALL);
        Map<Integer, Integer> held = new TreeMap<>();
        int caches = 0;
        for (SimulatedCache cache : simulation.farMemory().caches()) {
            caches++;
            int regions = 0;
            for (Map.Entry<Long, Integer> entry : cache.regions.entrySet()) {
                assertTrue(entry.getValue() > 0);
                regions += entry.getValue();
                if (MemoryOffers.kind(entry.getKey()) != MemoryOffers.FULL) {
                    held.merge(MemoryOffers.server(entry.getKey()), entry.getValue(), Integer::sum);
                }
            }
            assertEquals(cache.gib(), regions + cache.homeless);
            assertEquals(
                    cache.machines.keySet(),
                    Set.copyOf(cache.regions.keySet().stream()
                            .filter(offer -> MemoryOffers.kind(offer) == MemoryOffers.FULL)
                            .toList()));
        }
        assertTrue(caches > 20, caches + " caches live");
        MemoryOffers offers = simulation.farMemory().offers();
        for (int server = 0; server < 500; server++) {
            assertEquals(held.getOrDefault(server, 0), offers.held(server));
            assertTrue(offers.held(server) <= MemoryOffers.WITHIN_NOTICE);
            assertTrue(!offers.pressed(server), "a server that is pressed is told to leave");
        }
    }

    @Test
    void whatIsOnAServerWhoseMemoryIsTakenBackMovesOrIsLost() {
        Simulation simulation = run(6, ALL);
        CachePopulation farMemory = simulation.farMemory();
        SimulatedDataCenter market = simulation.market();
        int server = 0;
        while (farMemory.offers().held(server) < 2) {
            server++;
        }
        int held = farMemory.offers().held(server);
        CachePopulation.CacheCounts before = farMemory.counts();
        market.take(server, 0, market.freeGib(server) - held + 1);
        assertTrue(farMemory.counts().reclaims() == before.reclaims() + 1);
        while (farMemory.offers().held(server) > 0) {
            assertTrue(farMemory.next() <= market.now() + 1, "nothing left the server");
            farMemory.step();
        }
        CachePopulation.CacheCounts after = farMemory.counts();
        assertEquals(held, after.moved() + after.lost() - before.moved() - before.lost());
        assertEquals(
                0,
                farMemory.offers().free(MemoryOffers.offer(server, MemoryOffers.STRANDED)),
                "until the notice is over");
    }

    @Test
    void withoutSpotMachinesNobodyHasOne() {
        Simulation simulation = run(1, new SimulatedCacheOptions(100, false, false, false));
        assertEquals(0, simulation.farMemory().meter().memoryPercents().get("spot"));
        CachePopulation.CacheCounts counts = simulation.farMemory().counts();
        assertEquals(0, counts.movedAtRelease());
        assertEquals(0, counts.movedBySearch());
        assertTrue(counts.asked() > 50);
        assertTrue(run(1, ALL).farMemory().meter().memoryPercents().get("spot") > 0);
    }

    @Test
    void cachesOnStrandedMemoryCostLess() {
        Simulation simulation = run(4, ALL);
        assertTrue(simulation.farMemory().meter().memoryPercents().get("stranded") > 10);
        double percent = simulation.farMemory().meter().costPercentOfFullPrice();
        assertTrue(percent > 0 && percent < 90, percent + "% of the full price");
    }

    @Test
    void aLargerMachineIsTheNextSizeThatHasEnough() {
        double core = CostMeter.larger(1) / 8;
        assertTrue(core > 0);
        assertEquals(8 * core, CostMeter.larger(64), 1e-9);
        assertEquals(24 * core, CostMeter.larger(65), 1e-9);
    }
}
