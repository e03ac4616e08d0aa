package io.farheap.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.farheap.cache.Buffer;
import io.farheap.cache.Cache;
import io.farheap.cache.CacheSession;
import io.farheap.cache.FutureCacheSession;
import io.farheap.command.ServerProcess;
import io.farheap.soak.HeldResources;
import io.farheap.testing.Effort;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** Descriptors, mappings and threads are all closed, also if a construction fails and if servers are killed. */
@Isolated("it counts what this process holds")
class LeakTest {

    private static final long REGION_BYTES = 1 << 20;

    @Test
    void aCacheLeavesNothing() throws InterruptedException {
        // The first round loads classes and starts threads that live as long as the process.
        use();
        Map<String, Long> descriptors = HeldResources.settled(HeldResources::descriptors);
        Map<String, Long> mappings = HeldResources.settled(HeldResources::sharedMappings);
        Map<String, Long> threads = HeldResources.settled(HeldResources::threads);
        List<String> files = ProcessResources.sharedMemoryFiles();
        for (int round = 0; round < Effort.count(3); round++) {
            use();
        }
        ProcessResources.assertNoMore(descriptors, HeldResources::descriptors);
        ProcessResources.assertNoMore(mappings, HeldResources::sharedMappings);
        ProcessResources.assertNoMore(threads, HeldResources::threads);
        assertEquals(files, ProcessResources.sharedMemoryFiles());
    }

    /** Reads, writes, sleeps, moves a region, loses a server, fails to create. */
    private static void use() {
        try (ServerProcess first = TestServer.start(4 * REGION_BYTES, REGION_BYTES);
                ServerProcess second = TestServer.start(4 * REGION_BYTES, REGION_BYTES)) {
            assertThrows(RuntimeException.class, () -> Cache.builder()
                    .capacity(100 * REGION_BYTES)
                    .servers(first.address(), second.address())
                    .create());
            assertThrows(RuntimeException.class, () -> Cache.builder()
                    .capacity(REGION_BYTES)
                    .servers(first.address(), "127.0.0.1:1")
                    .create());
            try (Cache cache = Cache.builder()
                            .capacity(3 * REGION_BYTES)
                            .servers(first.address(), second.address())
                            .create();
                    CacheSession session = cache.openSession();
                    FutureCacheSession futures = cache.openFutureSession();
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
}
