package io.farheap.store;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.store.contract.StoreStatus;
import io.farheap.store.contract.Update;
import io.farheap.testing.Effort;
import io.farheap.tier.MemoryDevice;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares the random operations of one session with a Java map, on a log of which little is in memory. */
class RandomOperationsTest {

    private static final int KEYS = 3_000;
    private static final int OPERATIONS = Effort.count(30_000);

    private final long seed = Long.getLong("farheap.seed", System.nanoTime());
    private final SplittableRandom random = new SplittableRandom(seed);

    /** A value that the store must have: its length in bytes, and the word that it repeats. */
    private record Value(int bytes, long word) {}

    private final Map<Long, Value> expected = new HashMap<>();
    private final Set<Long> busy = new HashSet<>();
    private int open;

    @ParameterizedTest
    @ValueSource(ints = {8, 512})
    void wordsAreWhatTheyAreToBe(int alignment) {
        check(alignment, false, 0);
    }

    @ParameterizedTest
    @ValueSource(ints = {8, 512})
    void longerValuesAreWhatTheyAreToBe(int alignment) {
        check(alignment, true, 0);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void copiesOfWhatWasReadAreWhatTheyAreToBe(boolean longer) {
        check(8, longer, 8 * 4096);
    }

    private void check(int alignment, boolean longer, int cache) {
        System.out.println("seed " + seed);
        try (MemoryDevice device = new MemoryDevice(1 << 16, alignment);
                Arena arena = Arena.ofConfined()) {
            device.faults().latency(3);
            device.faults().shuffle(seed);
            FarStoreBuilder how = FarStore.builder()
                    .device(device)
                    .pageBytes(4096)
                    .memory(10 * 4096)
                    .readCache(cache)
                    .expectedKeys(KEYS / 8)
                    .pending(32);
            if (longer) {
                how.records(8, 8);
            }
            try (FarStore store = how.open();
                    StoreSession session = store.openSession()) {
                MemorySegment memory = arena.allocate(256, 8);
                for (int i = 0; i < OPERATIONS; i++) {
                    long key = random.nextInt(KEYS);
                    while (busy.contains(key)) {
                        session.poll();
                    }
                    if (longer) {
                        longer(session, arena, memory, key);
                    } else {
                        word(session, arena, memory, key);
                    }
                    if (open > 16) {
                        session.drain();
                    }
                }
                session.drain();
                for (long key = 0; key < KEYS; key++) {
                    read(session, arena, key);
                }
                session.drain();
                assertEquals(0, open);
            }
        }
    }

    private void word(StoreSession session, Arena arena, MemorySegment memory, long key) {
        long word = random.nextLong();
        int which = random.nextInt(10);
        if (which < 3) {
            memory.set(JAVA_LONG_UNALIGNED, 0, word);
            put(session, memory, key, 8, word);
        } else if (which < 4) {
            delete(session, key);
        } else if (which < 7) {
            Value old = expected.get(key);
            expected.put(key, new Value(8, old == null ? word : old.word() + word));
            update(session, key, Values.ADD, word, StoreStatus.DONE);
        } else {
            read(session, arena, key);
        }
    }

    private void longer(StoreSession session, Arena arena, MemorySegment memory, long key) {
        long word = random.nextLong();
        int which = random.nextInt(10);
        if (which < 3) {
            int bytes = 8 * random.nextInt(13);
            Values.fill(memory, 0, bytes, word);
            put(session, memory, key, bytes, word);
        } else if (which < 4) {
            delete(session, key);
        } else if (which < 7) {
            Value old = expected.get(key);
            if (old != null && old.bytes() == Values.LONGEST) {
                expected.remove(key);
            } else {
                expected.put(key, new Value(old == null ? 8 : old.bytes() + 8, word));
            }
            update(session, key, Values.GROW, word, StoreStatus.DONE);
        } else {
            read(session, arena, key);
        }
    }

    private void put(StoreSession session, MemorySegment memory, long key, int bytes, long word) {
        int status;
        while ((status = session.upsert(key, memory, 0, bytes)) == StoreStatus.FULL) {
            Calls.goOn(session);
        }
        assertEquals(StoreStatus.DONE, status);
        expected.put(key, new Value(bytes, word));
    }

    private void delete(StoreSession session, long key) {
        int status;
        while ((status = session.delete(key)) == StoreStatus.FULL) {
            Calls.goOn(session);
        }
        // A delete does not read the device before it writes a tombstone, so an absent key has either status.
        if (expected.remove(key) != null) {
            assertEquals(StoreStatus.DONE, status);
        }
    }

    private void update(StoreSession session, long key, Update update, long argument, int outcome) {
        int status;
        while ((status = session.update(
                        key, update, argument, (token, ended, bytes) -> ended(token, ended, outcome), key))
                == StoreStatus.FULL) {
            Calls.goOn(session);
        }
        if (status == StoreStatus.PENDING) {
            open++;
            busy.add(key);
        } else {
            assertEquals(outcome, status);
        }
    }

    private void ended(long key, int status, int outcome) {
        open--;
        busy.remove(key);
        assertEquals(outcome, status);
    }

    private void read(StoreSession session, Arena arena, long key) {
        MemorySegment into = arena.allocate(128, 8);
        Value value = expected.get(key);
        int status;
        while ((status = session.read(
                        key,
                        into,
                        0,
                        128,
                        (token, ended, bytes) -> {
                            open--;
                            busy.remove(key);
                            verify(key, value, ended, bytes, into);
                        },
                        key))
                == StoreStatus.FULL) {
            Calls.goOn(session);
        }
        if (status == StoreStatus.PENDING) {
            open++;
            busy.add(key);
        } else {
            verify(key, value, status, status == StoreStatus.DONE ? session.valueBytes() : 0, into);
        }
    }

    private void verify(long key, Value value, int status, int bytes, MemorySegment into) {
        if (value == null) {
            assertEquals(StoreStatus.NOT_FOUND, status, "key " + key);
            return;
        }
        assertEquals(StoreStatus.DONE, status, "key " + key);
        assertEquals(value.bytes(), bytes, "key " + key);
        for (int at = 0; at < bytes; at += 8) {
            assertEquals(value.word(), into.get(JAVA_LONG_UNALIGNED, at), "key " + key);
        }
    }
}
