package io.farheap.manager.simulator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class SimulatedDataCenterTest {

    private static final class Seen implements SimulatedDataCenter.Watcher {

        private final List<String> strandings = new ArrayList<>();
        private int stranded;

        @Override
        public void changed(int server, double now) {}

        @Override
        public void stranded(int server, double now) {
            stranded++;
        }

        @Override
        public void released(int server, double since, double now) {
            strandings.add(server + ": " + since + " to " + now);
            stranded--;
        }
    }

    private final Seen seen = new Seen();

    private SimulatedDataCenter market(int servers) {
        Topology topology = Topology.of(servers);
        return new SimulatedDataCenter(topology, new MachineDemand(topology, new Random(5)), seen);
    }

    @Test
    void nothingIsLetTwiceOrLostUnderRandomEvents() {
        Random random = new Random(11);
        SimulatedDataCenter market = market(50);
        int[] cores = new int[50];
        int[] gib = new int[50];
        // Number, server, cores, GiB.
        List<int[]> machines = new ArrayList<>();
        for (int i = 0; i < 30_000; i++) {
            if (random.nextInt(100) < 55 || machines.isEmpty()) {
                int server = random.nextInt(50);
                int wantedCores = 1 + random.nextInt(16);
                int wantedGib = 1 + random.nextInt(64);
                if (cores[server] + wantedCores <= SimulationParameters.SERVER_CORES
                        && gib[server] + wantedGib <= SimulationParameters.SERVER_GIB) {
                    int number = market.take(server, wantedCores, wantedGib);
                    machines.add(new int[] {number, server, wantedCores, wantedGib});
                    cores[server] += wantedCores;
                    gib[server] += wantedGib;
                }
            } else {
                int[] machine = machines.remove(random.nextInt(machines.size()));
                market.leave(machine[0]);
                cores[machine[1]] -= machine[2];
                gib[machine[1]] -= machine[3];
            }
            int server = random.nextInt(50);
            assertEquals(SimulationParameters.SERVER_CORES - cores[server], market.freeCores(server));
            assertEquals(SimulationParameters.SERVER_GIB - gib[server], market.freeGib(server));
        }
        assertTrue(machines.size() > 20);
        assertTotals(market);
    }

    @Test
    void arrivalsAndDeparturesKeepTotalsRight() {
        SimulatedDataCenter market = market(2_000);
        market.populate();
        int strandings = 0;
        for (int i = 0; i < 100_000; i++) {
            double next = market.next();
            market.step();
            assertEquals(next, market.now());
            if (i % 10_000 == 0) {
                assertTotals(market);
                strandings += seen.stranded;
            }
        }
        assertTrue(strandings > 0 && market.arrivals() > 30_000);
        assertTrue(market.clusterFreeCores(0) < 1_000 * SimulationParameters.SERVER_CORES * 0.4);
    }

    private void assertTotals(SimulatedDataCenter market) {
        Topology topology = market.topology();
        int stranded = 0;
        for (int cluster = 0; cluster < topology.clusters(); cluster++) {
            int freeCores = 0;
            int freeGib = 0;
            int strandedGib = 0;
            for (int server = topology.clusterStart(cluster); server < topology.clusterStart(cluster + 1); server++) {
                assertTrue(market.freeCores(server) >= 0 && market.freeGib(server) >= 0);
                assertEquals(market.freeCores(server) == 0 && market.freeGib(server) >= 1, market.stranded(server));
                freeCores += market.freeCores(server);
                freeGib += market.freeGib(server);
                strandedGib += market.stranded(server) ? market.freeGib(server) : 0;
                stranded += market.stranded(server) ? 1 : 0;
            }
            assertEquals(freeCores, market.clusterFreeCores(cluster));
            assertEquals(freeGib, market.clusterFreeGib(cluster));
            assertEquals(strandedGib, market.clusterStrandedGib(cluster));
        }
        assertEquals(stranded, seen.stranded);
    }

    @Test
    void aServerIsStrandedFromItsLastCoreToItsFirstFreeOne() {
        SimulatedDataCenter market = market(50);
        market.take(3, 60, 100);
        assertEquals(0, seen.stranded);
        int last = market.take(3, 4, 8);
        assertTrue(market.stranded(3));
        assertEquals(SimulationParameters.SERVER_GIB - 108, market.clusterStrandedGib(0));
        market.leave(last);
        assertEquals(List.of("3: 0.0 to 0.0"), seen.strandings);
        assertEquals(0, market.clusterStrandedGib(0));
        market.take(4, SimulationParameters.SERVER_CORES, SimulationParameters.SERVER_GIB);
        assertEquals(0, seen.stranded, "it has no memory left");
    }
}
