package io.farheap.manager.service.servers;

import io.farheap.manager.ServerReport;
import io.farheap.manager.allocation.MachineType;
import io.farheap.manager.allocation.Menu;
import java.util.HashMap;
import java.util.Map;

/**
 * How fast caches leave servers, by type of server, as it was seen; until then as Redy's paper has it, 1.09 s a GB
 * (section 7.4). What is on a spot server must be able to leave within its notice. Its user has a lock around it.
 */
public final class MigrationRates {

    private static final double GIVEN = 1e9 / 1.09;
    /** Of a new observation, the rest is what was seen before. */
    private static final double WEIGHT = 0.2;

    private final Map<String, Double> bytesPerSecond = new HashMap<>();

    /** So many bytes have left a server of a type. */
    public void seen(String type, long bytes, double seconds) {
        double rate = bytes / Math.max(seconds, 1e-3);
        bytesPerSecond.merge(type, rate, (before, now) -> before + WEIGHT * (now - before));
    }

    double bytesPerSecond(String type) {
        return bytesPerSecond.getOrDefault(type, GIVEN);
    }

    /** Regions that can leave a server within its notice, less the time until another one serves. */
    long leavable(ServerReport server, Menu menu) {
        return leavable(server.type(), server.noticeMillis(), server.regionBytes(), menu);
    }

    /** As above, of a server that is not there yet. */
    public long leavable(String name, long noticeMillis, long regionBytes, Menu menu) {
        MachineType type = menu.find(name);
        double seconds = noticeMillis / 1e3 - (type == null ? 0 : type.startSeconds());
        return (long) (Math.max(0, seconds) * bytesPerSecond(name) / regionBytes);
    }
}
