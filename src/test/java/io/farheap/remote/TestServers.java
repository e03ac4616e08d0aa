package io.farheap.remote;

import io.farheap.control.grpc.ControlServer;
import io.farheap.control.plane.ControlPlane;
import io.farheap.rpc.RpcHandler;
import io.farheap.server.MemoryServer;
import io.farheap.server.Planes;
import io.farheap.server.contract.ServedSpaces;
import io.farheap.server.contract.ServerOptions;
import io.farheap.testing.TestDevice;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/** Memory servers in this process, reached over the loopback interface. */
final class TestServers implements AutoCloseable {

    static final long REGION_BYTES = 64 * 1024;
    /** Longer than a busy machine keeps any thread waiting. */
    private static final long LEASE_NANOS = TestDevice.patience(30_000_000_000L);

    private record Node(MemoryServer memory, ControlServer control) {}

    private final List<Node> nodes = new ArrayList<>();
    private UnaryOperator<ControlPlane> before = UnaryOperator.identity();

    /** Servers whose control planes a test wraps. */
    static TestServers behind(UnaryOperator<ControlPlane> what, int... regions) {
        TestServers servers = new TestServers();
        servers.before = what;
        for (int count : regions) {
            servers.add(count, TestDevice.server());
        }
        return servers;
    }

    /** @param regions the number of regions of each server */
    TestServers(int... regions) {
        for (int count : regions) {
            add(count, TestDevice.server());
        }
    }

    /** A server with this number of regions on each of these devices. */
    static TestServers on(int regions, String... devices) {
        TestServers servers = new TestServers();
        for (String device : devices) {
            servers.add(regions, device);
        }
        return servers;
    }

    private void add(int regions, String device) {
        MemoryServer memory =
                MemoryServer.open(new ServerOptions(regions * REGION_BYTES, REGION_BYTES, LEASE_NANOS, device, "test"));
        try {
            nodes.add(new Node(memory, ControlServer.start("127.0.0.1:0", before.apply(Planes.of(memory)))));
        } catch (RuntimeException e) {
            memory.close();
            throw e;
        }
    }

    String address(int server) {
        return nodes.get(server).control().address();
    }

    ServedSpaces spaces(int server) {
        return nodes.get(server).memory().servedSpaces();
    }

    int count() {
        return nodes.size();
    }

    int freeRegions(int server) {
        return nodes.get(server).memory().description().freeRegions();
    }

    /** Registers a handler on all servers. */
    void register(int operation, RpcHandler handler) {
        nodes.forEach(node -> node.memory().register(operation, handler));
    }

    void unregister(int operation) {
        nodes.forEach(node -> node.memory().unregister(operation));
    }

    /** Ends a server; its clients are not notified. */
    void stop(int server) {
        nodes.get(server).control().close();
        nodes.get(server).memory().close();
    }

    @Override
    public void close() {
        for (int server = 0; server < nodes.size(); server++) {
            stop(server);
        }
    }
}
