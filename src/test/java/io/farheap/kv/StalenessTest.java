package io.farheap.kv;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.contract.VersionedValue;
import io.farheap.kv.eviction.EvictionSettings;
import io.farheap.kv.format.SlotWord;
import io.farheap.kv.format.TestKeys;
import io.farheap.kv.space.PointerCache;
import io.farheap.lifetime.Closeables;
import io.farheap.remote.contract.VerbCounts;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Gets of a process whose values may be old for a time, by a clock that the test sets, beside another process, which
 * pays nothing for that.
 */
class StalenessTest {

    private static final long MIB = 1 << 20;
    private static final int POINTERS = 1000;
    private static final long MOST_AGE = 1_000_000_000;

    private final byte[] key = TestKeys.bytes(1);
    private volatile long now = -3_000_000_000L;

    private TestSpace space;
    private PointerCache pointers;
    private MapSession reader;
    private MapSession writer;
    private ProbedSlot slot;

    private void open(int servers) {
        space = new TestSpace(servers, 1, MIB, 100, EvictionSettings.ADAPTIVE);
        pointers = new PointerCache(POINTERS, MOST_AGE, () -> now);
        reader = space.map.openSession(pointers);
        writer = space.map.openSession(new PointerCache(POINTERS));
        slot = new ProbedSlot(space, key);
        writer.set(key, value(1));
        for (int i = 0; i < 3; i++) {
            assertArrayEquals(value(1), reader.get(key));
        }
    }

    @AfterEach
    void close() {
        Closeables.all(reader, writer, slot, space);
    }

    private static byte[] value(int number) {
        return new byte[] {(byte) number, 2, 3};
    }

    private long oneReadGets(int gets, byte[] expected) {
        VerbCounts before = reader.posted();
        for (int i = 0; i < gets; i++) {
            assertArrayEquals(expected, reader.get(key));
        }
        return 2L * gets - reader.posted().since(before).reads();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void otherProcessesPayNothingAndAHotGetIsOneRead(int servers) {
        open(servers);
        assertFalse(SlotWord.hasPointers(slot.word()), "no bit of the word says that there are pointers");
        assertEquals(0, reader.posted().swaps());
        assertEquals(30, oneReadGets(30, value(1)));
        VerbCounts before = writer.posted();
        writer.set(key, value(2));
        assertEquals(1, writer.posted().since(before).swaps(), "no mark");
        before = writer.posted();
        assertTrue(writer.delete(key));
        assertEquals(1, writer.posted().since(before).swaps(), "no mark");
    }

    @Test
    void aValueIsAsOldAsWasAskedForAndNoOlder() {
        open(1);
        writer.set(key, value(2));
        now += MOST_AGE - 3_000_000;
        assertEquals(1, oneReadGets(1, value(1)));
        now += 3_000_000;
        assertEquals(0, oneReadGets(1, value(2)));
        // What the slot has said counts from before it was asked.
        assertEquals(1, oneReadGets(1, value(2)));
        assertTrue(writer.delete(key));
        assertArrayEquals(value(2), reader.get(key));
        now += MOST_AGE;
        assertNull(reader.get(key));
    }

    /** A block that is used again says so, and then the slot is asked at once. */
    @Test
    void aBlockOfAnotherObjectIsNoOldValue() {
        open(1);
        for (int i = 0; i < 3000; i++) {
            writer.set(key, value(2));
        }
        byte[] found = reader.get(key);
        assertTrue(found[0] == 1 || found[0] == 2);
        for (int i = 0; i < 3000; i++) {
            writer.set(TestKeys.bytes(2 + i % 50), value(3));
        }
        found = reader.get(key);
        assertTrue(found[0] == 1 || found[0] == 2);
        now += MOST_AGE;
        assertArrayEquals(value(2), reader.get(key), "a pointer counts for a time");
        assertEquals(1, oneReadGets(1, value(2)), "the next one is kept");
    }

    /**
     * One get in 64 asks the slot. Once it has found what is current, and no pointer can be kept to that, the gets
     * after it find no older value.
     */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void getsOneAfterTheOtherNeverGoBack(boolean inPieces) {
        open(1);
        byte[] current = inPieces ? new byte[20_000] : null;
        if (inPieces) {
            writer.set(key, current);
        } else {
            writer.delete(key);
        }
        boolean found = false;
        for (int i = 0; i < 200; i++) {
            byte[] value = reader.get(key);
            boolean old = value != null && value.length == 3;
            assertFalse(found && old, "an older value");
            found |= !old;
        }
        assertTrue(found, "no get has asked the slot");
    }

    /** In whatever session: the process has one cache of pointers. */
    @Test
    void whatTheProcessItselfHasChangedIsNeverOld() {
        open(1);
        try (MapSession own = space.map.openSession(pointers)) {
            own.set(key, value(2));
            now += 1000;
            assertEquals(1, oneReadGets(1, value(2)), "the change has left a pointer");
            assertTrue(own.replace(key, value(3), 0));
            assertArrayEquals(value(3), reader.get(key));
            now += 1000;
            assertTrue(own.delete(key));
            assertNull(reader.get(key));
            now += 1000;
            assertTrue(own.add(key, value(4), 0));
            assertArrayEquals(value(4), reader.get(key));
            assertArrayEquals(value(4), reader.get(key));
            // A request that refuses has seen what is current, too.
            writer.set(key, value(5));
            VersionedValue old = reader.getVersioned(key);
            assertArrayEquals(value(4), old.value());
            assertFalse(own.compareAndSet(key, value(6), old.version(), 0));
            assertArrayEquals(value(5), reader.get(key));
        }
    }

    /** A process whose gets are exact sets the bit, and all mark the block of such a word. */
    @Test
    void theGetsOfAnotherProcessStayExact() {
        open(1);
        ProbedSlot.point(writer, key);
        assertTrue(SlotWord.hasPointers(slot.word()));
        reader.set(key, value(2));
        assertArrayEquals(value(2), writer.get(key));
        reader.delete(key);
        assertNull(writer.get(key));
    }

    /** As a process that opens the map asks for it; the other one has created the map and reads exactly. */
    @Test
    void aProcessAsksForValuesThatMayBeOld() {
        try (TestServers servers = new TestServers("stale")) {
            String address = servers.start(8, MIB, TestServers.LEASE_NANOS);
            try (FarMap exact = servers.named(address).memory(MIB).objects(100).create();
                    MapSession writes = exact.openSession();
                    FarMap stale = servers.named(address)
                            .staleness(Duration.ofHours(1))
                            .open();
                    MapSession reads = stale.openSession()) {
                writes.set(key, value(1));
                ProbedSlot.point(reads, key);
                writes.set(key, value(2));
                assertArrayEquals(value(1), reads.get(key));
                assertArrayEquals(value(2), writes.get(key));
                reads.set(key, value(3));
                assertArrayEquals(value(3), reads.get(key));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, 1, 9_999_999, 3_600_000_000_001L})
    void aTimeThatCannotBeIsRefused(long nanos) {
        Duration time = Duration.ofNanos(nanos);
        String why = assertThrows(
                        IllegalArgumentException.class, () -> FarMap.builder().staleness(time))
                .getMessage();
        assertEquals("a process that gets values up to " + time + " old; give zero, or PT0.01S to PT1H", why);
    }
}
