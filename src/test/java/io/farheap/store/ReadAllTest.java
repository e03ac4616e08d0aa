package io.farheap.store;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
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
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/** One request reads many keys: keys in memory, on the device, deleted and absent. */
@ParameterizedClass(name = "read cache {0}")
@ValueSource(booleans = {false, true})
class ReadAllTest {

    private static final int KEYS = 2_000;
    private static final int PENDING = 16;
    private static final int MOST = 200;
    private static final int NOT_CALLED = -1;

    @Parameter
    private boolean cached;

    private final long seed = Long.getLong("farheap.seed", System.nanoTime());
    private final SplittableRandom random = new SplittableRandom(seed);
    private final Arena arena = Arena.ofConfined();
    private final MemorySegment memory = arena.allocate((MOST + 1) * 8, 8);
    private final MemoryDevice device = new MemoryDevice(1 << 16, 512);
    /** The value of each key; 0 if the key is absent. */
    private final long[] values = new long[KEYS];

    private final long[] keys = new long[MOST];
    private final int[] statuses = new int[MOST];
    private FarStore store;
    private StoreSession session;
    private BlockingStoreSession blocking;

    @BeforeEach
    void fill() {
        System.out.println("seed " + seed);
        FarStoreBuilder how = FarStore.builder()
                .device(device)
                .pageBytes(4096)
                .memory(8 * 4096)
                .expectedKeys(KEYS / 4)
                .growingIndex(false)
                .pending(PENDING);
        store = (cached ? how.readCache(6 * 4096) : how).open();
        session = store.openSession();
        blocking = new BlockingStoreSession(session);
        for (int key = 0; key < KEYS; key++) {
            put(key, key + 1);
        }
        for (int key = 0; key < KEYS; key += 7) {
            values[key] = 0;
            blocking.delete(key);
        }
    }

    private void put(int key, long value) {
        values[key] = value;
        memory.set(JAVA_LONG_UNALIGNED, 0, value);
        blocking.upsert(key, memory, 0, 8);
    }

    @AfterEach
    void close() {
        session.close();
        store.close();
        device.close();
        arena.close();
    }

    /** A request begins anywhere in the array, and may have more keys than a group, and more than may be pending. */
    @Test
    void eachKeyIsCalledBackWithItsValue() {
        StoreCompletion done = (token, status, bytes) -> ended((int) token - 1_000, status, bytes);
        for (int round = 0; round < 300; round++) {
            for (int change = 0; change < 10; change++) {
                put(random.nextInt(KEYS), random.nextLong(1, Long.MAX_VALUE));
            }
            int from = random.nextInt(MOST);
            int count = random.nextInt(MOST - from + 1);
            for (int i = 0; i < MOST; i++) {
                keys[i] = random.nextInt(KEYS + 100);
            }
            Arrays.fill(statuses, NOT_CALLED);
            int taken = 0;
            while (taken < count) {
                taken += session.readAll(keys, from + taken, count - taken, memory, 8, 8, done, 1_000);
                if (taken < count) {
                    Calls.goOn(session);
                }
            }
            session.drain();
            for (int i = 0; i < MOST; i++) {
                check(i, i >= from && i < from + count);
            }
        }
        assertTrue(session.deviceReads() > 0, "all was in memory");
    }

    private void ended(int place, int status, int bytes) {
        assertEquals(NOT_CALLED, statuses[place], "it is called back once");
        assertEquals(status == StoreStatus.DONE ? 8 : 0, bytes);
        statuses[place] = status;
    }

    private void check(int place, boolean read) {
        long value = keys[place] < KEYS ? values[(int) keys[place]] : 0;
        int expected = !read ? NOT_CALLED : value == 0 ? StoreStatus.NOT_FOUND : StoreStatus.DONE;
        assertEquals(expected, statuses[place], "seed " + seed + ", key " + keys[place]);
        if (expected == StoreStatus.DONE) {
            assertEquals(value, memory.get(JAVA_LONG_UNALIGNED, 8 + 8L * place), "seed " + seed);
        }
    }

