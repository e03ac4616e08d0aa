package io.farheap.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.RegionGrant;
import io.farheap.control.grpc.ControlClient;
import io.farheap.control.lease.LeaseKeeper;
import io.farheap.control.plane.ControlPlane;
import io.farheap.testing.Effort;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.TestDevice;
import io.farheap.verbs.WcStatus;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Clients that are stopped in the middle of an operation keep only their own regions from other clients. The tests
 * mostly wait for leases, so several run at the same time.
 */
@Execution(ExecutionMode.CONCURRENT)
@Needs(Need.HOST)
class StoppedClientTest {

    private static final Pattern READY = Pattern.compile("farheap server listening on (127\\.0\\.0\\.1:\\d+): .*");
    private static final int REGIONS = 4;
    private static final int HELD = 2;
    private static final long PATIENCE_NANOS = TestDevice.patience(60_000_000_000L);

    private static Child server() throws IOException {
        return new Child(
                "io.farheap.cli.Main",
                "server",
                "--memory",
                "64m",
                "--region",
                "16m",
                "--listen",
                "127.0.0.1:0",
                "--lease",
                TestDevice.patience(2) + "s",
                "--device",
                TestDevice.server());
    }

    private static String address(Child server) throws IOException {
        String line = server.line();
        Matcher matcher = READY.matcher(line);
        assertTrue(matcher.matches(), line);
        return matcher.group(1);
    }

    private static void signal(Child child, String name) throws Exception {
        assertTrue(signalled(child, name), "the client has ended");
    }

    private static boolean signalled(Child child, String name) throws Exception {
        ProcessBuilder kill = new ProcessBuilder("kill", "-" + name, Long.toString(child.process.pid()));
        return child.process.isAlive() && kill.inheritIO().start().waitFor() == 0;
    }

    private static int free(ControlPlane plane) {
        return plane.hello(ControlPlane.PROTOCOL_VERSION).freeRegions();
    }

    private static void await(String what, Callable<Boolean> condition) throws Exception {
        long start = System.nanoTime();
        while (!condition.call()) {
            assertTrue(System.nanoTime() - start < PATIENCE_NANOS, what + " has not come about");
            Thread.sleep(20);
        }
    }

    /** Starts a client that copies. If its lease ends before it has connected, on a busy machine, starts another. */
    private static Child copying(String address, ControlPlane plane, int regions, String operation) throws Exception {
        for (int attempt = 1; ; attempt++) {
            await("room", () -> free(plane) >= regions);
            Child client = new Child(StoppedClient.class.getName(), address, Integer.toString(regions), operation);
            try {
                assertEquals("copying", client.line());
                return client;
            } catch (AssertionError e) {
                client.close();
                if (attempt == 10) {
                    throw e;
                }
            }
        }
    }

    /** As {@link #copying}, and stops the client, whose lease may have ended before on a busy machine. */
    private static Child stopped(String address, ControlPlane plane, int regions, String operation) throws Exception {
        Child client = copying(address, plane, regions, operation);
        while (!signalled(client, "STOP")) {
            client.close();
            client = copying(address, plane, regions, operation);
        }
        return client;
    }

    /**
     * A stopped client whose lease has ended and for which the device waits: most stops hit a copy, and the other stops
     * are repeated.
     */
    private static Child stoppedInTheMiddle(Child server, String address, ControlPlane plane, String operation)
            throws Exception {
        for (int attempt = 0; attempt < 20; attempt++) {
            Child client = stopped(address, plane, HELD, operation);
            await("the end of the lease", () -> withdrawn(server, client) == 1 || free(plane) == REGIONS);
            if (free(plane) == REGIONS - HELD) {
                return client;
            }
            client.kill();
            client.close();
        }
        throw new AssertionError("no client was stopped in the middle of a copy");
    }

    /** The number of these clients for which the device waits although their leases have ended. */
    private static long withdrawn(Child server, Child... clients) throws IOException {
        String log = server.errors();
        return Stream.of(clients)
                .map(client -> "client stopped-" + client.process.pid() + " ")
                .filter(name -> log.lines().anyMatch(line -> line.contains(name) && line.contains("stay withdrawn")))
                .count();
    }

    @Test
    void itKeepsNothingButItsRegions() throws Exception {
        assertKeepsItsRegionsAlone("WRITE", "CONT");
    }

    @ParameterizedTest
    @CsvSource({"WRITE, KILL", "READ, CONT"})
    @Tag("full")
    void alsoOneThatIsKilledOrReadsKeepsNothingElse(String operation, String end) throws Exception {
        assertKeepsItsRegionsAlone(operation, end);
    }

