package io.farheap.cache;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.contract.Status;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** Memory that an application registers with a cache: it outlives the cache, and serves several caches. */
@ParameterizedClass(name = "{0}")
@MethodSource("io.farheap.cache.Configurations#someAndCoded")
class RegisteredSegmentTest {

    @Parameter
    private Configurations.Way way;

    private static final int REGIONS = 6;
    private static final long CAPACITY = REGIONS * Cluster.REGION_BYTES;

    private Cache create(Cluster cluster) {
        return way.builder().capacity(CAPACITY).servers(cluster.addresses()).create();
    }

    @Test
    void oneSegmentServesTwoCachesAndOutlivesBoth() {
        try (Cluster cluster = new Cluster(2 * REGIONS, 2 * REGIONS, 2 * REGIONS);
                Arena arena = Arena.ofShared()) {
            MemorySegment memory = arena.allocate(2 * 65536, 4096);
            try (Cache first = create(cluster);
                    Cache second = create(cluster);
                    CacheSession from = first.openSession();
                    CacheSession to = second.openSession()) {
                Buffer there = first.register(memory);
                Buffer here = second.register(memory.asSlice(65536, 65536));
                assertEquals(memory.byteSize(), there.bytes());
                assertEquals(memory.address(), there.segment().address());
                for (long i = 0; i < 65536; i += 8) {
                    memory.set(JAVA_LONG, i, i * 31);
                }
                from.writeBlocking(4096, there, 0, 65536);
                from.readBlocking(4096, there, 65536, 65536);
                to.writeBlocking(100, here, 0, 65536);
                memory.fill((byte) 0);
                there.close();
                there.close();
                memory.set(JAVA_LONG, 0, 17);
                assertEquals(17, memory.get(JAVA_LONG, 0));
                to.readBlocking(100, here, 0, 65536);
            }
            // The registration with the second cache has ended with that cache.
            for (long i = 0; i < 65536; i += 8) {
                assertEquals(i * 31, memory.get(JAVA_LONG, 65536 + i));
            }
        }
    }

    @Test
    void aBufferInUseIsNotClosed() {
        try (Cluster cluster = new Cluster(REGIONS, REGIONS, REGIONS);
                Arena arena = Arena.ofShared();
                Cache cache = create(cluster);
                CacheSession session = cache.openSession()) {
            Buffer buffer = cache.register(arena.allocate(65536, 4096));
            boolean[] done = new boolean[1];
            assertTrue(session.read(0, buffer, 0, 65536, (token, status) -> done[0] = status == Status.OK, 0));
            assertThrows(IllegalStateException.class, buffer::close);
            assertFalse(done[0]);
            session.drain();
            assertTrue(done[0]);
            buffer.close();
            assertThrows(IllegalStateException.class, () -> session.readBlocking(0, buffer, 0, 8));
        }
    }

    @Test
    void whatCannotBeRegisteredIsRefused() {
        try (Cluster cluster = new Cluster(REGIONS, REGIONS, REGIONS);
                Arena arena = Arena.ofShared();
                Cache cache = create(cluster)) {
            for (MemorySegment wrong : new MemorySegment[] {
                MemorySegment.ofArray(new long[8]),
                arena.allocate(64).asReadOnly(),
                arena.allocate(64).asSlice(0, 0)
            }) {
                String message = assertThrows(IllegalArgumentException.class, () -> cache.register(wrong))
                        .getMessage();
                assertTrue(message.contains("off-heap, writable and not empty"), message);
            }
            cache.close();
            assertThrows(IllegalStateException.class, () -> cache.register(arena.allocate(64)));
        }
    }
}