    /** Each key that is taken is called back, and no other key. */
    @Test
    void aFullSessionTakesWhatItHasRoomFor() {
        for (int i = 0; i < MOST; i++) {
            // These keys were written first, so they are on the device.
            keys[i] = 7L * i % 500 + 1;
        }
        Arrays.fill(statuses, NOT_CALLED);
        int taken = session.readAll(
                keys, 0, MOST, memory, 0, 8, (token, status, bytes) -> ended((int) token, status, bytes), 0);
        assertTrue(taken < MOST, "nothing waited");
        assertTrue(session.pending() <= PENDING);
        session.drain();
        for (int i = 0; i < MOST; i++) {
            assertEquals(i < taken, statuses[i] != NOT_CALLED);
        }
    }

    /** A callback may read other keys, which does not change the request that calls it. */
    @Test
    void callbacksMayReadOthers() {
        long[] last = {KEYS - 1, KEYS - 2, KEYS - 3};
        for (int i = 0; i < last.length; i++) {
            put((int) last[i], 77 + i);
        }
        int[] nested = new int[1];
        long[] sum = new long[1];
        MemorySegment others = arena.allocate(24, 8);
        StoreCompletion inner = (token, status, bytes) -> {
            assertEquals(StoreStatus.DONE, status);
            nested[0]++;
        };
        StoreCompletion outer = (token, status, bytes) -> {
            assertEquals(StoreStatus.DONE, status);
            assertEquals(3, session.readAll(last, 0, 3, others, 0, 8, inner, 0));
            sum[0] += memory.get(JAVA_LONG_UNALIGNED, 8 * token);
        };
        assertEquals(3, session.readAll(last, 0, 3, memory, 0, 8, outer, 0));
        assertEquals(9, nested[0]);
        assertEquals(77 + 78 + 79, sum[0]);
    }

    /** Every read that was taken is called back, whatever an earlier callback throws. */
    @Test
    void aCallbackThatThrowsKeepsNobodyFromTheirs() {
        put(1, 5);
        put(2, 6);
        keys[0] = 1;
        keys[1] = 2;
        int[] called = new int[1];
        IllegalStateException thrown = assertThrows(
                IllegalStateException.class,
                () -> session.readAll(
                        keys,
                        0,
                        2,
                        memory,
                        0,
                        8,
                        (token, status, bytes) -> {
                            called[0]++;
                            throw new IllegalStateException("number " + called[0]);
                        },
                        0));
        assertEquals("number 1", thrown.getMessage());
        assertEquals(2, called[0]);
        assertEquals(0, session.pending());
        assertEquals(1, session.readAll(keys, 0, 1, memory, 0, 8, (token, status, bytes) -> called[0]++, 0));
        assertEquals(3, called[0]);
    }

    @Test
    void whatDoesNotFitIsRefusedBeforeAnyIsTaken() {
        StoreCompletion none = (token, status, bytes) -> {
            throw new AssertionError("called back");
        };
        assertThrows(IndexOutOfBoundsException.class, () -> session.readAll(keys, MOST - 1, 2, memory, 0, 8, none, 0));
        assertThrows(
                IndexOutOfBoundsException.class,
                () -> session.readAll(keys, 0, 3, memory, memory.byteSize() - 16, 8, none, 0));
        assertThrows(IndexOutOfBoundsException.class, () -> session.readAll(keys, 0, 1, memory, -8, 8, none, 0));
        assertThrows(
                IllegalArgumentException.class, () -> session.readAll(keys, 0, 1, memory.asReadOnly(), 0, 8, none, 0));
        assertEquals(0, session.pending());
        assertEquals(0, session.readAll(keys, 5, 0, memory, 0, 8, none, 0));
    }
}
