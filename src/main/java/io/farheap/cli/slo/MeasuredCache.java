package io.farheap.cli.slo;

import io.farheap.cache.Cache;
import io.farheap.cache.CacheConfiguration;
import io.farheap.cli.ServerProcess;
import io.farheap.latency.LatencyTracking;
import io.farheap.slo.Configuration;
import io.farheap.slo.Measurement;
import io.farheap.slo.ModelSubject;
import io.farheap.slo.Performance;
import io.farheap.thread.Idle;
import io.farheap.verbs.Context;
import io.farheap.verbs.Devices;

import java.util.List;

/**
 * A cache to measure, on a memory server that is given or, where none is, started on this host at the first measurement. Its threads spin, as
 * those of a server that is there for its caches do: one that yields between two batches loses a time slice wherever others run too. One
 * thread at a time.
 */
public final class MeasuredCache implements Measurement, AutoCloseable {

    private static final long CAPACITY = 64L << 20;
    /** Long: where threads spin on all cores, who renews it may have to wait. */
    private static final String LEASE = "60s";

    private final ModelSubject subject;
    private final String given;
    private final long seed;
    /** Open all the time, so that softverbs counts late operations of the whole run. */
    private Context context;
    private ServerProcess server;
    private CacheMeasurement measurement;

    /**
     * @param server HOST:PORT, or null
     * @param seed   of the load
     */
    public MeasuredCache(ModelSubject subject, String server, long seed) {
        this.subject = subject;
        this.given = server;
        this.seed = seed;
    }

    /** This process and, where it has been started, the memory server's. */
    public List<ProcessHandle> processes() {
        return server == null ? List.of(ProcessHandle.current())
            : List.of(ProcessHandle.current(), ProcessHandle.of(server.pid()).orElse(ProcessHandle.current()));
    }

    @Override
    public Performance measure(Configuration configuration) throws InterruptedException {
        start();
        return measurement.measure(configuration);
    }

    private void start() {
        if (measurement != null) {
            return;
        }
        context = Devices.open();
        LateOperations.allow(context);
        if (given == null) {
            server = ServerProcess.start(Devices.library(), "", 2 * CAPACITY, CAPACITY, LateOperations.environment(), "--idle", Idle.SPIN.name(),
                "--lease", LEASE);
        }
        Cache cache = Cache.builder().capacity(CAPACITY).servers(given == null ? server.address() : given).name("farheap-model")
            .trackLatency(LatencyTracking.SPARSE).configuration(CacheConfiguration.DIRECT.withQueueDepth(1)).create();
        measurement = new CacheMeasurement(cache, subject, seed);
    }

    @Override
    public void close() {
        try {
            if (measurement != null) {
                measurement.close();
            }
        } finally {
            if (server != null) {
                server.close();
            }
            if (context != null) {
                context.close();
            }
        }
    }
}
