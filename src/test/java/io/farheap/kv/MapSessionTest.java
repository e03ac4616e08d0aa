package io.farheap.kv;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.contract.MapException;
import io.farheap.kv.space.MapSessionCounts;
import io.farheap.testing.Effort;
import io.farheap.testing.TestDevice;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class MapSessionTest {

    private TestSpace space;

    @AfterEach
    void close() {
        space.close();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** The session's memory stays mapped as long as the session is open, so no request touches unmapped memory. */
    @Test
    void aSessionThatIsOpenWhenItsMapIsClosedSaysSo() {
        space = new TestSpace(1, 1, 1 << 20, 1000);
        MapSession session = space.map.openSession();
        session.set(bytes("a"), new byte[50_000]);
        session.get(bytes("a"));
        space.map.close();
        assertThrows(RuntimeException.class, () -> session.get(bytes("a")));
        assertThrows(RuntimeException.class, () -> session.set(bytes("a"), new byte[50_000]));
        session.close();
        assertThrows(IllegalStateException.class, space.map::weights);
        assertThrows(RuntimeException.class, space.map::stats);
    }

    @Test
    void whatIsSetIsFoundUntilItIsDeleted() {
        space = new TestSpace(2, 2, 1 << 20, 1000);
        try (MapSession session = space.map.openSession()) {
            assertNull(session.get(bytes("a")));
            assertFalse(session.delete(bytes("a")));
            session.set(bytes("a"), bytes("one"));
            assertArrayEquals(bytes("one"), session.get(bytes("a")));
            session.set(bytes("a"), bytes("two, which is longer, and in a block of another size than the first"));
            assertArrayEquals(
                    bytes("two, which is longer, and in a block of another size than the first"),
                    session.get(bytes("a")));
            assertNull(session.get(bytes("b")));
            assertTrue(session.delete(bytes("a")));
            assertNull(session.get(bytes("a")));
            session.set(bytes("a"), new byte[0]);
            assertArrayEquals(new byte[0], session.get(bytes("a")));
        }
    }

    @Test
    void keysAndValuesHaveAnyBytesUpToTheirLimits() {
        space = new TestSpace(1, 4, 1 << 20, 100);
        SplittableRandom random = new SplittableRandom(1);
        try (MapSession session = space.map.openSession()) {
            for (int keyBytes : new int[] {1, 7, 8, 9, 15, 16, 17, 1023, 1024}) {
                for (int valueBytes : new int[] {0, 1, 23, 24, 25, 4096, MapSession.MOST_OBJECT_BYTES - 1024}) {
                    byte[] key = new byte[keyBytes];
                    random.nextBytes(key);
                    byte[] value = new byte[valueBytes];
                    random.nextBytes(value);
                    session.set(key, value);
                    assertArrayEquals(value, session.get(key));
                }
            }
            assertThrows(IllegalArgumentException.class, () -> session.get(new byte[0]));
            assertThrows(IllegalArgumentException.class, () -> session.get(new byte[1025]));
            assertThrows(
                    IllegalArgumentException.class,
                    () -> session.set(new byte[8], new byte[MapSession.MOST_VALUE_BYTES + 1]));
            session.set(new byte[8], new byte[MapSession.MOST_OBJECT_BYTES - 8]);
        }
    }

    @Test
    void aKeyIsNotItsPaddedSelf() {
        space = new TestSpace(1, 2, 1 << 20, 100);
        try (MapSession session = space.map.openSession()) {
            session.set(new byte[] {1}, bytes("short"));
            session.set(new byte[] {1, 0}, bytes("long"));
            assertArrayEquals(bytes("short"), session.get(new byte[] {1}));
            assertArrayEquals(bytes("long"), session.get(new byte[] {1, 0}));
        }
    }

    @Test
    void anObjectWhoseTimeIsOverIsAbsent() {
        space = new TestSpace(1, 2, 1 << 20, 100);
        try (MapSession session = space.map.openSession()) {
            space.clock.millis = 1000;
            session.set(bytes("a"), bytes("one"), 500);
            space.clock.millis = 1499;
            assertArrayEquals(bytes("one"), session.get(bytes("a")));
            space.clock.millis = 1500;
            assertNull(session.get(bytes("a")));
        }
    }

    @Test
    void aMapThatIsFullForgetsWhatWasNotUsed() {
        space = new TestSpace(2, 2, 256 << 10, 2000);
        try (MapSession session = space.map.openSession()) {
            byte[] value = new byte[200];
            int keys = Effort.either(12_000, 20_000);
            for (int i = 0; i < keys; i++) {
                session.set(bytes("key" + i), value);
                if (i >= 100) {
                    session.get(bytes("key" + i % 100));
                }
            }
            int old = 0;
            int recent = 0;
            int hot = 0;
            for (int i = 0; i < 100; i++) {
                hot += session.get(bytes("key" + i)) == null ? 0 : 1;
                old += session.get(bytes("key" + (100 + i))) == null ? 0 : 1;
                recent += session.get(bytes("key" + (keys - 1 - i))) == null ? 0 : 1;
            }
            assertTrue(
                    session.requests().counts().of(MapSessionCounts.EVICTED) > keys / 2,
                    () -> session.requests().counts().of(MapSessionCounts.EVICTED) + " evicted");
            assertTrue(hot > 90, hot + " of those in use");
            assertEquals(0, old, "of the first");
            assertTrue(recent > 90, recent + " of the latest");
        }
    }

    /** The sizes of objects change all the time: a get finds the value that was set last, or nothing. */
    @Test
    void randomRequestsFindTheLatestOrNothing() {
        space = new TestSpace(2, 2, 512 << 10, 500);
        long seed = System.nanoTime();
        SplittableRandom random = new SplittableRandom(seed);
        Map<Integer, byte[]> model = new HashMap<>();
        int hits = 0;
        try (MapSession session = space.map.openSession()) {
            for (int i = 0; i < Effort.either(10_000, 30_000); i++) {
                int number = random.nextInt(300);
                byte[] key = bytes("k" + number);
                int what = random.nextInt(10);
                if (what < 5) {
                    byte[] found = session.get(key);
                    byte[] expected = model.get(number);
                    if (found != null) {
                        hits++;
                        assertArrayEquals(expected, found, "seed " + seed);
                    } else {
                        model.remove(number);
                    }
                } else if (what < 9) {
                    byte[] value = new byte[random.nextInt(random.nextInt(50) == 0 ? 9000 : 300)];
                    random.nextBytes(value);
                    session.set(key, value);
                    model.put(number, value);
                } else {
                    boolean there = session.delete(key);
                    assertTrue(!there || model.containsKey(number), "seed " + seed);
                    model.remove(number);
                }
            }
        }
        assertTrue(hits > Effort.either(1_500, 5_000), hits + " hits, seed " + seed);
    }

    /** Memory of small objects becomes blocks for large ones, and vice versa; meanwhile some objects find no room. */
    @Test
    void aMapThatIsFullOfOneSizeTakesAnother() {
        space = new TestSpace(2, 2, 512 << 10, 4000);
        try (MapSession session = space.map.openSession()) {
            for (int size : new int[] {100, 5000, 1500, 12_000, 10}) {
                long deadline = System.nanoTime() + TestDevice.patience(30_000_000_000L);
                int found = 0;
                while (found < 20 && System.nanoTime() - deadline < 0) {
                    found = setAndCount(session, size);
                }
                assertTrue(found >= 20, found + " found, of " + size + " bytes");
            }
        }
        MapAudit audit = space.map.audit();
        assertTrue(audit.quiet() && audit.sound(), audit::toString);
    }

    private static int setAndCount(MapSession session, int size) {
        for (int i = 0; i < 1000; i++) {
            try {
                session.set(bytes(size + " " + i), new byte[size]);
            } catch (MapException e) {
                assertTrue(String.valueOf(e.getMessage()).startsWith("there is no room"), e::toString);
            }
        }
        int found = 0;
        for (int i = 0; i < 1000; i++) {
            byte[] value = session.get(bytes(size + " " + i));
            assertTrue(value == null || value.length == size);
            found += value == null ? 0 : 1;
        }
        return found;
    }

    @Test
    void onlyOneRequestThatWaitsAtATime() {
        space = new TestSpace(1, 2, 1 << 20, 100);
        try (MapSession session = space.map.openSession()) {
            session.get(java.lang.foreign.MemorySegment.ofArray(bytes("a")), 1);
            assertThrows(IllegalStateException.class, () -> session.get(bytes("b")));
            int[] ended = {0};
            while (ended[0] == 0) {
                session.poll((tag, status, memory, at, length) -> ended[0] += (int) tag);
            }
            assertEquals(1, ended[0]);
            assertNull(session.get(Arrays.copyOf(bytes("b"), 1)));
        }
    }
}
