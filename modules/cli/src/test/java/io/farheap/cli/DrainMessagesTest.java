package io.farheap.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.Cache;
import io.farheap.manager.grpc.ManagerClient;
import io.farheap.testing.TestDevice;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The messages about a drain in the logs of the server and of the manager, for their operator. */
@Tag("full")
class DrainMessagesTest {

    private static final long REGION_BYTES = 1 << 20;

    private String managerAddress;
    private String firstAddress;
    private CommandProcess manager;
    private CommandProcess first;
    private CommandProcess second;

    private static String freeAddress() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return "127.0.0.1:" + socket.getLocalPort();
        }
    }

    private CommandProcess server(String address) throws IOException {
        CommandProcess server = CommandProcess.start(
                Map.of(),
                "server",
                "--memory",
                "4m",
                "--region",
                "1m",
                "--listen",
                address,
                "--device",
                TestDevice.server(),
                "--manager",
                managerAddress);
        server.awaitLine("listening on " + address);
        return server;
    }

    private void awaitServers(int count) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(TestDevice.patience(60));
        try (ManagerClient client = ManagerClient.connect(managerAddress)) {
            while (client.servers().size() < count) {
                assertTrue(System.nanoTime() - deadline < 0, "the servers do not report");
                Thread.sleep(20);
            }
        }
    }

    @BeforeEach
    void start() throws Exception {
        managerAddress = freeAddress();
        manager = CommandProcess.start(Map.of(), "manager", "--temporary", "--listen", managerAddress);
        manager.awaitLine("listening on " + managerAddress);
        firstAddress = freeAddress();
        first = server(firstAddress);
        awaitServers(1);
    }

    @AfterEach
    void kill() {
        for (CommandProcess process : new CommandProcess[] {first, second, manager}) {
            if (process != null) {
                process.kill();
            }
        }
    }

    @Test
    void bothLogsSayHowADrainBeginsAndEnds() throws Exception {
        try (Cache cache = Cache.builder()
                .capacity(REGION_BYTES)
                .manager(managerAddress)
                .device(TestDevice.client())
                .create()) {
            second = server(freeAddress());
            awaitServers(2);
            assertEquals(0, Main.commandLine().execute("manager", "drain", firstAddress, "--manager", managerAddress));
            String server = "memory server " + firstAddress;
            first.awaitLine(server + " leaves within 30000 ms and waits until other servers have 1 region of 1 cache");
            first.awaitLine(server + " ends: no cache has a region here, after ");
            assertEquals(1, cache.regions());
            manager.awaitLine(server + " is asked to leave");
            manager.awaitLine(server + " leaves within 30000 ms: ");
            manager.awaitLine(server + " leaves: no cache has a region there");
        }
    }
}
