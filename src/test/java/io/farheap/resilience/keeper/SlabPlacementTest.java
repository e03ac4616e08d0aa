package io.farheap.resilience.keeper;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.remote.contract.RemoteServer;
import io.farheap.resilience.CodedServers;
import io.farheap.resilience.contract.Resilience;
import io.farheap.resilience.table.Slab;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SlabPlacementTest {

    private static final int RANGES = 3;

    private final CodedServers servers = new CodedServers(4, RANGES);

    @AfterEach
    void close() {
        servers.close();
    }

    /** To count them goes through all slabs, so with many slabs each comparison must not do it again. */
    @Test
    void theSlabsOfAServerAreCountedOnce() {
        Map<RemoteServer, Integer> asked = new HashMap<>();
        List<Slab> slabs = new SlabPlacement(RemoteServer::address)
                .takeAll(servers.attached, Resilience.failureRecovery(2, 1), 0, RANGES, _ -> false, server -> {
                    asked.merge(server, 1, Integer::sum);
                    return 0;
                });
        assertEquals(3 * RANGES, slabs.size());
        servers.attached.forEach(server -> assertEquals(1, asked.get(server)));
        Map<RemoteServer, Integer> loads = new HashMap<>();
        slabs.forEach(slab -> loads.merge(slab.region().server(), 1, Integer::sum));
        assertEquals(
                3, loads.values().stream().mapToInt(Integer::intValue).max().orElseThrow());
        assertEquals(
                2, loads.values().stream().mapToInt(Integer::intValue).min().orElseThrow());
    }
}
