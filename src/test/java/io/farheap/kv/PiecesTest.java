package io.farheap.kv;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.contract.MapException;
import io.farheap.kv.contract.VersionedValue;
import io.farheap.kv.format.BlockFormat;
import io.farheap.kv.format.SizeClasses;
import io.farheap.kv.format.SlotWord;
import io.farheap.kv.format.ValuePieces;
import io.farheap.kv.session.KeyBatch;
import io.farheap.kv.space.GrowingMemory;
import io.farheap.kv.space.KeptBuffer;
import io.farheap.kv.space.MapSessionCounts;
import io.farheap.testing.Effort;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.LongFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Objects that one block cannot hold. */
class PiecesTest {

    private static final int MIB = 1 << 20;
    private final SplittableRandom random = new SplittableRandom(7);
    private TestSpace space;

    @AfterEach
    void close() {
        space.close();
    }

    private static byte[] key(int number) {
        return ("key " + number).getBytes(StandardCharsets.UTF_8);
    }

    private byte[] value(int bytes) {
        byte[] value = new byte[bytes];
        random.nextBytes(value);
        return value;
    }

    private void assertAllIsFreeOrNamed(long live) {
        MapAudit audit = space.map.audit();
        assertTrue(audit.quiet() && audit.sound(), audit::toString);
        assertEquals(0, audit.held() + audit.lost(), audit::toString);
        assertEquals(live, audit.named(), audit::toString);
    }

    @Test
    void anIndexSaysHowLargeItsObjectIs() {
        space = new TestSpace(1, 1, MIB, 100);
        for (int bytes = 16 << 10; bytes <= MapSession.MOST_VALUE_BYTES; bytes += 1 + bytes / 7) {
            int units = SizeClasses.units(SizeClasses.of(ValuePieces.indexUnits(0, 1024, bytes)));
            long word = SlotWord.index(SlotWord.live(5, 7, 9, units));
            assertTrue(SlotWord.isLive(word) && SlotWord.isIndex(word) && !SlotWord.isHistory(word));
            assertEquals(units, SlotWord.units(word));
            double ratio = ValuePieces.objectUnits(word) * 64.0 / bytes;
            assertTrue(ratio > 0.7 && ratio < 3, bytes + " bytes, ratio " + ratio);
            assertTrue(
                    ValuePieces.indexBytes(ValuePieces.count(0, bytes)) + BlockFormat.valueAt(0, 1024) <= units * 64);
        }
        for (int units = 1; units <= SlotWord.MOST_UNITS; units++) {
            int ofClass = SizeClasses.units(SizeClasses.of(units));
            assertFalse(SlotWord.isIndex(SlotWord.live(5, 7, 9, ofClass)));
        }
    }

    @Test
    void valuesOfAnyLengthAreFoundAndReplaced() {
        space = new TestSpace(2, 3, 16L * MIB, 1000);
        int one = MapSession.MOST_OBJECT_BYTES - 8;
        int piece = ValuePieces.bytesOf(0, Integer.MAX_VALUE / 2, 0);
        List<Integer> lengths = new ArrayList<>(List.of(
                one - 1,
                one,
                one + 1,
                piece,
                piece + 1,
                2 * piece - 1,
                2 * piece,
                16 * piece,
                17 * piece + 5,
                MIB,
                MapSession.MOST_VALUE_BYTES,
                100,
                3 * MIB,
                0));
        try (MapSession session = space.map.openSession();
                MapSession other = space.map.openSession(1)) {
            for (int bytes : lengths) {
                byte[] value = value(bytes);
                session.set(key(1), value);
                assertArrayEquals(value, session.get(key(1)));
                assertArrayEquals(value, other.get(key(1)));
            }
            session.set(key(1), value(5 * MIB));
            session.set(key(2), value(100_000));
            assertTrue(other.delete(key(1)));
            assertNull(session.get(key(1)));
            assertTrue(session.delete(key(2)));
            assertEquals(0, session.inFlight());
            assertThrows(
                    IllegalArgumentException.class,
                    () -> session.set(key(1), new byte[MapSession.MOST_VALUE_BYTES + 1]));
        }
        assertAllIsFreeOrNamed(0);
    }

