package io.farheap.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.store.BlockingStoreSession;
import io.farheap.store.FarStore;
import io.farheap.store.StoreSession;
import io.farheap.tier.MemoryDevice;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StoreMetricsTest {

    private static final int KEYS = 4_000;
    private static final String NAME = "users of StoreMetricsTest";

    @Test
    void whatAStoreDoesIsCounted(@TempDir Path directory) throws Exception {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        Path file = directory.resolve("recording.jfr");
        try (Recording recording = new Recording();
                MemoryDevice device = new MemoryDevice(1 << 16, 512);
                FarStore store = FarStore.builder()
                        .name(NAME)
                        .device(device)
                        .pageBytes(4096)
                        .memory(8 * 4096)
                        .open();
                Arena arena = Arena.ofConfined()) {
            recording.enable("io.farheap.StoreMaintenance");
            recording.start();
            new StoreMetrics(store).bindTo(registry);
            MemorySegment memory = arena.allocate(8);
            try (StoreSession session = store.openSession()) {
                for (int key = 0; key < KEYS; key++) {
                    new BlockingStoreSession(session).upsert(key, memory, 0, 8);
                }
                new BlockingStoreSession(session).read(1, memory, 0, 8);
                new BlockingStoreSession(session).read(KEYS - 1, memory, 0, 8);
            }
            assertEquals(KEYS, counter(registry, "farheap.store.operations", "operation", "upsert"));
            assertEquals(2, counter(registry, "farheap.store.operations", "operation", "read"));
            assertEquals(1, counter(registry, "farheap.store.device.operations", "store", NAME));
            assertEquals(1, counter(registry, "farheap.store.device.reads", "store", NAME));
            double log = bytes(registry, "mutable") + bytes(registry, "read-only") + bytes(registry, "device");
            assertEquals(store.logBytes(), log);
            assertTrue(bytes(registry, "device") > 0 && bytes(registry, "mutable") > 0);
            assertEquals(store.indexBytes(), bytes(registry, "index"));
            assertTrue(Double.isNaN(
                    registry.get("farheap.store.checkpoint.age").gauge().value()));
            long given = store.compact(8192);
            assertEquals(given, counter(registry, "farheap.store.compacted", "store", NAME));
            recording.dump(file);
            List<RecordedEvent> events = RecordingFile.readAllEvents(file).stream()
                    .filter(event ->
                            event.hasField("store") && event.getString("store").equals(NAME))
                    .toList();
            assertEquals(1, events.size());
            assertEquals("compaction", events.getFirst().getString("what"));
            assertEquals(given, events.getFirst().getLong("bytes"));
            assertTrue(events.getFirst().getBoolean("done"));
        }
    }

    private static double counter(SimpleMeterRegistry registry, String name, String tag, String value) {
        return registry.get(name).tag(tag, value).functionCounter().count();
    }

    private static double bytes(SimpleMeterRegistry registry, String part) {
        return registry.get("farheap.store.bytes").tag("part", part).gauge().value();
    }
}
