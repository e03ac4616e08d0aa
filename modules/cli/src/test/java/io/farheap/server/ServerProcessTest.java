package io.farheap.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.RegionGrant;
import io.farheap.control.ServerStatus.HeadroomStatus;
import io.farheap.control.grpc.ControlClient;
import io.farheap.control.lease.LeaseKeeper;
import io.farheap.control.plane.ControlPlane;
import io.farheap.control.plane.PullResult;
import io.farheap.testing.TestDevice;
import io.farheap.verbs.WcStatus;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** {@code farheap server} as a process, and clients that die. */
class ServerProcessTest {

    private static final Pattern READY =
            Pattern.compile("farheap server listening on (127\\.0\\.0\\.1:\\d+): 4 regions of 1 MiB on \\S+");
    private static final String MAIN = "io.farheap.cli.Main";
    /** Longer than any test waits. */
    private static final String LONG_LEASE = "1000s";

    private static final long PATIENCE_NANOS = TestDevice.patience(20_000_000_000L);

    private static Child server(String... more) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                MAIN,
                "server",
                "--memory",
                "4m",
                "--region",
                "1m",
                "--listen",
                "127.0.0.1:0",
                "--device",
                TestDevice.server()));
        command.addAll(List.of(more));
        return new Child(command.toArray(String[]::new));
    }

    private static String address(Child server) throws IOException {
        String line = server.line();
        Matcher matcher = READY.matcher(line);
        assertTrue(matcher.matches(), line);
        return matcher.group(1);
    }

    private static int free(ControlPlane plane) {
        return plane.hello(ControlPlane.PROTOCOL_VERSION).freeRegions();
    }

    @Test
    void sigtermEndsItCleanlyWithClientsAttached() throws Exception {
        // The server does not wait for the lease to expire.
        try (Child server = server("--lease", LONG_LEASE);
                ControlClient plane = ControlClient.connect(address(server));
                TestClient client = new TestClient(plane)) {
            client.fill(client.allocate(), 1);

            server.process.toHandle().destroy();
            assertEquals(0, server.await());
            assertEquals("", server.errors());
        }
    }

    @Test
    @Tag("full")
    void clientsHearItsFailureDomain() throws Exception {
        try (Child server = server("--domain", "rack 7");
                ControlClient plane = ControlClient.connect(address(server))) {
            assertEquals("rack 7", plane.server().domain());
        }
        try (Child server = server("--domain", "x".repeat(300))) {
            assertTrue(server.await() != 0);
            assertTrue(server.errors().contains("a failure domain of 300 characters"), server.errors());
        }
    }

    @Test
    @Tag("full")
    void itLooksAtTheMachinesMemoryWhereItIsToKeepHeadroom() throws Exception {
        try (Child server = server("--headroom", "1%");
                ControlClient plane = ControlClient.connect(address(server))) {
            HeadroomStatus seen = plane.describe().headroom();
            for (int i = 0; i < 1000 && seen.machineBytes() == 0; i++) {
                Thread.sleep(10);
                seen = plane.describe().headroom();
            }
            assertEquals(1, seen.percent());
            assertTrue(seen.freeBytes() > 0 && seen.freeBytes() <= seen.machineBytes(), seen.toString());
        }
        try (Child server = server("--headroom", "25")) {
            assertEquals(2, server.await());
            assertTrue(server.errors().contains("such as 25%"), server.errors());
        }
        try (Child server = server("--headroom", "91%")) {
            assertEquals(1, server.await());
            assertTrue(server.errors().contains("1% to 90%"), server.errors());
        }
    }

    /** The second signal comes while the server stops, which waits a moment for a pull whose client does nothing. */
    @Test
    @Tag("full")
    void aSecondSignalEndsItAtOnce() throws Exception {
        int exit = 0;
        // Between two signals a busy machine may hold this thread for longer than the server takes to end in order.
        for (int attempt = 0; exit == 0 && attempt < 5; attempt++) {
            exit = exitAfterTwoSignals();
        }
        assertEquals(128 + 15, exit);
    }

    private static int exitAfterTwoSignals() throws Exception {
        try (Child server = server("--lease", LONG_LEASE)) {
            String address = address(server);
            try (ControlClient plane = ControlClient.connect(address);
                    TestClient client = new TestClient(plane);
                    PullLeader leader = new PullLeader()) {
                RegionGrant from = client.allocate();
                RegionGrant to = client.allocate();
                byte[] token = plane.export(client.lease.id(), from.regionId()).token();
                leader.prepare(plane, client.lease.id(), to, address, token, 0, to.length());
                CompletableFuture<PullResult> pull = CompletableFuture.supplyAsync(
                        () -> plane.pull(client.lease.id(), to.regionId(), address, token));
                leader.awaitCopied(0);
                while (server.process.isAlive()) {
                    server.process.toHandle().destroy();
                    Thread.sleep(10);
                }
                assertTrue(pull.handle((result, e) -> e != null).join());
                return server.await();
            }
        }
    }

    @Test
    void theEndOfStandardInputEndsIt() throws Exception {
        try (Child server = server("--until-stdin-closes")) {
            address(server);
            server.process.getOutputStream().close();
            assertEquals(0, server.await());
            assertEquals("", server.errors());
        }
    }

    @Test
    void aTakenAddressIsOneClearSentence() throws Exception {
        try (Child first = server();
                Child second =
                        new Child(MAIN, "server", "--memory", "1m", "--region", "1m", "--listen", address(first))) {
            assertEquals(1, second.await());
            assertTrue(second.errors().startsWith("farheap: cannot listen on 127.0.0.1:"), second.errors());
            assertEquals(1, second.errors().lines().count(), second.errors());
        }
    }

    @Test
    void aServerConfirmsThatItRunsClientsProcedures() throws Exception {
        try (Child server = server("--procedures", "java", "--threads", "1")) {
            address(server);
            assertEquals(
                    "stored procedures: clients' own classes are verified, translated and run here, on 1 thread",
                    server.line());
        }
    }

    /** Later JDKs deny Unsafe by default, and gRPC would hang without this message. */
    @Test
    void aJvmThatDeniesUnsafeIsToldWhichFlagIsMissing() throws Exception {
        try (Child server = new Child(
                "--sun-misc-unsafe-memory-access=deny",
                MAIN,
                "server",
                "--memory",
                "1m",
                "--region",
                "1m",
                "--listen",
                "127.0.0.1:0")) {
            assertEquals(1, server.await());
            assertTrue(server.errors().contains("--sun-misc-unsafe-memory-access=allow"), server.errors());
        }
    }

    @Test
    void aKilledClientGivesItsRegionsBackZeroed() throws Exception {
        long leaseSeconds = TestDevice.patience(2);
        try (Child server = server("--lease", leaseSeconds + "s")) {
            String address = address(server);
            try (ControlClient plane = ControlClient.connect(address);
                    Child holder = new Child(HoldingClient.class.getName(), address, "4")) {
                assertEquals("holding", holder.line());
                Thread.sleep(1_000 * leaseSeconds + 1_000);
                assertEquals(0, free(plane), "a lease that is renewed must not expire");

                holder.kill();
                long start = System.nanoTime();
                while (free(plane) != 4) {
                    assertTrue(
                            System.nanoTime() - start < PATIENCE_NANOS, "long after the kill, regions are still held");
                    Thread.sleep(20);
                }

                try (TestClient next = new TestClient(plane);
                        LeaseKeeper _ = new LeaseKeeper(plane, next.lease, (l, e) -> {})) {
                    plane.allocate(next.lease.id(), 4).forEach(next::assertZero);
                }
            }
        }
    }

    @Test
    @Tag("full")
    void aClientThatIsKilledWhileARegionMovesGivesBothItsRegionsBack() throws Exception {
        String lease = TestDevice.patience(2) + "s";
        try (Child first = server("--lease", lease);
                Child second = server("--lease", lease)) {
            String from = address(first);
            String to = address(second);
            try (ControlClient source = ControlClient.connect(from);
                    ControlClient destination = ControlClient.connect(to);
                    Child client = new Child(MigratingClient.class.getName(), from, to)) {
                assertEquals("moving", client.line());
                client.kill();
                long start = System.nanoTime();
                while (free(source) != 4 || free(destination) != 4) {
                    assertTrue(
                            System.nanoTime() - start < PATIENCE_NANOS, "long after the kill, regions are still held");
                    Thread.sleep(20);
                }
            }
        }
    }

    @Test
    @Tag("full")
    void aClientOfAKilledServerSeesErrorsAndNoHang() throws Exception {
        try (Child server = server("--lease", LONG_LEASE);
                ControlClient plane = ControlClient.connect(address(server));
                TestClient client = new TestClient(plane)) {
            var region = client.allocate();
            client.fill(region, 1);
            server.kill();

            long start = System.nanoTime();
            while (client.read(region, 0) == WcStatus.SUCCESS) {
                assertTrue(System.nanoTime() - start < PATIENCE_NANOS, "reads of a dead server's memory still succeed");
                Thread.sleep(10);
            }
        }
    }
}
