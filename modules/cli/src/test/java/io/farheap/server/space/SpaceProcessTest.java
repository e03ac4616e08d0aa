package io.farheap.server.space;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.RegionGrant;
import io.farheap.control.SpaceKey;
import io.farheap.control.grpc.ControlClient;
import io.farheap.control.lease.LeaseKeeper;
import io.farheap.control.plane.ControlPlane;
import io.farheap.control.plane.SpaceGrant;
import io.farheap.control.plane.SpacePlane;
import io.farheap.server.Child;
import io.farheap.server.StoppedClient;
import io.farheap.server.TestClient;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.TestDevice;
import io.farheap.verbs.WcStatus;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Shared spaces whose clients are processes that are killed, or stopped in the middle of an operation. */
@Needs(Need.HOST)
@Tag("full")
class SpaceProcessTest {

    private static final Pattern READY = Pattern.compile("farheap server listening on (127\\.0\\.0\\.1:\\d+): .*");
    private static final int REGIONS = 4;
    private static final int SHARED = 2;
    private static final String TOKEN = "0123456789abcdef";
    private static final byte[] DESCRIPTOR = {1};
    /** The word that every such client writes everywhere. */
    private static final long WRITTEN = 0x5A5A_5A5A_5A5A_5A5AL;

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

    private static void signal(Child child, String name) throws Exception {
        assertEquals(
                0,
                new ProcessBuilder("kill", "-" + name, Long.toString(child.process.pid()))
                        .inheritIO()
                        .start()
                        .waitFor());
    }

    /** A client process that writes to all of a space, again and again. */
    private static Child writing(String address, String name) throws IOException {
        Child client = new Child(StoppedClient.class.getName(), address, "0", "WRITE", name, TOKEN);
        assertEquals("copying", client.line());
        return client;
    }

    private static void assertWritten(TestClient client, RegionGrant region) {
        for (long at = 0; at < region.length(); at += TestClient.PAGE) {
            assertEquals(WcStatus.SUCCESS, client.read(region, at));
            for (int i = 0; i < TestClient.PAGE; i += 8) {
                assertEquals(WRITTEN, client.page().get(ValueLayout.JAVA_LONG, i));
            }
        }
    }

    @Test
    void whatClientsHaveWrittenThatAreKilledStays() throws Exception {
        try (Child server = server()) {
            String address = address(server);
            SpaceKey key = SpaceKey.of("kept", TOKEN);
            try (ControlClient plane = ControlClient.connect(address);
                    TestClient creator = new TestClient(plane)) {
                SpacePlane spaces = plane.spaces();
                SpaceGrant space;
                try (LeaseKeeper _ = new LeaseKeeper(plane, creator.lease, (lease, cause) -> {})) {
                    space = spaces.create(creator.lease.id(), key, SHARED, SpacePlane.FOR_EVER, DESCRIPTOR, 1);
                    try (Child one = writing(address, "kept");
                            Child two = writing(address, "kept")) {
                        assertEquals(
                                3, spaces.list(creator.lease.id()).getFirst().leases());
                        one.kill();
                        await(
                                "the end of the first",
                                () -> spaces.list(creator.lease.id()).getFirst().leases() == 2);
                        assertTrue(two.process.isAlive());
                        assertWritten(creator, space.regions().getLast());
                        two.kill();
                    }
                }
                // No client has the space open, and no client renews a lease.
                await("the end of the creator's lease", () -> {
                    try (TestClient looks = new TestClient(plane)) {
                        boolean closed =
                                plane.spaces().list(looks.lease.id()).getFirst().leases() == 0;
                        plane.closeLease(looks.lease.id());
                        return closed;
                    }
                });
                assertEquals(REGIONS - SHARED, free(plane));
                try (TestClient later = new TestClient(plane);
                        LeaseKeeper _ = new LeaseKeeper(plane, later.lease, (lease, cause) -> {})) {
                    for (RegionGrant region : spaces.open(later.lease.id(), key).regions()) {
                        assertWritten(later, region);
                    }
                    spaces.drop(later.lease.id(), key, space.spaceId());
                    await("the return of the regions", () -> free(plane) == REGIONS);
                    plane.allocate(later.lease.id(), REGIONS).forEach(later::assertZero);
                }
            }
        }
    }

    /** Most stops hit a copy, and the other stops are repeated. */
    @Test
    void aSpaceThatIsDroppedWhileAClientIsStoppedInItStaysWithdrawn() throws Exception {
        try (Child server = server()) {
            String address = address(server);
            try (ControlClient plane = ControlClient.connect(address);
                    TestClient other = new TestClient(plane);
                    LeaseKeeper _ = new LeaseKeeper(plane, other.lease, (lease, cause) -> {})) {
                for (int attempt = 0; attempt < 20; attempt++) {
                    if (droppedInTheMiddle(server, address, plane, other, "space-" + attempt)) {
                        return;
                    }
                }
            }
        }
        throw new AssertionError("no client was stopped in the middle of a copy");
    }

    private static boolean droppedInTheMiddle(
            Child server, String address, ControlClient plane, TestClient other, String name) throws Exception {
        SpacePlane spaces = plane.spaces();
        long lease = other.lease.id();
        SpaceKey key = SpaceKey.of(name, TOKEN);
        SpaceGrant space = spaces.create(lease, key, SHARED, SpacePlane.FOR_EVER, DESCRIPTOR, name.hashCode());
        try (Child stopped = writing(address, name)) {
            signal(stopped, "STOP");
            spaces.drop(lease, key, space.spaceId());
            boolean middle = server.errors().contains("space " + name + " has ended, but an operation on it is still");
            if (!middle) {
                await("the return of the regions", () -> free(plane) == REGIONS);
                return false;
            }
            // Other clients continue, also with a new space of that name, and after the client's lease has ended.
            assertEquals(REGIONS - SHARED, free(plane));
            other.connect();
            SpaceGrant next = spaces.create(lease, key, 1, SpacePlane.FOR_EVER, DESCRIPTOR, name.hashCode() + 1);
            other.assertZero(next.regions().getFirst());
            other.fill(next.regions().getFirst(), 3);
            await("the end of the stopped client's lease", () -> server.errors()
                    .contains("client stopped-" + stopped.process.pid() + " has ended"));
            assertEquals(REGIONS - SHARED - 1, free(plane));

            signal(stopped, "CONT");
            assertEquals("refused", stopped.line());
            await("the return of the regions", () -> free(plane) == REGIONS - 1);
            other.assertFilled(next.regions().getFirst(), 3);
            plane.allocate(lease, REGIONS - 1).forEach(other::assertZero);
            return true;
        }
    }
}
