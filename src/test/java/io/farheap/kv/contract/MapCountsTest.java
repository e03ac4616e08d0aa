package io.farheap.kv.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.MapSession;
import io.farheap.kv.TestSpace;
import io.farheap.kv.eviction.EvictionSettings;
import io.farheap.metrics.MapMetrics;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The figures that a map reports while it is used. */
class MapCountsTest {

    private TestSpace space;

    @AfterEach
    void close() {
        space.close();
    }

    private static byte[] key(int number) {
        return ByteBuffer.allocate(8).putInt(0, number).array();
    }

    private static void use(MapSession session) {
        session.set(key(1), new byte[10]);
        session.set(key(2), new byte[40_000]);
        session.get(key(1));
        session.get(key(2));
        assertNull(session.get(key(3)));
        assertFalse(session.add(key(1), new byte[1], 0));
        assertTrue(session.touch(key(1), 0));
        assertTrue(session.delete(key(1)));
        assertFalse(session.delete(key(1)));
    }

    private static double count(SimpleMeterRegistry registry, String name, String tag, String value) {
        return registry.get(name)
                .tags("map", "map", tag, value)
                .functionCounter()
                .count();
    }

    @Test
    void sessionsAreAddedUpAlsoWhenTheyAreClosed() {
        space = new TestSpace(1, 2, 1 << 20, 1000);
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        new MapMetrics(space.map).bindTo(registry);
        try (MapSession open = space.map.openSession()) {
            use(open);
            try (MapSession closed = space.map.openSession()) {
                use(closed);
            }
            MapCounts counts = space.map.counts();
            assertEquals(4, counts.hits());
            assertEquals(2, counts.misses());
            assertEquals(4, counts.stored());
            assertEquals(2, counts.refused());
            assertEquals(2, counts.touched());
            assertEquals(2, counts.deleted());
            assertEquals(0, counts.evicted() + counts.noRoom() + counts.lost() + counts.unlinked());
            assertEquals(4.0 / 6, counts.hitRatio(), 1e-9);
            assertTrue(counts.posted().reads() > open.posted().reads());

            assertEquals(4, count(registry, "farheap.map.requests", "outcome", "hit"));
            assertEquals(2, count(registry, "farheap.map.requests", "outcome", "miss"));
            assertEquals(4, count(registry, "farheap.map.requests", "outcome", "stored"));
            assertEquals(counts.posted().swaps(), count(registry, "farheap.map.posted", "kind", "compare-and-swap"));
        }
    }

    @Test
    void whoNamedWhatWasEvictedIsSaid() {
        space = new TestSpace(1, 1, 1 << 20, 1000, EvictionSettings.of("lru,lfu"));
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        new MapMetrics(space.map).bindTo(registry);
        try (MapSession session = space.map.openSession()) {
            for (int round = 0; round < 3; round++) {
                for (int i = 0; i < 1500; i++) {
                    session.get(key(i));
                    session.set(key(i), new byte[900]);
                }
            }
        }
        MapCounts counts = space.map.counts();
        assertEquals(List.of("lru", "lfu"), List.copyOf(counts.evictedBy().keySet()));
        assertTrue(counts.evicted() > 1000);
        long named =
                counts.evictedBy().values().stream().mapToLong(Long::longValue).sum();
        assertTrue(named >= counts.evicted(), counts::toString);
        assertTrue(counts.regrets().get("lru") > 0, counts::toString);
        assertEquals((double) counts.evictedBy().get("lru"), count(registry, "farheap.map.evictions", "expert", "lru"));
        double weights = 0;
        for (String expert : List.of("lru", "lfu")) {
            weights += registry.get("farheap.map.weight")
                    .tags("expert", expert)
                    .gauge()
                    .value();
        }
        assertEquals(1, weights, 0.01);
    }

    @Test
    void aRecordingHasThem() throws Exception {
        space = new TestSpace(1, 1, 1 << 20, 1000);
        Path file = Files.createTempFile("farheap-map", ".jfr");
        try (Recording recording = new Recording();
                MapSession session = space.map.openSession()) {
            recording.enable("io.farheap.MapStatistics").with("period", "endChunk");
            recording.start();
            use(session);
            recording.stop();
            recording.dump(file);
            List<RecordedEvent> events = RecordingFile.readAllEvents(file).stream()
                    .filter(event -> event.getEventType().getName().equals("io.farheap.MapStatistics"))
                    .toList();
            assertFalse(events.isEmpty());
            assertEquals(2, events.getLast().getLong("hits"));
            assertEquals("map", events.getLast().getString("map"));
        } finally {
            Files.delete(file);
        }
    }
}
