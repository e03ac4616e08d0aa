package io.farheap.store;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.Cache;
import io.farheap.cache.Cluster;
import io.farheap.kv.Codec;
import io.farheap.store.checkpoint.MemoryFiles;
import io.farheap.store.contract.CheckpointKind;
import io.farheap.store.contract.StoreStatus;
import io.farheap.store.format.SpinWait;
import io.farheap.testing.Interrupts;
import io.farheap.tier.FarDevice;
import io.farheap.tier.FileDevice;
import io.farheap.tier.MemoryDevice;
import io.farheap.tier.device.Device;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Operations of an interrupted thread end as without the interrupt, and the thread is still interrupted afterwards. */
class InterruptedThreadTest {

    private static final int PAGE = 4096;
    private static final int KEYS = 2_000;

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment memory = arena.allocate(64, 8);

    @AfterEach
    void close() {
        boolean _ = Thread.interrupted();
        arena.close();
    }

    /** Runs work on a thread that is interrupted all the time, and asserts that no operation has cleared the flag. */
    private static void interrupted(Runnable work) {
        Thread.currentThread().interrupt();
        work.run();
        assertTrue(Thread.interrupted(), "the interrupt is gone");
    }

    private void use(FarStore store) {
        interrupted(() -> {
            try (StoreSession session = store.openSession("a")) {
                BlockingStoreSession blocking = new BlockingStoreSession(session);
                for (long key = 0; key < KEYS; key++) {
                    memory.set(JAVA_LONG_UNALIGNED, 0, key);
                    blocking.upsert(key, memory, 0, 8);
                }
                for (long key = 0; key < KEYS; key += 7) {
                    assertTrue(blocking.update(key, Values.ADD, 1));
                    assertEquals(8, blocking.read(key, memory, 0, 64));
                    assertEquals(key + 1, memory.get(JAVA_LONG_UNALIGNED, 0));
                }
                for (long key = 0; key < 16; key++) {
                    session.read(key, memory, 0, 64, (token, status, bytes) -> {}, 0);
                }
                session.drain();
            }
        });
        interrupted(() -> {
            ConcurrentMap<String, Long> map = store.asMap(Codec.STRING, Codec.LONG);
            assertEquals(1, map.merge("a", 1L, Long::sum));
            assertEquals(2, map.merge("a", 1L, Long::sum));
        });
        interrupted(() -> {
            try (FutureStoreSession futures = store.openFutureSession()) {
                assertEquals(8, futures.read(new byte[8]).join().length);
            }
        });
        int[] seen = {0};
        interrupted(() -> store.scan((segment, key, keyBytes, value, valueBytes) -> ++seen[0] > 0));
        assertEquals(KEYS + 1, seen[0]);
        interrupted(() -> assertTrue(store.compact(store.logBytes() / 2) > 0));
    }

    private static FarStoreBuilder how(Device device) {
        return FarStore.builder()
                .device(device)
                .pageBytes(PAGE)
                .memory(8 * PAGE)
                .expectedKeys(KEYS)
                .records(16, 16);
    }

    @ParameterizedTest
    @EnumSource
    void onFiles(CheckpointKind kind, @TempDir Path directory) {
        FileDevice[] device = {null};
        FarStore[] store = {null};
        Runnable open = () -> {
            device[0] = FileDevice.open(directory.resolve("log"), 1 << 16);
            store[0] = how(device[0])
                    .directory(directory.resolve("checkpoints"))
                    .checkpoints(kind)
                    .indexInCheckpoints(true)
                    .open();
        };
        interrupted(open);
        use(store[0]);
        interrupted(() -> assertEquals(1, store[0].checkpoint()));
        try (StoreSession session = store[0].openSession("b")) {
            new BlockingStoreSession(session).upsert(1, memory, 0, 8);
            interrupted(() -> {
                store[0].checkpoint();
                assertTrue(session.awaitDurable(session.serial(), Duration.ofMinutes(1)));
            });
            new BlockingStoreSession(session).upsert(2, memory, 0, 8);
        }
        interrupted(store[0]::close);
        interrupted(device[0]::close);
        interrupted(open);
        assertEquals("checkpoint 3 is recovered", store[0].recovery());
        interrupted(store[0]::close);
        interrupted(device[0]::close);
    }

    @Test
    void onFarMemory() {
        try (Cluster cluster = new Cluster(16);
                Cache cache = Cache.builder()
                        .capacity(16 * Cluster.REGION_BYTES)
                        .servers(cluster.address(0))
                        .create()) {
            FarDevice device = new FarDevice(cache, Cluster.REGION_BYTES, 32);
            FarStore[] store = {null};
            interrupted(() -> store[0] = how(device).open());
            use(store[0]);
            interrupted(store[0]::close);
            interrupted(device::close);
        }
    }

    private static FarStoreBuilder inMemory(MemoryDevice device) {
        return how(device).files(new MemoryFiles());
    }

    /** A checkpoint and a scan wait for a session that is inside an operation. */
    @Test
    void whatWaitsForASessionSleeps() throws Exception {
        try (MemoryDevice device = new MemoryDevice(1 << 16, 512);
                FarStore store = inMemory(device).open()) {
            try (StoreSession session = store.openSession()) {
                new BlockingStoreSession(session).upsert(1, memory, 0, 8);
            }
            List<Runnable> waits = List.of(store::checkpoint, () -> store.scan((s, k, kb, v, vb) -> true));
            for (Runnable wait : waits) {
                CountDownLatch made = new CountDownLatch(1);
                CountDownLatch go = new CountDownLatch(1);
                Thread inside = Thread.ofPlatform().start(() -> {
                    try (StoreSession session = store.openSession()) {
                        new BlockingStoreSession(session).update(1, new StandingStill(made, go), 0);
                    }
                });
                made.await();
                Interrupts.assertSleeps(wait, go::countDown);
                inside.join();
            }
        }
    }

    @Test
    void whatWaitsForADeviceSleeps() throws Exception {
        try (MemoryDevice device = new MemoryDevice(1 << 16, 512);
                FarStore store = inMemory(device).open()) {
            try (StoreSession session = store.openSession()) {
                for (long key = 0; key < KEYS; key++) {
                    new BlockingStoreSession(session).upsert(key, memory, 0, 8);
                }
            }
            device.faults().hold();
            Interrupts.assertSleeps(
                    () -> {
                        try (StoreSession session = store.openSession();
                                Arena own = Arena.ofConfined()) {
                            MemorySegment value = own.allocate(64);
                            int outcome = session.read(1, value, 0, 64, (token, status, bytes) -> {}, 0);
                            assertEquals(StoreStatus.PENDING, outcome);
                            session.drain();
                        }
                    },
                    device.faults()::letGo);
        }
    }

    /** The thread waits as it would for the log's thread to make room. */
    @Test
    void whatWaitsForTheLogSleeps() throws Exception {
        try (MemoryDevice device = new MemoryDevice(1 << 16, 512);
                FarStore store = inMemory(device).open()) {
            AtomicBoolean stop = new AtomicBoolean();
            Interrupts.assertSleeps(
                    () -> {
                        try (StoreSession session = store.openSession()) {
                            while (!stop.get()) {
                                session.awaitProgress();
                            }
                        }
                    },
                    () -> stop.set(true));
        }
    }

    @Test
    void whatSpinsForLongSleeps() throws Exception {
        AtomicBoolean stop = new AtomicBoolean();
        Interrupts.assertSleeps(
                () -> {
                    for (int rounds = 0; !stop.get(); ) {
                        rounds = SpinWait.wait(rounds);
                    }
                },
                () -> stop.set(true));
    }
}
