package io.farheap.cli;

import io.farheap.cache.Buffer;
import io.farheap.cache.Cache;
import io.farheap.cache.FutureSession;
import io.farheap.cache.Session;
import io.farheap.testing.TestDevice;
import io.farheap.verbs.Devices;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

/** What is opened is closed: descriptors, mappings, threads, also where construction fails and where servers are killed. */
@Timeout(120)
class LeakTest {

    private static final long REGION_BYTES = 1 << 20;

    @Test
    void aCacheLeavesNothing() {
        // The first round loads classes and starts what lives as long as the process.
        use();
        Map<String, Long> descriptors = ProcessResources.descriptors();
        Map<String, Long> mappings = ProcessResources.sharedMappings();
        Map<String, Long> threads = ProcessResources.threads();
        List<String> files = ProcessResources.sharedMemoryFiles();
        for (int round = 0; round < TestDevice.scaled(3); round++) {
            use();
        }
        assertEventually(descriptors, ProcessResources::descriptors);
        assertEventually(mappings, ProcessResources::sharedMappings);
        assertEventually(threads, ProcessResources::threads);
        assertEquals(files, ProcessResources.sharedMemoryFiles());
    }

    /** Reads, writes, sleeps, moves a region, loses a server, fails to create. */
    private static void use() {
        try (ServerProcess first = ServerProcess.start(Devices.library(), TestDevice.server(), 4 * REGION_BYTES, REGION_BYTES);
             ServerProcess second = ServerProcess.start(Devices.library(), TestDevice.server(), 4 * REGION_BYTES, REGION_BYTES)) {
            assertThrows(RuntimeException.class,
                () -> Cache.builder().capacity(100 * REGION_BYTES).servers(first.address(), second.address()).create());
            assertThrows(RuntimeException.class,
                () -> Cache.builder().capacity(REGION_BYTES).servers(first.address(), "127.0.0.1:1").create());
            try (Cache cache = Cache.builder().capacity(3 * REGION_BYTES).servers(first.address(), second.address()).create();
                 Session session = cache.openSession();
                 FutureSession futures = cache.openFutureSession();
                 Buffer buffer = cache.allocate(2 * REGION_BYTES)) {
                session.writeBlocking(0, buffer, 0, 2 * REGION_BYTES);
                session.readBlocking(5, MemorySegment.ofArray(new byte[100_000]));
                futures.read(0, MemorySegment.ofArray(new byte[100])).join();
                cache.migrate(0, second.address());
                session.readBlocking(0, buffer, 0, 2 * REGION_BYTES);
                first.kill();
            }
        }
    }

    private static <T> void assertEventually(T expected, Supplier<T> actual) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
        while (!expected.equals(actual.get()) && System.nanoTime() - deadline < 0) {
            Thread.onSpinWait();
        }
        assertEquals(expected, actual.get());
    }
}
