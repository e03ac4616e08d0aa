package io.farheap.cache;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.farheap.cache.route.MigrationLinks;
import io.farheap.cache.session.DataPath;
import io.farheap.memory.RegisteredMemory;
import io.farheap.remote.server.ServerLinks;
import io.farheap.remote.server.ServerRing;
import io.farheap.rpc.batch.BatchConnection;
import io.farheap.testing.Fields;
import io.farheap.testing.Held;
import io.farheap.verbs.Context;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** If one part of a session or a cache cannot be closed, the other parts are closed, and then the device. */
class ClosingTest {

    @Test
    void ofASession() throws ReflectiveOperationException {
        try (Cluster cluster = new Cluster(2, 2);
                Cache cache = Cache.builder()
                        .capacity(4 * Cluster.REGION_BYTES)
                        .servers(cluster.addresses())
                        .configuration(Configurations.BATCHED)
                        .create()) {
            CacheSession session = cache.openSession();
            session.writeBlocking(0, MemorySegment.ofArray(new byte[(int) cache.capacity()]));
            MigrationLinks rings =
                    Fields.get(session.core().dataPath, "now", DataPath.class).links();
            Map<?, ?> links = Fields.get(Fields.get(rings, "links", ServerLinks.class), "links", Map.class);
            assertEquals(2, links.size());
            BatchConnection first =
                    Fields.get(links.get(0), "end", ServerRing.class).connection();
            RegisteredMemory memory =
                    Fields.get(Fields.get(first, "writer", Object.class), "responses", RegisteredMemory.class);
            Context context = cache.context();
            assertInstanceOf(IllegalStateException.class, Held.during(memory.segment(), session::close));
            memory.close();
            assertDoesNotThrow(() -> cache.close());
            assertThrows(IllegalStateException.class, context::ports, "the device is open");
        }
    }

    @Test
    void ofACache() throws ReflectiveOperationException {
        try (Cluster cluster = new Cluster(2, 2);
                Cache cache = Cache.builder()
                        .capacity(4 * Cluster.REGION_BYTES)
                        .servers(cluster.addresses())
                        .create()) {
            Context context = cache.context();
            RegisteredMemory memory = Fields.get(cache.allocate(4096), "memory", RegisteredMemory.class);
            cache.allocate(4096);
            assertInstanceOf(IllegalStateException.class, Held.during(memory.segment(), cache::close));
            memory.close();
            assertThrows(IllegalStateException.class, context::ports, "the device is open");
        }
    }
}
