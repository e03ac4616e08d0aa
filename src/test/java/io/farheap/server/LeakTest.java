package io.farheap.server;

import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.RegionGrant;
import io.farheap.control.SpaceKey;
import io.farheap.control.grpc.ControlClient;
import io.farheap.control.grpc.ControlServer;
import io.farheap.control.plane.SpacePlane;
import io.farheap.server.contract.ServerOptions;
import io.farheap.testing.TestDevice;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A server and its clients give back all resources when they are closed, whatever state they were in. */
@Tag("alone")
class LeakTest {

    private static final long REGION = 1 << 20;
    private static final long LEASE = 300_000_000_000L;

    private record Usage(long descriptors, long sharedMappings, long threads, long sharedMemoryFiles) {

        static Usage now() throws IOException {
            return new Usage(
                    count(Path.of("/proc/self/fd")),
                    sharedMappingsNow(),
                    Thread.getAllStackTraces().keySet().stream()
                            .filter(thread -> thread.getName().startsWith("farheap"))
                            .count(),
                    count(Path.of("/dev/shm")));
        }

        /** Whether no count is higher than the other's; one may be lower, if the other was taken while it fell. */
        boolean within(Usage other) {
            return descriptors <= other.descriptors
                    && sharedMappings <= other.sharedMappings
                    && threads <= other.threads
                    && sharedMemoryFiles <= other.sharedMemoryFiles;
        }

        private static long sharedMappingsNow() throws IOException {
            try (Stream<String> mappings = Files.lines(Path.of("/proc/self/maps"))) {
                return mappings.filter(line -> line.contains("farheap-") || line.contains("test-"))
                        .count();
            }
        }

        private static long count(Path directory) throws IOException {
            try (Stream<Path> entries = Files.list(directory)) {
                return entries.count();
            }
        }
    }

    @Test
    void nothingIsLeft() throws Exception {
        useAndClose();
        Usage before = settled();
        for (int i = 0; i < 5; i++) {
            useAndClose();
        }
        // Netty's and softverbs' last threads may take a moment to let go.
        Usage after = Usage.now();
        for (int i = 0; i < 600 && !after.within(before); i++) {
            Thread.sleep(100);
            after = Usage.now();
        }
        assertTrue(after.within(before), before + " became " + after);
    }

    /** The usage, once it has stayed the same for a while. */
    private static Usage settled() throws Exception {
        Usage usage = Usage.now();
        for (int same = 0; same < 20; same++) {
            Thread.sleep(100);
            Usage now = Usage.now();
            if (!now.equals(usage)) {
                usage = now;
                same = 0;
            }
        }
        return usage;
    }

    private static void useAndClose() throws IOException {
        ServerOptions options = new ServerOptions(4 * REGION, REGION, LEASE, TestDevice.server(), "leak");
        try (ServerPlane one = ServerPlane.open(options);
                ControlServer oneControl = ControlServer.start("127.0.0.1:0", one);
                ServerPlane two = ServerPlane.open(options);
                ControlServer twoControl = ControlServer.start("127.0.0.1:0", two);
                ControlClient onePlane = ControlClient.connect(oneControl.address());
                ControlClient twoPlane = ControlClient.connect(twoControl.address());
                TestClient left = new TestClient(onePlane);
                TestClient right = new TestClient(twoPlane)) {
            RegionGrant from = left.allocate();
            left.fill(from, 1);
            RegionGrant to = right.allocate();
            byte[] token = onePlane.export(left.lease.id(), from.regionId()).token();
            twoPlane.pull(right.lease.id(), to.regionId(), oneControl.address(), token);
            right.assertFilled(to, 1);
            onePlane.export(left.lease.id(), from.regionId());
            SpaceKey kept = SpaceKey.of("kept", "0123456789");
            SpaceKey dropped = SpaceKey.of("dropped", "0123456789");
            for (SpaceKey key : List.of(kept, dropped)) {
                onePlane.spaces().create(left.lease.id(), key, 1, SpacePlane.FOR_EVER, new byte[0], key.hashCode());
            }
            try (TestClient third = new TestClient(onePlane)) {
                for (SpaceKey key : List.of(kept, dropped)) {
                    third.fill(
                            onePlane.spaces()
                                    .open(third.lease.id(), key)
                                    .regions()
                                    .getFirst(),
                            2);
                }
                onePlane.spaces().drop(left.lease.id(), dropped, SpacePlane.ANY_SPACE);
            }
            assertNotEquals(0, Usage.now().sharedMappings(), "the test sees no mapping at all");
        }
    }
}
