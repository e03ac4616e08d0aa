package io.farheap.cli;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.Buffer;
import io.farheap.cache.Cache;
import io.farheap.cache.CacheSession;
import io.farheap.command.ManagerProcess;
import io.farheap.command.ServerProcess;
import io.farheap.control.ControlException;
import io.farheap.lifetime.Closeables;
import io.farheap.manager.grpc.ManagerClient;
import io.farheap.testing.TestDevice;
import io.farheap.verbs.Devices;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.zookeeper.server.ServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Managers in processes of their own that share their state; one of them leads. */
@Tag("full")
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
        Closeables.all(new ArrayList<>(managers.values()));
    }

    /** Different ports of which none is in use. */
    private static List<Integer> freePorts(int count) throws IOException {
        List<ServerSocket> sockets = new ArrayList<>();
        try {
            for (int i = 0; i < count; i++) {
                sockets.add(new ServerSocket(0, 1, InetAddress.getLoopbackAddress()));
            }
            return sockets.stream().map(ServerSocket::getLocalPort).toList();
        } finally {
            Closeables.all(sockets);
        }
    }

    private List<String> startEnsemble() throws IOException {
        List<Integer> ports = freePorts(6);
        String ensemble = IntStream.range(0, 3)
                .mapToObj(i -> (i + 1) + "@127.0.0.1:" + ports.get(2 * i) + ":" + ports.get(2 * i + 1))
                .collect(Collectors.joining(","));
        return IntStream.rangeClosed(1, 3)
                .mapToObj(id -> startManager(id, "--ensemble", ensemble, "--id", String.valueOf(id)))
                .toList();
    }

    private String startManager(int id, String... options) {
        List<String> all =
                new ArrayList<>(List.of("--data", data.resolve("m" + id).toString()));
        all.addAll(List.of(options));
        ManagerProcess manager = ManagerProcess.start(Devices.library(), "127.0.0.1:0", all.toArray(String[]::new));
        managers.put(manager.address(), manager);
        return manager.address();
    }

    private void startServer(List<String> addresses) {
        server = TestServer.start(4 * REGION_BYTES, REGION_BYTES, "--manager", String.join(",", addresses));
    }

    /** @return the address of the manager that leads, once a server reports to it */
    private static String awaitLeader(Collection<String> addresses) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (System.nanoTime() - deadline < 0) {
            for (String address : addresses) {
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

    /** Stops or ends the leader. */
    private interface Blow {
        void strike(String leader) throws Exception;
    }

    /**
     * A cache stays in use without the leader; the next leader knows it, and creates another.
     *
     * @return the second leader
     */
    private String leadOn(List<String> addresses, Blow blow) throws Exception {
        startServer(addresses);
        String first = awaitLeader(addresses);
        List<String> others =
                addresses.stream().filter(address -> !address.equals(first)).toList();
        for (String other : others) {
            awaitRefusal(other, "ask the one that leads, " + first);
        }
        try (Cache cache = create(addresses);
                CacheSession session = cache.openSession();
                Buffer buffer = cache.allocate(8)) {
            blow.strike(first);
            buffer.segment().set(JAVA_LONG, 0, 42);
            session.writeBlocking(0, buffer, 0, 8);
            String second = awaitLeader(others);
            try (ManagerClient client = ManagerClient.connect(second)) {
                assertEquals(
                        cache.id(), client.list(0, 10).getFirst().allocation().cacheId());
            }
            create(others).close();
            session.readBlocking(0, buffer, 0, 8);
            assertEquals(42, buffer.segment().get(JAVA_LONG, 0));
            return second;
        }
    }

    @Test
    void anotherOneLeadsWhereTheLeaderIsKilled() throws Exception {
        leadOn(startEnsemble(), leader -> managers.remove(leader).kill());
    }

    /** When the stopped leader continues, it still believes that it leads, but can no longer write. */
    @Test
    void anotherOneLeadsWhereTheLeaderIsStopped() throws Exception {
        AtomicReference<String> stopped = new AtomicReference<>();
        String second = leadOn(startEnsemble(), leader -> {
            managers.get(leader).suspend();
            stopped.set(leader);
        });
        managers.get(stopped.get()).resume();
        awaitRefusal(stopped.get(), "ask the one that leads, " + second);
        create(List.of(stopped.get(), second)).close();
    }

    @Test
    void managersShareAZooKeeperOfTheirOperators() throws Exception {
        ServerCnxnFactory zooKeeper = ServerCnxnFactory.createFactory(new InetSocketAddress("127.0.0.1", 0), 60);
        try {
            File files = data.resolve("zookeeper").toFile();
            zooKeeper.startup(new ZooKeeperServer(files, files, 500));
            String address = "127.0.0.1:" + zooKeeper.getLocalPort();
            List<String> addresses =
                    List.of(startManager(1, "--zookeeper", address), startManager(2, "--zookeeper", address));
            leadOn(addresses, leader -> managers.remove(leader).kill());
            close();
        } finally {
            zooKeeper.shutdown();
        }
    }

    private static Cache create(List<String> addresses) {
        return Cache.builder()
                .capacity(REGION_BYTES)
                .manager(addresses.toArray(String[]::new))
                .device(TestDevice.client())
                .create();
    }

    /** A leader that was stopped answers until it notices that another manager leads. */
    private static void awaitRefusal(String address, String why) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        String said = "served";
        while (!said.contains(why) && System.nanoTime() - deadline < 0) {
            Thread.sleep(20);
            try (ManagerClient client = ManagerClient.connect(address)) {
                client.servers();
            } catch (ControlException e) {
                said = e.getMessage();
            }
        }
        assertTrue(said.contains(why), said);
    }
}
