package io.farheap.bench.resilience;

import io.farheap.command.ServerProcess;
import io.farheap.lifetime.CloseStack;
import io.farheap.lifetime.Closeables;
import io.farheap.remote.RemoteMemory;
import io.farheap.verbs.Devices;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Memory servers, each a process and a failure domain, and a client that is attached to all of them. */
final class ServerCluster implements AutoCloseable {

    /** Code of a server does not run during requests, so cheap compilation is enough, and many servers start sooner. */
    private static final List<String> FLAGS = List.of("-XX:TieredStopAtLevel=1");

    private final CloseStack opened = new CloseStack();
    private final List<ServerProcess> servers = new ArrayList<>();
    private final RemoteMemory memory;

    /** @param regions of each server */
    ServerCluster(int count, long regions, long regionBytes) {
        try {
            for (int i = 0; i < count; i++) {
                servers.add(opened.add(ServerProcess.start(
                        Devices.library(), "", regions * regionBytes, regionBytes, Map.of(), FLAGS)));
            }
            memory = opened.add(RemoteMemory.open("", "farheap-bench"));
            servers.forEach(server -> memory.attach(server.address()));
        } catch (Throwable e) {
            Closeables.after(e, opened);
            throw e;
        }
    }

    RemoteMemory memory() {
        return memory;
    }

    int size() {
        return servers.size();
    }

    ServerProcess server(int index) {
        return servers.get(index);
    }

    @Override
    public void close() {
        opened.close();
    }
}
