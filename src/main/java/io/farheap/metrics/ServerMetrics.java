package io.farheap.metrics;

import io.farheap.control.ServerStatus.LeaseStatus;
import io.farheap.server.MemoryServer;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Counts of a memory server in this process since it began, tagged {@code server} with a name: calls of stored
 * procedures as {@code farheap.procedures.calls}, tagged {@code outcome} too, and beside them fuel, slices and their
 * time, calls put off, stolen and run in turns, registrations and those refused. {@code farheap.procedures.lease.time},
 * in ns, tagged {@code client} too, is the time that server threads have spent on calls of open leases;
 * {@link #refresh} updates it to the current leases.
 */
public final class ServerMetrics implements MeterBinder {

    private static final String CALLS = "procedures.calls.";

    private final MemoryServer server;
    private final String name;
    private final List<MultiGauge> leases = new CopyOnWriteArrayList<>();

    /** @param name of the server in the tags */
    public ServerMetrics(MemoryServer server, String name) {
        this.server = server;
        this.name = name;
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        for (String counted : server.counters().keySet()) {
            boolean calls = counted.startsWith(CALLS);
            FunctionCounter.Builder<MemoryServer> counter = FunctionCounter.builder(
                            calls ? "farheap.procedures.calls" : "farheap." + counted.replace(' ', '.'),
                            server,
                            live -> live.counters().getOrDefault(counted, 0L))
                    .tag("server", name);
            if (calls) {
                counter.tag("outcome", counted.substring(CALLS.length()));
            }
            counter.register(registry);
        }
        leases.add(MultiGauge.builder("farheap.procedures.lease.time")
                .baseUnit("ns")
                .tag("server", name)
                .register(registry));
        refresh();
    }

    /**
     * Updates the metrics to the current leases. Call it before the bound metrics are read, such as at each scrape. Any
     * thread may call it.
     */
    public void refresh() {
        // A client may have several leases.
        Map<String, Long> nanos = new TreeMap<>();
        for (LeaseStatus lease : server.describe().leases()) {
            nanos.merge(lease.clientName(), lease.callNanos(), Long::sum);
        }
        List<MultiGauge.Row<?>> rows = new ArrayList<>();
        nanos.forEach((client, time) -> rows.add(MultiGauge.Row.of(Tags.of("client", client), time)));
        leases.forEach(each -> each.register(rows, true));
    }
}
