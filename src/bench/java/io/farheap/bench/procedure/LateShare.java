package io.farheap.bench.procedure;

import io.farheap.control.grpc.ControlClient;
import io.farheap.server.MemoryServer;
import io.farheap.verbs.Devices;
import io.farheap.verbs.soft.SoftverbsCounters;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Returns which part of the operations that softverbs' model has timed since the last call was late, here and at
 * servers.
 */
final class LateShare implements AutoCloseable {

    private final List<ControlClient> servers = new ArrayList<>();
    private long operations;
    private long late;

    /** @param addresses of servers that take part in the measurement */
    LateShare(String... addresses) {
        try {
            for (String address : addresses) {
                servers.add(ControlClient.connect(address));
            }
            percent();
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    /** Returns the percentage since the last call, or since the creation of this. 0 without a model. */
    double percent() {
        SoftverbsCounters own = SoftverbsCounters.now(Devices.library());
        long done = own.operations();
        long missed = own.late();
        for (ControlClient server : servers) {
            Map<String, Long> counters = server.describe().counters();
            done += counters.getOrDefault(MemoryServer.MODEL_OPERATIONS, 0L);
            missed += counters.getOrDefault(MemoryServer.MODEL_LATE, 0L);
        }
        double percent = share(done - operations, missed - late);
        operations = done;
        late = missed;
        return percent;
    }

    static double share(long operations, long late) {
        return operations <= 0 ? 0 : 100.0 * Math.max(0, late) / operations;
    }

    @Override
    public void close() {
        servers.forEach(ControlClient::close);
    }
}