    @Test
    void conditionsAndTimesToLiveHoldForThem() {
        space = new TestSpace(1, 2, 8L * MIB, 1000);
        byte[] first = value(50_000);
        byte[] second = value(70_000);
        try (MapSession session = space.map.openSession()) {
            assertFalse(session.replace(key(1), first, 0));
            assertTrue(session.add(key(1), first, 1000));
            assertFalse(session.add(key(1), second, 0));
            VersionedValue found = session.getVersioned(key(1));
            assertNotNull(found);
            assertTrue(session.touch(key(1), 5000));
            space.clock.millis += 2000;
            assertArrayEquals(first, session.get(key(1)));
            assertTrue(session.compareAndSet(key(1), second, found.version(), 1000));
            assertFalse(session.compareAndSet(key(1), first, found.version(), 0));
            assertArrayEquals(second, session.get(key(1)));
            assertThrows(MapException.class, () -> session.increment(key(1), 1));
            space.clock.millis += 2000;
            assertNull(session.get(key(1)));
            assertFalse(session.touch(key(1), 1));
        }
        assertAllIsFreeOrNamed(0);
    }

    /** A set evicts no object for a value that would not fit into an empty map either. */
    @Test
    void whatTheMapCannotHaveIsRefusedBeforeAnythingIsEvicted() {
        space = new TestSpace(2, 2, 2L * MIB, 1000);
        int objects = 500;
        try (MapSession session = space.map.openSession()) {
            for (int i = 0; i < objects; i++) {
                session.set(key(i), value(100));
            }
            MapException e =
                    assertThrows(MapException.class, () -> session.set(key(-1), new byte[MapSession.MOST_VALUE_BYTES]));
            assertEquals(MapException.of(KvStatus.NO_ROOM).getMessage(), e.getMessage());
            assertEquals(0, session.requests().counts().of(MapSessionCounts.EVICTED));
            for (int i = 0; i < objects; i++) {
                assertNotNull(session.get(key(i)), "object " + i);
            }
        }
        assertAllIsFreeOrNamed(objects);
    }

    @Test
    void aMapThatIsFullOfThemMakesRoomForMore() {
        space = new TestSpace(2, 1, 8L * MIB, 1000);
        Map<Integer, byte[]> stored = new HashMap<>();
        int hits = 0;
        try (MapSession session = space.map.openSession()) {
            for (int i = 0; i < Effort.either(500, 1000); i++) {
                int number = random.nextInt(300);
                byte[] value = value(random.nextInt(4) == 0 ? random.nextInt(500) : random.nextInt(400_000));
                session.set(key(number), value);
                stored.put(number, value);
                byte[] found = session.get(key(random.nextInt(300)));
                hits += found == null ? 0 : 1;
                int looked = random.nextInt(300);
                found = session.get(key(looked));
                if (found != null) {
                    assertArrayEquals(stored.get(looked), found);
                }
            }
            assertTrue(session.requests().counts().of(MapSessionCounts.EVICTED) > 100);
            assertTrue(hits > 10, hits + " hits");
        }
        MapAudit audit = space.map.audit();
        assertTrue(audit.quiet() && audit.sound(), audit::toString);
        assertEquals(0, audit.held() + audit.lost(), audit::toString);
    }

    @Test
    void whatTheMapHasNoRoomForIsSaidAndLeavesNothing() {
        space = new TestSpace(1, 1, 2L * MIB, 10);
        try (MapSession session = space.map.openSession()) {
            session.set(key(1), value(100));
            assertThrows(MapException.class, () -> session.set(key(2), value(3 * MIB)));
            assertNull(session.get(key(2)));
            byte[] value = value(MIB);
            session.set(key(3), value);
            assertArrayEquals(value, session.get(key(3)));
            assertTrue(session.delete(key(3)));
            session.delete(key(1));
        }
        assertAllIsFreeOrNamed(0);
    }

