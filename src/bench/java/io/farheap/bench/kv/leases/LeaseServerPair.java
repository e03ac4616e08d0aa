package io.farheap.bench.kv.leases;

import io.farheap.bench.child.ProcessorTime;
import io.farheap.command.ServerProcess;
import io.farheap.control.grpc.ControlClient;
import io.farheap.lifetime.CloseStack;
import io.farheap.measure.LateOperations;
import io.farheap.verbs.Devices;
import java.util.ArrayList;
import java.util.List;

/** Two memory servers of two threads each, in processes of their own, and what they count. One thread. */
final class LeaseServerPair implements AutoCloseable {

    private static final int SERVERS = 2;
    /**
     * The memory of a map that was dropped is still being zeroed when the next one is created, and two processes write
     * their reports into regions of their own.
     */
    private static final int MAPS = 5;

    private static final String[] OPTIONS = {"--lease", "30s", "--threads", "2"};

    private final CloseStack resources = new CloseStack();
    private final List<ServerProcess> servers = new ArrayList<>();
    private final List<ControlClient> clients = new ArrayList<>();

    /** @param regionBytes of a map on each server, which is one region */
    LeaseServerPair(long regionBytes) {
        try {
            for (int i = 0; i < SERVERS; i++) {
                ServerProcess server = ServerProcess.start(
                        Devices.library(), "", MAPS * regionBytes, regionBytes, LateOperations.environment(), OPTIONS);
                servers.add(resources.add(server));
                clients.add(resources.add(ControlClient.connect(server.address())));
            }
        } catch (Throwable e) {
            try (resources) {
                throw e;
            }
        }
    }

    /** Returns the bytes of a region, if a map of that size has one on each server. */
    static long regionBytes(long mapBytes) {
        return mapBytes / SERVERS;
    }

    String[] addresses() {
        return servers.stream().map(ServerProcess::address).toArray(String[]::new);
    }

    /** Returns a count of both servers together; 0 if they have none of that name. */
    long count(String name) {
        return clients.stream()
                .mapToLong(client -> client.describe().counters().getOrDefault(name, 0L))
                .sum();
    }

    /** Returns the processor time of both servers, in ns. */
    long cpuNanos() {
        return ProcessorTime.nanos(servers.stream().flatMap(server -> ProcessHandle.of(server.pid()).stream()));
    }

    @Override
    public void close() {
        resources.close();
    }
}
