package io.farheap.manager.service.servers;

import io.farheap.manager.ServerReport;
import io.farheap.manager.allocation.MachineType;
import io.farheap.manager.allocation.Menu;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * How fast caches leave servers, by type of server: begins with the figure of Redy's paper, 1.09 s a GB (section 7.4),
 * and follows what is observed. The content of a spot server must be able to leave within its notice. Guarded by the
 * manager's lock.
 */
public final class MigrationRates {

    private static final double GIVEN = 1e9 / 1.09;
    /** The weight of a new observation; the rest is that of earlier ones. */
    private static final double WEIGHT = 0.2;

    private final Map<String, Double> bytesPerSecond = new HashMap<>();
    private final Map<String, Long> samples = new HashMap<>();

    /** Adds an observation: these bytes have left a server of this type in this many seconds. */
    public void seen(String type, long bytes, double seconds) {
        double rate = bytes / Math.max(seconds, 1e-3);
        double before = bytesPerSecond(type);
        bytesPerSecond.put(type, before + WEIGHT * (rate - before));
        samples.merge(type, 1L, Long::sum);
    }

    /** Returns the types of servers of which a move was observed. */
    Set<String> types() {
        return samples.keySet();
    }

    /** Returns how many moves off servers of a type were observed. */
    long samples(String type) {
        return samples.getOrDefault(type, 0L);
    }

    double bytesPerSecond(String type) {
        return bytesPerSecond.getOrDefault(type, GIVEN);
    }

    /** Returns how many regions can leave a server within its notice, less the time until another one serves. */
    long leavable(ServerReport server, Menu menu) {
        return leavable(server.type(), server.noticeMillis(), server.regionBytes(), menu);
    }

    /** The same for a server that has not started yet. */
    public long leavable(String name, long noticeMillis, long regionBytes, Menu menu) {
        MachineType type = menu.find(name);
        double seconds = noticeMillis / 1e3 - (type == null ? 0 : type.startSeconds());
        return (long) (Math.max(0, seconds) * bytesPerSecond(name) / regionBytes);
    }
}
