package io.farheap.store;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.store.contract.StoreStatus;
import io.farheap.testing.Effort;
import io.farheap.tier.MemoryDevice;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** Several sessions on the same keys at once. */
class SessionsTest {

    private static final int SESSIONS = 4;
    private static final int KEYS = 5_000;
    private static final int OPERATIONS = Effort.count(20_000);

    private final long seed = Long.getLong("farheap.seed", System.nanoTime());

    private interface Work {
        void run(StoreSession session, int number) throws Exception;
    }

    private static void together(FarStore store, Work work) throws Exception {
        try (ExecutorService threads = Executors.newFixedThreadPool(SESSIONS)) {
            List<Future<?>> ends = new ArrayList<>();
            for (int i = 0; i < SESSIONS; i++) {
                int number = i;
                ends.add(threads.submit(() -> {
                    try (StoreSession session = store.openSession()) {
                        work.run(session, number);
                    }
                    return null;
                }));
            }
            for (Future<?> end : ends) {
                end.get();
            }
        }
    }

    private static FarStoreBuilder small(MemoryDevice device) {
        return FarStore.builder()
                .device(device)
                .pageBytes(4096)
                .memory(8 * 4096)
                .readCache(6 * 4096)
                .expectedKeys(16);
    }

    /** Sessions add to counters in place, in the read-only part and on the device; the sum of all counters is right. */
    @Test
    void noUpdateIsLost() throws Exception {
        System.out.println("seed " + seed);
        try (MemoryDevice device = new MemoryDevice(1 << 16, 8);
                FarStore store = small(device).open()) {
            long[] sums = new long[SESSIONS];
            together(store, (session, number) -> {
                SplittableRandom random = new SplittableRandom(seed + number);
                for (int i = 0; i < OPERATIONS; i++) {
                    // A few keys are hot, so that updates find their keys in each part of the log.
                    long key = random.nextInt(4) == 0 ? random.nextInt(4) : random.nextInt(KEYS);
                    long add = random.nextInt(100);
                    while (true) {
                        int status = session.update(
                                key,
                                Values.ADD,
                                add,
                                (token, ended, bytes) -> assertEquals(StoreStatus.DONE, ended),
                                0);
                        if (status == StoreStatus.DONE || status == StoreStatus.PENDING) {
                            break;
                        }
                        assertEquals(StoreStatus.FULL, status);
                        Calls.goOn(session);
                    }
                    sums[number] += add;
                    if ((i & 15) == 0) {
                        session.poll();
                    }
                }
                session.drain();
            });
            long all = 0;
            for (long sum : sums) {
                all += sum;
            }
            assertEquals(all, total(store));
            assertTrue(store.logBytes() > 8 * 4096 * 2, "all of it stayed in memory");
        }
    }

    private static long total(FarStore store) {
        long[] total = new long[1];
        try (StoreSession session = store.openSession();
                Arena arena = Arena.ofConfined()) {
            MemorySegment into = arena.allocate(8);
            for (long key = 0; key < KEYS; key++) {
                int status;
                while ((status = session.read(
                                key,
                                into,
                                0,
                                8,
                                (token, ended, bytes) -> {
                                    if (ended == StoreStatus.DONE) {
                                        total[0] += into.get(JAVA_LONG_UNALIGNED, 0);
                                    }
                                },
                                0))
                        == StoreStatus.FULL) {
                    Calls.goOn(session);
                }
                if (status == StoreStatus.DONE) {
                    total[0] += into.get(JAVA_LONG_UNALIGNED, 0);
                }
                session.drain();
            }
        }
        return total[0];
    }

    /** Each value that a session writes repeats one word, so a read must never find two different words. */
    @Test
    void longValuesAreNeverTorn() throws Exception {
        System.out.println("seed " + seed);
        try (MemoryDevice device = new MemoryDevice(1 << 16, 8);
                FarStore store = small(device).records(8, 64).open()) {
            together(store, (session, number) -> {
                SplittableRandom random = new SplittableRandom(seed + number);
                try (Arena arena = Arena.ofConfined()) {
                    MemorySegment from = arena.allocate(128, 8);
                    MemorySegment into = arena.allocate(128, 8);
                    for (int i = 0; i < OPERATIONS; i++) {
                        long key = random.nextInt(8);
                        int which = random.nextInt(4);
                        if (which == 0) {
                            Values.fill(from, 0, 64, random.nextLong());
                            while (session.upsert(key, from, 0, 64) != StoreStatus.DONE) {
                                Calls.goOn(session);
                            }
                        } else if (which == 1) {
                            while (session.update(key, Values.GROW, random.nextLong(), (token, ended, bytes) -> {}, 0)
                                    == StoreStatus.FULL) {
                                Calls.goOn(session);
                            }
                        } else {
                            int status = session.read(key, into, 0, 128, (token, ended, bytes) -> same(into, bytes), 0);
                            if (status == StoreStatus.DONE) {
                                same(into, session.valueBytes());
                            }
                            session.drain();
                        }
                    }
                }
            });
        }
    }

    private static void same(MemorySegment value, int bytes) {
        for (int at = 8; at < bytes; at += 8) {
            assertEquals(value.get(JAVA_LONG_UNALIGNED, 0), value.get(JAVA_LONG_UNALIGNED, at), "a value is torn");
        }
    }
}