    /** The get ends with {@code NO_MEMORY}, and the requests after it continue. */
    @Test
    void aGetThatHasNoMemoryEndsAlone() {
        space = new TestSpace(1, 2, 8L * MIB, 1000);
        byte[] large = value(3 * MIB);
        try (MapSession writer = space.map.openSession(1);
                MapSession session = space.map.openSession(8)) {
            writer.set(key(1), large);
            writer.set(key(2), value(100));
            GrowingMemory memory = session.requests().grown().getLast();
            LongFunction<KeptBuffer> buffers = memory.buffers;
            List<LongFunction<KeptBuffer>> refusals = List.of(
                    bytes -> {
                        throw new IllegalArgumentException("refused");
                    },
                    bytes -> {
                        throw new OutOfMemoryError("refused");
                    });
            for (LongFunction<KeptBuffer> refusal : refusals) {
                memory.buffers = refusal;
                List<Integer> ends = new ArrayList<>();
                session.get(MemorySegment.ofArray(key(1)), 1);
                session.get(MemorySegment.ofArray(key(2)), 2);
                session.get(MemorySegment.ofArray(key(1)), 3);
                session.requests().awaitAll((tag, status, found, at, bytes) -> ends.add(status));
                assertEquals(List.of(KvStatus.NO_MEMORY, KvStatus.DONE, KvStatus.NO_MEMORY), ends);
                assertThrows(MapException.class, () -> session.get(key(1)));
            }
            memory.buffers = buffers;
            assertArrayEquals(large, session.get(key(1)));
        }
    }

    /** So do sets of a batch, whose other keys are stored. */
    @Test
    void setsThatHaveNoMemoryEndAlone() {
        space = new TestSpace(1, 2, 8L * MIB, 1000);
        byte[] large = value(3 * MIB);
        byte[] small = value(100);
        try (MapSession session = space.map.openSession(2)) {
            GrowingMemory memory = session.requests().grown().getFirst();
            LongFunction<KeptBuffer> buffers = memory.buffers;
            memory.buffers = bytes -> {
                throw new OutOfMemoryError("refused");
            };
            List<byte[]> keys = List.of(key(1), key(2), key(3), key(4));
            KeyBatch batch = KeyBatch.of(keys, List.of(large, small, large, small));
            for (int round = 0; round < 2; round++) {
                List<Integer> ends = new ArrayList<>();
                assertTrue(session.requests().setAll(batch, 0, 7));
                session.requests().awaitAll((tag, status, found, at, bytes) -> ends.add(status));
                assertEquals(List.of(round == 0 ? KvStatus.NO_MEMORY : KvStatus.DONE), ends);
                for (int i = 0; i < keys.size(); i++) {
                    boolean is = i % 2 == 1 || round == 1;
                    assertEquals(is ? KvStatus.DONE : KvStatus.NO_MEMORY, batch.status(i));
                    assertArrayEquals(is ? i % 2 == 1 ? small : large : null, session.get(keys.get(i)));
                }
                if (round == 0) {
                    assertThrows(MapException.class, () -> session.set(key(5), large));
                    assertNull(session.get(key(5)));
                    memory.buffers = buffers;
                }
            }
            keys.forEach(session::delete);
        }
        assertAllIsFreeOrNamed(0);
    }

    /** A session stores one value and reads one value at a time; the others wait, and all requests end in order. */
    @Test
    void manyAreUnderWay() {
        space = new TestSpace(2, 2, 16L * MIB, 1000);
        List<byte[]> keys = new ArrayList<>();
        List<byte[]> values = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            keys.add(key(i));
            values.add(value(i % 3 == 0 ? 10 : 20_000 * (i + 1)));
        }
        try (MapSession session = space.map.openSession(8)) {
            session.setAll(keys, values, 0);
            List<byte[]> found = session.getAll(keys);
            for (int i = 0; i < keys.size(); i++) {
                assertArrayEquals(values.get(i), found.get(i), "value " + i);
            }
            List<Long> tags = new ArrayList<>();
            int begun = 0;
            while (tags.size() < 200) {
                boolean more = begun < 200;
                if (more) {
                    int number = begun % 40;
                    MemorySegment key = MemorySegment.ofArray(keys.get(number));
                    more = begun % 7 == 6
                            ? session.set(key, MemorySegment.ofArray(values.get(number)), 0, begun)
                            : session.get(key, begun);
                    begun += more ? 1 : 0;
                }
                if (!more) {
                    session.poll((tag, status, memory, at, bytes) -> {
                        assertEquals(KvStatus.DONE, status);
                        tags.add(tag);
                        if (tag % 7 != 6) {
                            byte[] copy = new byte[bytes];
                            MemorySegment.copy(memory, at, MemorySegment.ofArray(copy), 0, bytes);
                            assertArrayEquals(values.get((int) (tag % 40)), copy, "request " + tag);
                        }
                    });
                }
            }
            for (int i = 0; i < 200; i++) {
                assertEquals(i, tags.get(i));
            }
        }
    }
}
