package io.farheap.kv;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.grpc.ControlServer;
import io.farheap.control.plane.ControlPlane;
import io.farheap.kv.service.MapServices;
import io.farheap.server.MemoryServer;
import io.farheap.server.Planes;
import io.farheap.server.contract.ServerOptions;
import io.farheap.testing.Fields;
import io.farheap.testing.TestDevice;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.UnaryOperator;

/** Memory servers in this process for maps that take and give back memory, and objects whose values show their keys. */
public final class TestServers implements AutoCloseable {

    static final long LEASE_NANOS = TestDevice.patience(30_000_000_000L);
    public static final String TOKEN = "not a secret";
    static final int VALUE_BYTES = 900;

    private final String name;
    private final UnaryOperator<ControlPlane> around;
    private final List<MemoryServer> servers = new ArrayList<>();
    private final List<ControlServer> controls = new ArrayList<>();

    /** @param name the name of the maps */
    TestServers(String name) {
        this(name, UnaryOperator.identity());
    }

    /** Servers whose control planes a test wraps. */
    TestServers(String name, UnaryOperator<ControlPlane> around) {
        this.name = name;
        this.around = around;
    }

    /** @return the address of the new server */
    String start(int regions, long regionBytes, long leaseNanos) {
        MemoryServer server = MemoryServer.open(new ServerOptions(
                regions * regionBytes, regionBytes, leaseNanos, TestDevice.server(), name + servers.size()));
        servers.add(server);
        controls.add(ControlServer.start("127.0.0.1:0", around.apply(Planes.of(server))));
        return controls.getLast().address();
    }

    String[] startAll(int count, int regions, long regionBytes) {
        return startAll(count, regions, regionBytes, LEASE_NANOS);
    }

    String[] startAll(int count, int regions, long regionBytes, long leaseNanos) {
        for (int i = 0; i < count; i++) {
            start(regions, regionBytes, leaseNanos);
        }
        return controls.stream().map(ControlServer::address).toArray(String[]::new);
    }

    /** Ends a server, which does not notify its clients. */
    void stop(int server) {
        controls.remove(server).close();
        servers.remove(server).close();
    }

    /** A server answers no control calls any more, so leases on it end; its memory stays. */
    void silence(int server) {
        controls.get(server).close();
    }

    /** A server that was silent answers again. @param address that it had */
    void answer(int server, String address) {
        controls.set(server, ControlServer.start(address, around.apply(Planes.of(servers.get(server)))));
    }

    /** A count of the server's services. */
    long counter(int server, String count) {
        return servers.get(server).counters().getOrDefault(count, 0L);
    }

    /** A server ends, and another process begins with its address, and knows nothing of leases and spaces. */
    void restart(int server, int regions, long regionBytes, long leaseNanos) {
        String address = controls.get(server).address();
        controls.get(server).close();
        servers.get(server).close();
        servers.set(
                server,
                MemoryServer.open(new ServerOptions(
                        regions * regionBytes, regionBytes, leaseNanos, TestDevice.server(), name + server)));
        answer(server, address);
    }

    /** A server takes others for gone for good, as it does when all processes have lost them for long. */
    void takesForGone(int server, long others) throws IllegalAccessException {
        Object plane = Fields.get(servers.get(server), "plane", Object.class);
        for (Object service : Fields.get(plane, "services", List.class)) {
            if (service instanceof MapServices) {
                for (Object state : Fields.get(service, "states", Map.class).values()) {
                    Object map = ((Optional<?>) state).orElseThrow();
                    Object members = Fields.get(map, "members", Object.class);
                    Fields.field(members, "gone").setLong(members, others);
                }
            }
        }
    }

    int freeRegions(int server) {
        return servers.get(server).description().freeRegions();
    }

    void awaitFree(int server, int regions) {
        long deadline = System.nanoTime() + TestDevice.patience(20_000_000_000L);
        while (freeRegions(server) < regions && System.nanoTime() - deadline < 0) {
            LockSupport.parkNanos(100_000);
        }
        assertEquals(regions, freeRegions(server));
    }

    FarMapBuilder named(String... addresses) {
        return FarMap.builder()
                .name(name)
                .token(TOKEN)
                .device(TestDevice.client())
                .servers(addresses);
    }

    static byte[] key(int number) {
        return ByteBuffer.allocate(4).putInt(number).array();
    }

    /** @return a value that has the number of its key in every four bytes */
    static byte[] value(int number, int bytes) {
        ByteBuffer value = ByteBuffer.allocate(bytes);
        while (value.remaining() >= 4) {
            value.putInt(number);
        }
        return value.array();
    }

    static void fill(MapSession session, int from, int to) {
        for (int i = from; i < to; i++) {
            session.set(key(i), value(i, VALUE_BYTES));
        }
    }

    /** @return how many keys of a range are found, each of which must have its own value */
    static int found(MapSession session, int from, int to) {
        int found = 0;
        for (int i = from; i < to; i++) {
            byte[] value = session.get(key(i));
            if (value != null) {
                assertEquals(ByteBuffer.wrap(value(i, value.length)), ByteBuffer.wrap(value));
                found++;
            }
        }
        return found;
    }

    static void assertSound(FarMap map) {
        MapAudit audit = map.audit();
        assertTrue(audit.sound(), audit::toString);
    }

    @Override
    public void close() {
        controls.forEach(ControlServer::close);
        servers.forEach(MemoryServer::close);
    }
}
