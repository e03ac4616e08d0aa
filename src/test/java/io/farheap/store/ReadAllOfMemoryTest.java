package io.farheap.store;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.store.contract.StoreCompletion;
import io.farheap.store.contract.StoreStatus;
import io.farheap.tier.MemoryDevice;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** One request reads many keys of different lengths: keys in memory, on the device, deleted and absent. */
class ReadAllOfMemoryTest {

    private static final int KEYS = 1_500;
    private static final int PENDING = 16;
    private static final int MOST = 150;
    private static final int MOST_KEY_BYTES = 40;
    private static final int ROOM = 24;
    private static final int NOT_CALLED = -1;

    private final long seed = Long.getLong("farheap.seed", System.nanoTime());
    private final SplittableRandom random = new SplittableRandom(seed);
    private final Arena arena = Arena.ofConfined();
    private final MemorySegment values = arena.allocate((long) MOST * ROOM, 8);
    private final MemorySegment keys = arena.allocate((long) MOST * MOST_KEY_BYTES, 1);
    private final int[] ends = new int[MOST];
    private final int[] statuses = new int[MOST];
    private final int[] lengths = new int[MOST];
    /** The value of each key, by the key's number; null if the key is absent. */
    private final byte[][] stored = new byte[KEYS][];

    private final MemoryDevice device = new MemoryDevice(1 << 16, 512);
    private FarStore store;
    private StoreSession session;
    private BlockingStoreSession blocking;

    @BeforeEach
    void fill() {
        System.out.println("seed " + seed);
        store = FarStore.builder()
                .device(device)
                .pageBytes(4096)
                .memory(8 * 4096)
                .records(MOST_KEY_BYTES, ROOM)
                .expectedKeys(KEYS / 4)
                .growingIndex(false)
                .pending(PENDING)
                .open();
        session = store.openSession();
        blocking = new BlockingStoreSession(session);
        for (int i = 0; i < KEYS; i++) {
            put(i);
        }
        for (int i = 0; i < KEYS; i += 7) {
            stored[i] = null;
            MemorySegment key = MemorySegment.ofArray(key(i));
            blocking.delete(key, 0, (int) key.byteSize());
        }
    }

    @AfterEach
    void close() {
        session.close();
        store.close();
        device.close();
        arena.close();
    }

    /** @return a key of 4 to 40 bytes; keys of one length differ in their first four bytes only */
    private static byte[] key(int number) {
        byte[] key = new byte[4 + number % (MOST_KEY_BYTES - 3)];
        MemorySegment.ofArray(key).set(JAVA_INT_UNALIGNED, 0, number);
        return key;
    }

    private void put(int number) {
        byte[] value = new byte[random.nextInt(ROOM + 8)];
        random.nextBytes(value);
        MemorySegment key = MemorySegment.ofArray(key(number));
        blocking.upsert(key, 0, (int) key.byteSize(), MemorySegment.ofArray(value), 0, value.length);
        stored[number] = value;
    }

    private int addKey(int place, int begin, int number) {
        byte[] key = key(number);
        MemorySegment.copy(key, 0, keys, JAVA_BYTE, begin, key.length);
        ends[place] = begin + key.length;
        return ends[place];
    }

    @Test
    void eachKeyIsCalledBackWithItsValue() {
        int[] numbers = new int[MOST];
        for (int round = 0; round < 200; round++) {
            for (int change = 0; change < 10; change++) {
                put(random.nextInt(KEYS));
            }
            int end = 0;
            for (int i = 0; i < MOST; i++) {
                numbers[i] = random.nextInt(KEYS + 100);
                end = addKey(i, end, numbers[i]);
            }
            int from = random.nextInt(MOST);
            int count = random.nextInt(MOST - from + 1);
            Arrays.fill(statuses, NOT_CALLED);
            for (int taken = 0; taken < count; ) {
                taken += session.readAll(keys, ends, from + taken, count - taken, values, 0, ROOM, this::called, 0);
                if (taken < count) {
                    Calls.goOn(session);
                }
            }
            // The session does not read the keys' memory any more once it has taken all keys.
            keys.fill((byte) 0xff);
            session.drain();
            for (int i = 0; i < MOST; i++) {
                check(i, numbers[i], i >= from && i < from + count);
            }
        }
        assertTrue(session.deviceReads() > 0, "all was in memory");
    }

