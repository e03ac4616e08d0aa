package io.farheap.soak;

import io.farheap.control.ControlException;
import io.farheap.control.grpc.ControlClient;
import io.farheap.control.plane.ControlPlane;
import java.util.List;

/** How many regions of servers are free, as these say. */
final class FreeRegionCount {

    private static final long LOOK_MILLIS = 20;

    private FreeRegionCount() {}

    /** As often as it takes for all to answer. */
    static int awaitFree(List<String> servers) {
        while (true) {
            int free = free(servers);
            if (free >= 0) {
                return free;
            }
        }
    }

    /**
     * Nobody uses servers any more, but for processes that were killed: it is a problem where not all regions are free
     * in time.
     *
     * @param all that they have together
     * @return how long it took, in ns
     */
    static long awaitAllFree(List<String> servers, int all, WaitTimes waits, Problems problems)
            throws InterruptedException {
        long start = System.nanoTime();
        while (free(servers) < all && !problems.any()) {
            if (System.nanoTime() - start > waits.mostNanos()) {
                problems.add("%.1f s after the last client has ended, %d of %d regions are free"
                        .formatted((System.nanoTime() - start) / 1e9, free(servers), all));
            }
            Thread.sleep(LOOK_MILLIS);
        }
        return System.nanoTime() - start;
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
