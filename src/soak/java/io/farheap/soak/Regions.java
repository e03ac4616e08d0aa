package io.farheap.soak;

import io.farheap.control.ControlClient;
import io.farheap.control.ControlException;
import io.farheap.control.ControlPlane;
import java.util.List;

/** How many regions of servers are free, as these say. */
final class Regions {

    private Regions() {}

    /** As often as it takes for all to answer. */
    static int awaitFree(List<String> servers) {
        while (true) {
            int free = free(servers);
            if (free >= 0) {
                return free;
            }
        }
    }

    /** @return -1 where one does not answer */
    static int free(List<String> servers) {
        int free = 0;
        for (String server : servers) {
            try (ControlClient plane = ControlClient.connect(server)) {
                free += plane.hello(ControlPlane.PROTOCOL_VERSION).freeRegions();
            } catch (ControlException e) {
                return -1;
            }
        }
        return free;
    }
}
