package io.farheap.manager.simulator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TopologyTest {

    @ParameterizedTest
    @ValueSource(ints = {1, 31, 64, 999, 2_777, 10_000})
    void eachServerIsInOneRackOfOneCluster(int servers) {
        Topology topology = Topology.of(servers);
        assertEquals(0, topology.rackStart(0));
        assertEquals(servers, topology.rackStart(topology.racks()));
        assertEquals(servers, topology.clusterStart(topology.clusters()));
        for (int server = 0; server < servers; server++) {
            int rack = topology.rack(server);
            assertTrue(topology.rackStart(rack) <= server && server < topology.rackStart(rack + 1));
            int cluster = topology.cluster(server);
            assertTrue(topology.clusterStart(cluster) <= server && server < topology.clusterStart(cluster + 1));
            assertTrue(topology.dataCenterOfCluster(cluster) < topology.dataCenters());
        }
    }
}
