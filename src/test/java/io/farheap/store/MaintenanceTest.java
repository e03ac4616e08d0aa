package io.farheap.store;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.store.checkpoint.MemoryFiles;
import io.farheap.store.contract.StoreException;
import io.farheap.store.contract.StoreStatus;
import io.farheap.testing.TestDevice;
import io.farheap.tier.Fault;
import io.farheap.tier.MemoryDevice;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MaintenanceTest {

    private static final int PAGE = 4096;
    private static final long LIMIT = 64 * PAGE;
    private static final int KEYS = 4_000;

    /** A test that hangs fails after this time. */
    private static final Duration BOUND = Duration.ofNanos(TestDevice.patience(60_000_000_000L));

    private final MemoryFiles files = new MemoryFiles();
    private final AtomicInteger failures = new AtomicInteger();

    private FarStoreBuilder how(MemoryDevice device) {
        return FarStore.builder()
                .device(device)
                .pageBytes(PAGE)
                .memory(8 * PAGE)
                .expectedKeys(KEYS)
                .onMaintenanceFailure(cause -> failures.incrementAndGet());
    }

    private static void put(StoreSession session, MemorySegment memory, long key, long value) {
        memory.set(JAVA_LONG_UNALIGNED, 0, value);
        new BlockingStoreSession(session).upsert(key, memory, 0, 8);
    }

    private static void failSyncs(MemoryDevice device) {
        device.faults().inject((kind, address, length) -> kind == Fault.Kind.SYNC ? Fault.FAILED : Fault.NONE);
    }

    private static void until(BooleanSupplier condition) {
        while (!condition.getAsBoolean()) {
            LockSupport.parkNanos(1_000_000);
        }
    }

    /** A session that writes waits while there is no room below the limit; the store makes some by itself. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void spaceStaysBelowTheLimit(boolean durable) {
        try (MemoryDevice device = new MemoryDevice(PAGE, 512);
                Arena arena = Arena.ofConfined()) {
            FarStoreBuilder how = how(device).spaceLimit(LIMIT);
            if (durable) {
                how.files(files);
            }
            try (FarStore store = how.open();
                    StoreSession session = store.openSession("a")) {
                MemorySegment memory = arena.allocate(8);
                for (int i = 0; i < 60_000; i++) {
                    put(session, memory, i % KEYS, i);
                    assertTrue(store.spaceBytes() <= LIMIT);
                }
                assertTrue(device.begin() > LIMIT);
                for (int key = 0; key < KEYS; key++) {
                    assertEquals(8, new BlockingStoreSession(session).read(key, memory, 0, 8));
                    assertEquals(60_000 - KEYS + key, memory.get(JAVA_LONG_UNALIGNED, 0));
                }
                assertEquals(0, failures.get());
                assertEquals(durable, !files.files.isEmpty());
            }
        }
    }

    @Test
    void liveRecordsThatDoNotFitAreTold() {
        try (MemoryDevice device = new MemoryDevice(PAGE, 512);
                Arena arena = Arena.ofConfined();
                FarStore store = how(device).spaceLimit(LIMIT).open();
                StoreSession session = store.openSession()) {
            MemorySegment memory = arena.allocate(8);
            int[] keys = {0};
            StoreException full = assertThrows(StoreException.class, () -> {
                for (; ; keys[0]++) {
                    put(session, memory, keys[0], keys[0]);
                }
            });
            assertEquals(StoreStatus.NO_SPACE, full.status());
            until(() -> store.maintenanceFailure().isPresent());
            String told = store.maintenanceFailure().orElseThrow().getMessage();
            assertTrue(told.contains("delete keys, or give it more space"), told);
            assertTrue(failures.get() > 0);
            for (int key = 0; key < keys[0]; key += 7) {
                assertEquals(8, new BlockingStoreSession(session).read(key, memory, 0, 8));
            }
        }
    }

    /**
     * A session that waits for durability needs no call of {@code checkpoint}. The store reports a failed checkpoint
     * until the next one succeeds.
     */
    @Test
    void checkpointsAreTakenInTime() {
        try (MemoryDevice device = new MemoryDevice(PAGE, 512);
                Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(8);
            FarStoreBuilder how = how(device).files(files).checkpointEvery(Duration.ofMillis(5));
            try (FarStore store = how.open();
                    StoreSession session = store.openSession("a")) {
                put(session, memory, 1, 10);
                assertTrue(session.awaitDurable(session.serial(), Duration.ofMinutes(1)));
                failSyncs(device);
                until(() -> store.maintenanceFailure().isPresent());
                device.faults().inject(null);
                put(session, memory, 1, 20);
                assertTrue(session.awaitDurable(session.serial(), Duration.ofMinutes(1)));
                until(() -> store.maintenanceFailure().isEmpty());
            }
            try (FarStore store = how(device).files(files).open();
                    StoreSession session = store.openSession("a")) {
                assertEquals(2, session.serial());
                new BlockingStoreSession(session).read(1, memory, 0, 8);
                assertEquals(20, memory.get(JAVA_LONG_UNALIGNED, 0));
            }
        }
    }

    /** The longest time means that there are no checkpoints in time; the store's thread does the rest of its work. */
    @Test
    void aTimeWithoutEndIsNone() {
        try (MemoryDevice device = new MemoryDevice(PAGE, 512);
                Arena arena = Arena.ofConfined();
                FarStore store = how(device)
                        .files(files)
                        .spaceLimit(LIMIT)
                        .checkpointEvery(Duration.ofSeconds(Long.MAX_VALUE))
                        .open();
                StoreSession session = store.openSession()) {
            MemorySegment memory = arena.allocate(8);
            for (int i = 0; device.begin() == 0; i++) {
                put(session, memory, i % KEYS, i);
            }
            assertEquals(0, failures.get(), () -> String.valueOf(store.maintenanceFailure()));
        }
    }

    /** The close would wait for the thread that calls it. */
    @Test
    void aListenerCannotCloseItsStore() {
        Queue<Throwable> told = new ConcurrentLinkedQueue<>();
        assertTimeoutPreemptively(BOUND, () -> {
            try (MemoryDevice device = new MemoryDevice(PAGE, 512)) {
                AtomicReference<FarStore> opened = new AtomicReference<>();
                failSyncs(device);
                try (FarStore store = how(device)
                        .files(files)
                        .checkpointEvery(Duration.ofMillis(5))
                        .onMaintenanceFailure(cause -> {
                            until(() -> opened.get() != null);
                            told.add(assertThrows(IllegalStateException.class, opened.get()::close));
                        })
                        .open()) {
                    opened.set(store);
                    until(() -> !told.isEmpty());
                    // The store is still open.
                    store.openSession().close();
                    device.faults().inject(null);
                    until(() -> store.checkpoints() > 0);
                }
            }
        });
        assertTrue(told.element().getMessage().contains("maintenance"), told::toString);
    }

    /** The listener throws an error of its own, or the failure that it is called with. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whatAListenerThrowsEndsNothing(boolean itsOwn) {
        assertTimeoutPreemptively(BOUND, () -> {
            try (MemoryDevice device = new MemoryDevice(PAGE, 512)) {
                failSyncs(device);
                try (FarStore store = how(device)
                        .files(files)
                        .checkpointEvery(Duration.ofMillis(5))
                        .onMaintenanceFailure(cause -> {
                            failures.incrementAndGet();
                            if (itsOwn) {
                                throw new AssertionError("of the listener");
                            }
                            throw (RuntimeException) cause;
                        })
                        .open()) {
                    until(() -> failures.get() > 0);
                    device.faults().inject(null);
                    until(() -> store.checkpoints() > 0);
                    // An attempt has succeeded meanwhile, so the listener hears of the same reason again.
                    failSyncs(device);
                    until(() -> failures.get() > 1);
                    device.faults().inject(null);
                }
            }
        });
    }

    @Test
    void whatDoesNotGoTogetherIsRefused() {
        try (MemoryDevice device = new MemoryDevice(PAGE, 512)) {
            assertThrows(
                    IllegalArgumentException.class,
                    () -> how(device).spaceLimit(PAGE).open());
            assertThrows(
                    IllegalStateException.class,
                    () -> how(device).checkpointEvery(Duration.ofSeconds(1)).open());
            assertThrows(IllegalArgumentException.class, () -> how(device).checkpointEvery(Duration.ZERO));
        }
    }
}