    private void called(long token, int status, int bytes) {
        int place = (int) token;
        assertEquals(NOT_CALLED, statuses[place], "it is called back once");
        statuses[place] = status;
        lengths[place] = bytes;
    }

    private void check(int place, int number, boolean read) {
        String what = "seed " + seed + ", key " + number;
        byte[] value = number < KEYS ? stored[number] : null;
        int expected = !read
                ? NOT_CALLED
                : value == null ? StoreStatus.NOT_FOUND : value.length > ROOM ? StoreStatus.TOO_LONG : StoreStatus.DONE;
        assertEquals(expected, statuses[place], what);
        if (expected == StoreStatus.DONE) {
            assertEquals(value.length, lengths[place], what);
            MemorySegment there = values.asSlice((long) place * ROOM, value.length);
            assertEquals(-1, MemorySegment.ofArray(value).mismatch(there), what);
        }
    }

    /** The keys that a callback reads do not mix with the keys of the request that calls it. */
    @Test
    void callbacksMayReadOthers() {
        int number = 100;
        for (int i = 0; i < 3; i++) {
            stored[number + i] = null;
        }
        int end = 0;
        for (int i = 0; i < 3; i++) {
            put(number + i);
            end = addKey(i, end, number + i);
        }
        int[] inner = new int[1];
        MemorySegment others = arena.allocate(3 * 64, 8);
        StoreCompletion nested = (token, status, bytes) -> {
            assertEquals(StoreStatus.DONE, status);
            byte[] value = stored[number + (int) token];
            assertEquals(-1, MemorySegment.ofArray(value).mismatch(others.asSlice(token * 64, value.length)));
            inner[0]++;
        };
        Arrays.fill(statuses, NOT_CALLED);
        assertEquals(
                3,
                session.readAll(
                        keys,
                        ends,
                        0,
                        3,
                        values,
                        0,
                        ROOM,
                        (token, status, bytes) -> {
                            called(token, status, bytes);
                            assertEquals(3, session.readAll(keys, ends, 0, 3, others, 0, 64, nested, 0));
                        },
                        0));
        for (int i = 0; i < 3; i++) {
            check(i, number + i, true);
        }
        assertEquals(9, inner[0]);
    }

    @Test
    void whatDoesNotFitIsRefusedBeforeAnyIsTaken() {
        StoreCompletion none = (token, status, bytes) -> {
            throw new AssertionError("called back");
        };
        int end = addKey(1, addKey(0, 0, 1), 2);
        assertThrows(
                IndexOutOfBoundsException.class,
                () -> session.readAll(keys, ends, MOST - 1, 2, values, 0, ROOM, none, 0));
        assertThrows(
                IndexOutOfBoundsException.class,
                () -> session.readAll(keys, ends, 0, 2, values, values.byteSize() - ROOM, ROOM, none, 0));
        ends[1] = ends[0];
        assertTrue(assertThrows(
                        IllegalArgumentException.class,
                        () -> session.readAll(keys, ends, 0, 2, values, 0, ROOM, none, 0))
                .getMessage()
                .contains("a key of 0 bytes"));
        ends[1] = ends[0] - 1;
        assertThrows(
                IndexOutOfBoundsException.class, () -> session.readAll(keys, ends, 0, 2, values, 0, ROOM, none, 0));
        ends[1] = ends[0] + MOST_KEY_BYTES + 1;
        assertThrows(IllegalArgumentException.class, () -> session.readAll(keys, ends, 0, 2, values, 0, ROOM, none, 0));
        ends[1] = end;
        MemorySegment shorter = keys.asSlice(0, end - 1);
        assertThrows(
                IndexOutOfBoundsException.class, () -> session.readAll(shorter, ends, 0, 2, values, 0, ROOM, none, 0));
        MemorySegment closed;
        try (Arena other = Arena.ofConfined()) {
            closed = other.allocate(64);
        }
        assertThrows(IllegalStateException.class, () -> session.readAll(closed, ends, 0, 2, values, 0, ROOM, none, 0));
        assertThrows(IllegalStateException.class, () -> session.readAll(keys, ends, 0, 2, closed, 0, ROOM, none, 0));
        assertEquals(0, session.pending());
        assertEquals(0, session.readAll(keys, ends, 1, 0, values, 0, ROOM, none, 0));
    }
}
