package io.farheap.metrics;

import io.farheap.server.MemoryServer;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;

/**
 * What a memory server in this process has counted since it began, tagged {@code server} with a name: calls of stored
 * procedures by status as {@code farheap.procedures.calls}, and beside them fuel, slices and their time, calls put off,
 * stolen and run in turns, registrations and those refused.
 */
public final class ServerMetrics implements MeterBinder {

    private static final String CALLS = "procedures.calls.";

    private final MemoryServer server;
    private final String name;

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
    }
}
