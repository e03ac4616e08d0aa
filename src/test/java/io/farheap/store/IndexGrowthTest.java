package io.farheap.store;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.store.checkpoint.MemoryFiles;
import io.farheap.store.contract.StoreStatus;
import io.farheap.store.format.NativeWords;
import io.farheap.store.index.HashIndex;
import io.farheap.store.index.IndexTable;
import io.farheap.store.index.RecordChains;
import io.farheap.store.maintain.IndexGrowth;
import io.farheap.store.operation.StoreContext;
import io.farheap.testing.Effort;
import io.farheap.testing.FailingLog;
import io.farheap.testing.TestDevice;
import io.farheap.tier.MemoryDevice;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.Field;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

/** An index that begins with one bucket and doubles while several sessions use it. */
class IndexGrowthTest {

    private static final int SESSIONS = 3;
    private static final int KEYS = Effort.either(8_000, 20_000);

    private final long seed = Long.getLong("farheap.seed", System.nanoTime());

    @Test
    void nothingIsLostWhileItDoubles() throws Exception {
        System.out.println("seed " + seed);
        try (MemoryDevice device = new MemoryDevice(1 << 16, 8);
                FarStore store = FarStore.builder()
                        .device(device)
                        .pageBytes(4096)
                        .memory(32 * 4096)
                        .readCache(8 * 4096)
                        .expectedKeys(1)
                        .open()) {
            long before = store.indexBytes();
            long[][] sums = new long[SESSIONS][KEYS];
            try (ExecutorService threads = Executors.newFixedThreadPool(SESSIONS)) {
                List<Future<?>> ends = new ArrayList<>();
                for (int i = 0; i < SESSIONS; i++) {
                    int number = i;
                    ends.add(threads.submit(() -> {
                        add(store, sums[number], new SplittableRandom(seed + number));
                        return null;
                    }));
                }
                for (Future<?> end : ends) {
                    end.get();
                }
            }
            // The index has grown from one bucket to a size that suits the number of keys.
            assertTrue(store.indexBytes() > 64 * before, before + " bytes are " + store.indexBytes() + " now");
            try (StoreSession session = store.openSession();
                    Arena arena = Arena.ofConfined()) {
                MemorySegment into = arena.allocate(8);
                for (int key = 0; key < KEYS; key++) {
                    long sum = 0;
                    for (long[] each : sums) {
                        sum += each[key];
                    }
                    into.set(JAVA_LONG_UNALIGNED, 0, 0);
                    while (session.read(key, into, 0, 8, (token, status, bytes) -> {}, 0) == StoreStatus.FULL) {
                        Calls.goOn(session);
                    }
                    session.drain();
                    assertEquals(sum, into.get(JAVA_LONG_UNALIGNED, 0), "key " + key);
                }
            }
        }
    }

    /** A chain of a large index has no records of other buckets, so a smaller index could not find these through it. */
    @Test
    void whatHasGrownIsRecoveredAsLarge() {
        MemoryFiles files = new MemoryFiles();
        try (MemoryDevice device = new MemoryDevice(1 << 16, 8);
                Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(8);
            FarStoreBuilder how = FarStore.builder()
                    .device(device)
                    .files(files)
                    .pageBytes(4096)
                    .memory(32 * 4096)
                    .expectedKeys(1);
            try (FarStore store = how.open();
                    StoreSession session = store.openSession()) {
                for (int key = 0; key < KEYS; key++) {
                    memory.set(JAVA_LONG_UNALIGNED, 0, key);
                    new BlockingStoreSession(session).upsert(key, memory, 0, 8);
                }
                store.checkpoint();
            }
            try (FarStore store = how.open();
                    StoreSession session = store.openSession()) {
                for (int key = 0; key < KEYS; key++) {
                    assertEquals(8, new BlockingStoreSession(session).read(key, memory, 0, 8), "key " + key);
                    assertEquals(key, memory.get(JAVA_LONG_UNALIGNED, 0));
                }
            }
        }
    }

    /** The store continues with long chains and counts the failures, and its index grows when there is memory. */
    @Test
    void withoutMemoryItGoesOn() throws Exception {
        try (MemoryDevice device = new MemoryDevice(1 << 16, 8);
                Arena arena = Arena.ofConfined();
                FarStore store = small(device);
                StoreSession session = store.openSession()) {
            HashIndex index = index(store);
            index.tables = buckets -> {
                throw new OutOfMemoryError("of the test");
            };
            MemorySegment memory = arena.allocate(8);
            int key = 0;
            while (store.indexGrowthFailures() < 3) {
                new BlockingStoreSession(session).upsert(key++, memory, 0, 8);
            }
            long bytes = store.indexBytes();
            index.tables = IndexTable::new;
            while (store.indexBytes() < 4 * bytes) {
                new BlockingStoreSession(session).upsert(key++, memory, 0, 8);
            }
            for (int each = 0; each < key; each++) {
                assertEquals(8, new BlockingStoreSession(session).read(each, memory, 0, 8), "key " + each);
            }
        }
    }

