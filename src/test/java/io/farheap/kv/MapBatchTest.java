package io.farheap.kv;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.contract.KvHandler;
import io.farheap.kv.contract.KvStatus;
import io.farheap.remote.contract.VerbCounts;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MapBatchTest {

    private TestSpace space;

    @AfterEach
    void close() {
        space.close();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4, 64, 1000})
    void moreKeysThanRequestsGoInAndComeOut(int requests) {
        space = new TestSpace(2, 2, 16 << 20, 2000);
        List<byte[]> keys = new ArrayList<>();
        List<byte[]> values = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            keys.add(bytes("key" + i));
            values.add(bytes("v".repeat(i)));
        }
        try (MapSession session = space.map.openSession(requests)) {
            session.setAll(keys, values, 0);
            keys.add(7, bytes("none"));
            keys.add(keys.getFirst());
            List<byte[]> found = session.getAll(keys);
            assertNull(found.remove(7));
            assertArrayEquals(values.getFirst(), found.removeLast());
            for (int i = 0; i < 300; i++) {
                assertArrayEquals(values.get(i), found.get(i));
            }
            assertEquals(List.of(), session.getAll(List.of()));
            Audit.of(space, List.of(session));
        }
    }

    @Test
    void aKeyWhoseValueIsRefusedIsNotOfTheBatch() {
        space = new TestSpace(1, 2, 1 << 20, 100);
        byte[] key = bytes("key");
        MemorySegment closed;
        try (Arena arena = Arena.ofConfined()) {
            closed = arena.allocate(8);
        }
        try (MapSession session = space.map.openSession()) {
            MapBatch batch = new MapBatch();
            assertThrows(IllegalStateException.class, () -> batch.add(MemorySegment.ofArray(bytes("other")), closed));
            assertThrows(IllegalStateException.class, () -> batch.add(closed, MemorySegment.ofArray(new byte[9])));
            assertEquals(0, batch.size());
            batch.add(MemorySegment.ofArray(key), MemorySegment.ofArray(new byte[] {1}));
            assertTrue(session.setAll(batch, 0, 0));
            session.requests().awaitAll((tag, status, memory, at, bytes) -> assertEquals(KvStatus.DONE, status));
            assertArrayEquals(new byte[] {1}, session.get(key));
            assertNull(session.get(bytes("other")));
        }
    }

    @Test
    void otherRequestsKeepTheirOrder() {
        space = new TestSpace(1, 2, 1 << 20, 100);
        try (MapSession session = space.map.openSession()) {
            MemorySegment key = MemorySegment.ofArray(bytes("key"));
            MapBatch sets = new MapBatch();
            for (int i = 0; i < 40; i++) {
                sets.add(key, MemorySegment.ofArray(new byte[] {(byte) i}));
            }
            MapBatch gets = new MapBatch();
            gets.add(key);
            List<Long> ended = new ArrayList<>();
            KvHandler handler = (tag, status, memory, at, bytes) -> {
                assertEquals(KvStatus.DONE, status);
                ended.add(tag);
            };
            assertTrue(session.get(MemorySegment.ofArray(new byte[1]), 0));
            assertTrue(session.setAll(sets, 0, 1));
            assertFalse(session.getAll(gets, 2), "another batch is under way");
            assertThrows(IllegalStateException.class, sets::clear);
            assertFalse(session.get(key, 3), "behind keys that wait for room");
            while (session.inFlight() > 0) {
                session.poll((tag, status, memory, at, bytes) -> ended.add(tag));
            }
            assertEquals(List.of(0L, 1L), ended);
            ended.clear();
            assertTrue(session.getAll(gets, 2));
            assertTrue(session.delete(key, 4));
            while (session.inFlight() > 0) {
                session.poll(handler);
            }
            assertEquals(List.of(2L, 4L), ended);
            assertArrayEquals(new byte[] {39}, gets.value(0));
            assertEquals(sets.version(39), gets.version(0));
        }
    }

    @Test
    void whatGoesTogetherIsPostedTogether() {
        space = new TestSpace(1, 2, 4 << 20, 2000);
        try (MapSession session = space.map.openSession(64)) {
            List<byte[]> keys = new ArrayList<>();
            for (int i = 0; i < 64; i++) {
                keys.add(bytes("key" + i));
                session.set(keys.get(i), bytes("value" + i));
            }
            session.getAll(keys);
            VerbCounts before = session.posted();
            session.getAll(keys);
            VerbCounts after = session.posted();
            assertTrue(after.reads() - before.reads() < 140, () -> before + " and " + after);
            assertTrue(after.doorbells() - before.doorbells() < 40, () -> before + " and " + after);
        }
    }

    @Test
    void whatCannotBeIsRefused() {
        space = new TestSpace(1, 2, 1 << 20, 100);
        try (MapSession session = space.map.openSession()) {
            MapBatch batch = new MapBatch();
            MemorySegment one = MemorySegment.ofArray(new byte[1]);
            assertThrows(IllegalArgumentException.class, () -> session.getAll(batch, 0));
            assertThrows(IllegalArgumentException.class, () -> batch.add(MemorySegment.ofArray(new byte[1025])));
            batch.add(one);
            assertThrows(IllegalArgumentException.class, () -> batch.add(one, one));
            assertThrows(IllegalArgumentException.class, () -> session.setAll(batch, 0, 0));
            batch.clear();
            batch.add(one, MemorySegment.ofArray(new byte[MapSession.MOST_VALUE_BYTES + 1]));
            assertThrows(IllegalArgumentException.class, () -> session.setAll(batch, 0, 0));
            assertThrows(IllegalArgumentException.class, () -> session.setAll(batch, -1, 0));
            assertThrows(IllegalArgumentException.class, () -> session.setAll(List.of(), List.of(new byte[1]), 0));
            assertThrows(IllegalArgumentException.class, () -> space.map.openSession(1025));
            session.set(new byte[1], new byte[1]);
            assertEquals(0, session.inFlight());
        }
    }
}
