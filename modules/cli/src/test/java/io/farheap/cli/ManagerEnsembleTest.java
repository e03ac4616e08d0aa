package io.farheap.cli;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.Buffer;
import io.farheap.cache.Cache;
import io.farheap.cache.Session;
import io.farheap.command.ManagerProcess;
import io.farheap.command.ServerProcess;
import io.farheap.control.ControlException;
import io.farheap.lifetime.Closing;
import io.farheap.manager.ManagerClient;
import io.farheap.testing.TestDevice;
import io.farheap.verbs.Devices;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Three managers in processes of their own that keep their state together. */
class ManagerEnsembleTest {

    private static final long REGION_BYTES = 1 << 20;
    private static final long PATIENCE_SECONDS = TestDevice.patience(60);

    @TempDir
    private Path data;

    private final Map<String, ManagerProcess> managers = new HashMap<>();
    private ServerProcess server;

    @AfterEach
    void close() {
        if (server != null) {
            server.close();
        }
        Closing.all(new ArrayList<>(managers.values()));
    }

    /** None of them is in use, and no two are the same. */
    private static List<Integer> freePorts(int count) throws IOException {
        List<ServerSocket> sockets = new ArrayList<>();
        try {
            for (int i = 0; i < count; i++) {
                sockets.add(new ServerSocket(0, 1, InetAddress.getLoopbackAddress()));
            }
            return sockets.stream().map(ServerSocket::getLocalPort).toList();
        } finally {
            Closing.all(sockets);
        }
    }

    private List<String> startManagers() throws IOException {
        List<Integer> ports = freePorts(6);
        String ensemble = IntStream.range(0, 3)
                .mapToObj(i -> (i + 1) + "@127.0.0.1:" + ports.get(2 * i) + ":" + ports.get(2 * i + 1))
                .collect(Collectors.joining(","));
        List<String> addresses = new ArrayList<>();
        for (int id = 1; id <= 3; id++) {
            ManagerProcess manager = ManagerProcess.start(
                    Devices.library(),
                    "127.0.0.1:0",
                    "--data",
                    data.resolve("m" + id).toString(),
                    "--ensemble",
                    ensemble,
                    "--id",
                    String.valueOf(id));
            managers.put(manager.address(), manager);
            addresses.add(manager.address());
        }
        return addresses;
    }

    /** @return the address of the one that leads, when a server reports to it */
    private String awaitLeader() throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (System.nanoTime() - deadline < 0) {
            for (String address : managers.keySet()) {
                try (ManagerClient client = ManagerClient.connect(address)) {
                    if (client.servers().size() == 1) {
                        return address;
                    }
                } catch (ControlException e) {
                    assertEquals(ControlException.Code.UNAVAILABLE, e.code(), e.getMessage());
                }
            }
            Thread.sleep(50);
        }
        throw new AssertionError("nobody leads");
    }

    @Test
    void anotherOneLeadsWhereTheLeaderIsKilled() throws Exception {
        List<String> addresses = startManagers();
        server = TestServer.start(4 * REGION_BYTES, REGION_BYTES, "--manager", String.join(",", addresses));
        String first = awaitLeader();
        for (String other : addresses) {
            if (!other.equals(first)) {
                awaitRefusal(other, "ask the one that leads, " + first);
            }
        }
        try (Cache cache = create(addresses);
                Session session = cache.openSession();
                Buffer buffer = cache.allocate(8)) {
            managers.remove(first).kill();
            buffer.segment().set(JAVA_LONG, 0, 42);
            session.writeBlocking(0, buffer, 0, 8);
            String second = awaitLeader();
            try (ManagerClient client = ManagerClient.connect(second)) {
                assertEquals(
                        cache.id(), client.list(0, 10).getFirst().allocation().cacheId());
            }
            session.readBlocking(0, buffer, 0, 8);
            assertEquals(42, buffer.segment().get(JAVA_LONG, 0));
            create(addresses).close();
        }
    }

    private static Cache create(List<String> addresses) {
        return Cache.builder()
                .capacity(REGION_BYTES)
                .manager(addresses.toArray(String[]::new))
                .device(TestDevice.client())
                .create();
    }

    private static void awaitRefusal(String address, String why) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        String said = "";
        while (!said.contains(why) && System.nanoTime() - deadline < 0) {
            said = assertThrows(ControlException.class, () -> ManagerClient.connect(address))
                    .getMessage();
            Thread.sleep(20);
        }
        assertTrue(said.contains(why), said);
    }
}
