package io.farheap.manager.simulator;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Random;
import org.junit.jupiter.api.Test;

class DataCenterCensusTest {

    private static final double GIB_IN_TB = (1 << 30) / 1e12;

    private final DataCenterCensus census = new DataCenterCensus();
    private final Topology topology = Topology.of(64);
    private final SimulatedDataCenter market = new SimulatedDataCenter(
            topology, new MachineDemand(topology, new Random(1)), new SimulatedDataCenter.Watcher() {
                @Override
                public void changed(int server, double now) {}

                @Override
                public void stranded(int server, double now) {}

                @Override
                public void released(int server, double since, double now) {}
            });

    @Test
    void quantilesAreOverTime() {
        int quarter = SimulationParameters.SERVER_GIB / 4;
        for (int look = 0; look < 10; look++) {
            if (look == 6) {
                for (int server = 0; server < 64; server++) {
                    market.take(server, SimulationParameters.SERVER_CORES, quarter);
                }
            }
            census.look(market);
        }
        assertEquals(100, census.unallocated(90), 0.1);
        assertEquals(75, census.unallocated(30), 0.1);
        assertEquals(0, census.stranded(50), 0.1);
        assertEquals(75, census.stranded(70), 0.1);
        assertEquals(100, census.coresInUse(99), 0.1);
    }

    @Test
    void strandingsHaveTheirDurations() {
        for (double minutes : new double[] {1, 2, 4, 1_000}) {
            census.strandingOf(minutes);
        }
        assertEquals(4, census.strandings());
        assertEquals(1, census.stranding(25), 0.01);
        assertEquals(2, census.stranding(50), 0.01);
        assertEquals(4, census.stranding(75), 0.01);
    }

    @Test
    void aServerReachesWhatOthersHave() {
        assertEquals(2, topology.racks());
        market.take(0, SimulationParameters.SERVER_CORES, SimulationParameters.SERVER_GIB - 300);
        market.take(1, SimulationParameters.SERVER_CORES, SimulationParameters.SERVER_GIB - 100);
        census.look(market);
        // Two of the first rack's 32 servers reach less; the second rack's servers reach nothing over one switch.
        assertEquals(0, census.reach(0, 49));
        assertEquals(100 * GIB_IN_TB, census.reach(0, 51), 0.002);
        assertEquals(300 * GIB_IN_TB, census.reach(0, 53), 0.002);
        assertEquals(400 * GIB_IN_TB, census.reach(0, 54), 0.002);
        assertEquals(400 * GIB_IN_TB, census.reach(1, 5), 0.002);
        assertEquals(400 * GIB_IN_TB, census.reach(2, 5), 0.002);
    }
}