    static HashIndex index(FarStore store) throws ReflectiveOperationException {
        return ((StoreContext) field(store, "parts")).index();
    }

    static Object field(FarStore store, String name) throws ReflectiveOperationException {
        Field field = FarStore.class.getDeclaredField(name);
        field.setAccessible(true);
        return field.get(store);
    }

    /** The log continues, too, whose thread starts the growth, even if the failure cannot be logged. */
    @Test
    void withoutAThreadItGoesOn() {
        assertTimeoutPreemptively(Duration.ofNanos(TestDevice.patience(60_000_000_000L)), () -> {
            try (MemoryDevice device = new MemoryDevice(1 << 16, 8);
                    Arena arena = Arena.ofConfined();
                    FarStore store = small(device);
                    StoreSession session = store.openSession();
                    FailingLog log = failingLog()) {
                IndexGrowth growth = (IndexGrowth) field(store, "growth");
                ThreadFactory threads = growth.threads;
                growth.threads = work -> {
                    throw new OutOfMemoryError("of the test");
                };
                MemorySegment memory = arena.allocate(8);
                int key = 0;
                while (store.indexGrowthFailures() < 3) {
                    new BlockingStoreSession(session).upsert(key++, memory, 0, 8);
                }
                assertTrue(log.failures() > 0);
                assertEquals(Optional.empty(), store.failure());
                growth.threads = threads;
                long bytes = store.indexBytes();
                while (store.indexBytes() < 4 * bytes) {
                    new BlockingStoreSession(session).upsert(key++, memory, 0, 8);
                }
            }
        });
    }

    private static FailingLog failingLog() {
        return new FailingLog(IndexGrowth.class, "cannot be doubled", new OutOfMemoryError("of the log"));
    }

    /**
     * The growing thread finds no memory for overflow buckets while sessions use the index. It tries again, even if the
     * failure cannot be logged.
     */
    @Test
    void withoutMemoryForLongChainsItGoesOn() {
        assertTimeoutPreemptively(Duration.ofNanos(TestDevice.patience(60_000_000_000L)), () -> {
            try (MemoryDevice device = new MemoryDevice(1 << 16, 8);
                    Arena arena = Arena.ofConfined();
                    FarStore store = small(device);
                    StoreSession session = store.openSession();
                    FailingLog log = failingLog()) {
                AtomicInteger refused = new AtomicInteger();
                index(store).tables = buckets -> new Refusing(
                        buckets,
                        () -> Thread.currentThread().getName().endsWith("-index") && refused.getAndIncrement() < 3);
                MemorySegment memory = arena.allocate(8);
                int key = 0;
                while (store.indexGrowthFailures() < 3) {
                    new BlockingStoreSession(session).upsert(key++, memory, 0, 8);
                }
                assertTrue(log.failures() > 0);
                long bytes = store.indexBytes();
                while (store.indexBytes() < 4 * bytes) {
                    new BlockingStoreSession(session).upsert(key++, memory, 0, 8);
                }
                for (int each = 0; each < key; each++) {
                    assertEquals(8, new BlockingStoreSession(session).read(each, memory, 0, 8), "key " + each);
                }
            }
        });
    }

    /** No thread waits for the failed division: the next thread that needs the bucket divides it. */
    @Test
    void aBucketThatCouldNotBeDividedIsAsItWas() {
        AtomicBoolean refusing = new AtomicBoolean(true);
        int entries = 3 * IndexTable.ENTRIES;
        // Both buckets get all entries, as if the records were on the device and could be of any keys.
        RecordChains chains = (address, bit, set) -> address;
        // The index is not closed if the test fails: a thread that waits forever still looks at its memory.
        HashIndex index = new HashIndex(1);
        index.tables = buckets -> new Refusing(buckets, refusing::get);
        for (long i = 1; i <= entries; i++) {
            point(index.findOrInsert(i << 49, chains), i);
        }
        index.grow();
        assertThrows(OutOfMemoryError.class, () -> index.divide(0, chains));
        assertThrows(
                OutOfMemoryError.class,
                () -> assertTimeoutPreemptively(
                        Duration.ofNanos(TestDevice.patience(60_000_000_000L)), () -> index.find(1L << 49, chains)));
        refusing.set(false);
        for (long i = 1; i <= entries; i++) {
            for (long bit = 0; bit <= 1; bit++) {
                long entry = index.find(i << 49 | bit, chains);
                assertEquals(i, HashIndex.address(NativeWords.getAcquire(entry)), "entry " + i);
            }
        }
        index.grown().free();
        index.close();
    }