    private static void assertKeepsItsRegionsAlone(String operation, String end) throws Exception {
        try (Child server = server()) {
            String address = address(server);
            try (ControlClient plane = ControlClient.connect(address);
                    Child stopped = stoppedInTheMiddle(server, address, plane, operation)) {
                asAnother(plane, REGIONS - HELD, other -> {
                    othersGoOn(plane, other);
                    assertEquals(REGIONS - HELD, free(plane));
                    assertEquals(
                            Code.OUT_OF_MEMORY,
                            assertThrows(
                                            ControlException.class,
                                            () -> plane.allocate(other.lease.id(), REGIONS - HELD + 1))
                                    .code());
                });
                signal(stopped, end);
                if (end.equals("CONT")) {
                    assertEquals("refused", stopped.line());
                }
                asAnother(plane, REGIONS, other -> plane.allocate(other.lease.id(), REGIONS)
                        .forEach(other::assertZero));
            }
        }
    }

    /** Requests of a client that is not stopped. */
    private interface Requests {
        void run(TestClient client) throws Exception;
    }

    /**
     * Runs requests of a client that renews its lease, once so many regions are free. If its lease ends all the same,
     * on a busy machine, another client runs them.
     */
    private static void asAnother(ControlPlane plane, int regions, Requests requests) throws Exception {
        for (int attempt = 1; ; attempt++) {
            await("free regions", () -> free(plane) == regions);
            try (TestClient other = new TestClient(plane)) {
                try (LeaseKeeper _ = new LeaseKeeper(plane, other.lease, (lease, cause) -> {})) {
                    requests.run(other);
                    return;
                } catch (AssertionError | ControlException e) {
                    if (attempt == 10 || hasLease(plane, other)) {
                        throw e;
                    }
                }
            }
        }
    }

    private static boolean hasLease(ControlPlane plane, TestClient client) {
        try {
            plane.renewLease(client.lease.id());
            return true;
        } catch (ControlException e) {
            return e.code() != Code.LEASE_EXPIRED;
        }
    }

    /**
     * Another client does all that uses the device: registrations, queue pairs, and the end of a lease that was not
     * renewed.
     */
    private static void othersGoOn(ControlPlane plane, TestClient other) throws Exception {
        for (int round = 0; round < Effort.either(1, 3); round++) {
            RegionGrant region = other.allocate();
            other.fill(region, round);
            other.assertFilled(region, round);
            plane.disconnect(other.lease.id(), other.connectionId());
            assertNotEquals(WcStatus.SUCCESS, other.read(region, 0));
            other.connect();
            other.assertFilled(region, round);
            plane.release(other.lease.id(), region.regionId());
            try (TestClient silent = new TestClient(plane)) {
                silent.allocate();
                assertEquals(REGIONS - HELD - 1, free(plane));
                await("the end of another lease", () -> free(plane) == REGIONS - HELD);
            }
            try (TestClient closing = new TestClient(plane)) {
                closing.allocate();
                plane.closeLease(closing.lease.id());
                assertEquals(REGIONS - HELD, free(plane));
            }
        }
    }

    @Test
    @Tag("full")
    void sigtermEndsTheServerAllTheSame() throws Exception {
        try (Child server = server()) {
            String address = address(server);
            try (ControlClient plane = ControlClient.connect(address);
                    Child _ = stoppedInTheMiddle(server, address, plane, "WRITE")) {
                server.process.toHandle().destroy();
                assertEquals(0, server.await());
            }
        }
    }

    /** The stopped client's lease has not ended yet. */
    @Test
    @Tag("full")
    void sigtermEndsTheServerThatHasNotNoticed() throws Exception {
        try (Child server = server()) {
            String address = address(server);
            try (ControlClient plane = ControlClient.connect(address);
                    Child _ = stopped(address, plane, HELD, "WRITE")) {
                server.process.toHandle().destroy();
                assertEquals(0, server.await());
            }
        }
    }

    /** Many clients are stopped at the same time: the end of one does not wait for another. */
    @Test
    @Tag("full")
    void severalStoppedClientsDoNotAddUp() throws Exception {
        try (Child server = server()) {
            String address = address(server);
            try (ControlClient plane = ControlClient.connect(address);
                    Child first = stopped(address, plane, 1, "WRITE");
                    Child second = stopped(address, plane, 1, "READ");
                    Child third = stopped(address, plane, 1, "WRITE")) {
                await("the end of all leases", () -> free(plane) + withdrawn(server, first, second, third) == REGIONS);
                asAnother(plane, free(plane), other -> other.fill(other.allocate(), 1));
                for (Child child : List.of(first, second, third)) {
                    child.kill();
                }
                await("the return of the regions", () -> free(plane) == REGIONS);
            }
        }
    }
}