    /** The read cache finds no entry for its copy in an index that has no memory to grow; the read succeeds. */
    @Test
    void aReadEndsWhereItsRecordCannotBeKept() {
        assertTimeoutPreemptively(Duration.ofNanos(TestDevice.patience(60_000_000_000L)), () -> {
            AtomicBoolean refusing = new AtomicBoolean();
            try (MemoryDevice device = new MemoryDevice(1 << 16, 8);
                    Arena arena = Arena.ofConfined();
                    FarStore store = full(device);
                    StoreSession session = store.openSession()) {
                MemorySegment memory = fill(session, arena);
                List<Integer> ends = new ArrayList<>();
                assertEquals(
                        StoreStatus.PENDING,
                        session.read(1, memory, 0, 8, (token, status, bytes) -> ends.add(status), 0));
                index(store).tables = buckets -> new Refusing(buckets, refusing::get);
                index(store).grow();
                refusing.set(true);
                session.drain();
                assertEquals(List.of(StoreStatus.DONE), ends);
                assertEquals(1, memory.get(JAVA_LONG_UNALIGNED, 0));
                refusing.set(false);
                assertEquals(8, new BlockingStoreSession(session).read(1, memory, 0, 8));
            }
        });
    }

    /** Otherwise the store could not be closed, since a close waits for all threads inside an operation. */
    @Test
    void whoCannotTouchARecordIsOutside() {
        assertTimeoutPreemptively(Duration.ofNanos(TestDevice.patience(60_000_000_000L)), () -> {
            try (MemoryDevice device = new MemoryDevice(1 << 16, 8);
                    Arena arena = Arena.ofConfined();
                    FarStore store = full(device)) {
                StoreSession session = store.openSession();
                fill(session, arena);
                index(store).tables = buckets -> new Refusing(buckets, () -> true);
                index(store).grow();
                assertThrows(OutOfMemoryError.class, () -> session.touchRecord(1));
                ((StoreContext) field(store, "parts")).epochs().awaitAll();
                session.close();
            }
        });
    }

    /** Stores keys of one chain of buckets, the first of which are then on the device. */
    private static MemorySegment fill(StoreSession session, Arena arena) {
        MemorySegment memory = arena.allocate(8);
        for (int key = 0; key < KEYS / 4; key++) {
            memory.set(JAVA_LONG_UNALIGNED, 0, key);
            new BlockingStoreSession(session).upsert(key, memory, 0, 8);
        }
        return memory;
    }

    private static FarStore full(MemoryDevice device) {
        return FarStore.builder()
                .device(device)
                .pageBytes(4096)
                .memory(8 * 4096)
                .readCache(8 * 4096)
                .expectedKeys(1)
                .growingIndex(false)
                .open();
    }

    private static void point(long entry, long address) {
        NativeWords.set(entry, HashIndex.pointing(NativeWords.get(entry), address));
    }

    /** A table that has no memory for overflow buckets at times. */
    static final class Refusing extends IndexTable {

        private final BooleanSupplier refuses;

        Refusing(long buckets, BooleanSupplier refuses) {
            super(buckets);
            this.refuses = refuses;
        }

        @Override
        public long allocate(int moreBuckets) {
            if (refuses.getAsBoolean()) {
                throw new OutOfMemoryError("of the test");
            }
            return super.allocate(moreBuckets);
        }
    }

    private static FarStore small(MemoryDevice device) {
        return FarStore.builder()
                .device(device)
                .pageBytes(4096)
                .memory(8 * 4096)
                .expectedKeys(1)
                .open();
    }

    private static void add(FarStore store, long[] sums, SplittableRandom random) {
        try (StoreSession session = store.openSession()) {
            for (int i = 0; i < 5 * KEYS; i++) {
                // New keys come all the time, and old ones are updated again.
                int key = random.nextInt(1 + Math.min(KEYS - 1, i / 4));
                int delta = random.nextInt(100);
                while (session.update(key, Values.ADD, delta, (token, status, bytes) -> {}, 0) == StoreStatus.FULL) {
                    Calls.goOn(session);
                }
                sums[key] += delta;
            }
        }
    }
}
