package io.farheap.store;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.posix.Errno;
import io.farheap.store.checkpoint.MemoryFiles;
import io.farheap.store.contract.StoreException;
import io.farheap.store.contract.StoreStatus;
import io.farheap.testing.TestDevice;
import io.farheap.tier.FileDevice;
import io.farheap.tier.MemoryDevice;
import io.farheap.tier.TieredDevice;
import io.farheap.tier.device.FileOptions;
import io.farheap.tier.device.RecordingStorage;
import io.farheap.tier.device.Storage;
import io.farheap.tier.device.StoredFile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * If the disk below a store is full, the store's failure, a checkpoint and the close all name that cause. If it is
 * freed, the store continues, and nothing that was done is lost.
 */
class FullDiskTest {

    private static final int PAGE = 4096;
    private static final String TOLD = "cannot write segment 0 in ";
    private static final String WHY = ": ENOSPC (no space)";

    private final AtomicBoolean full = new AtomicBoolean();

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void itIsNamed(boolean tiered) {
        FileOptions options = FileOptions.DEFAULT.with(FileOptions.Engine.POLLER);
        try (FileDevice file = FileDevice.open(storage(), 1 << 20, options);
                TieredDevice tiers = new TieredDevice(List.of(file), 0);
                Arena arena = Arena.ofConfined()) {
            FarStore store = FarStore.builder()
                    .device(tiered ? tiers : file)
                    .pageBytes(PAGE)
                    .memory(8 * PAGE)
                    .files(new MemoryFiles())
                    .writePatience(Duration.ofMillis(1))
                    .open();
            MemorySegment memory = arena.allocate(8, 8);
            try (StoreSession session = store.openSession()) {
                long key = 0;
                while (store.logBytes() < 20 * PAGE) {
                    new BlockingStoreSession(session).upsert(key++, memory, 0, 8);
                }
                full.set(true);
                long next = key;
                StoreException failed = assertThrows(StoreException.class, () -> {
                    for (long more = next; ; more++) {
                        new BlockingStoreSession(session).upsert(more, memory, 0, 8);
                    }
                });
                assertEquals(StoreStatus.FAILED, failed.status());
                assertNamed(store.failure().orElseThrow());
                assertNamed(assertThrows(StoreException.class, store::checkpoint));
            }
            assertNamed(assertThrows(StoreException.class, store::close));
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void itIsFreed(boolean tiered) {
        FileOptions options = FileOptions.DEFAULT.with(FileOptions.Engine.POLLER);
        MemoryFiles files = new MemoryFiles();
        long done = 0;
        try (FileDevice file = FileDevice.open(storage(), 1 << 20, options);
                TieredDevice tiers = new TieredDevice(List.of(file), 0);
                Arena arena = Arena.ofConfined()) {
            FarStoreBuilder how = FarStore.builder()
                    .device(tiered ? tiers : file)
                    .pageBytes(PAGE)
                    .memory(8 * PAGE)
                    .files(files)
                    .writePatience(Duration.ofMillis(1));
            MemorySegment memory = arena.allocate(8, 8);
            try (FarStore store = how.open();
                    StoreSession session = store.openSession()) {
                for (int round = 0; round < 3; round++) {
                    long filled = store.logBytes() + 20 * PAGE;
                    while (store.logBytes() < filled) {
                        done = put(session, memory, done, StoreStatus.DONE);
                    }
                    full.set(true);
                    // The disk stays full until an operation fails for it.
                    done = put(session, memory, done, StoreStatus.FAILED);
                    assertNamed(store.failure().orElseThrow());
                    assertThrows(StoreException.class, store::checkpoint);
                    full.set(false);
                    await(() -> store.failure().isEmpty());
                    done = put(session, memory, done, StoreStatus.DONE);
                    store.checkpoint();
                    assertAll(session, memory, done);
                }
            }
            try (FarStore store = how.open();
                    StoreSession session = store.openSession()) {
                assertAll(session, memory, done);
            }
        }
    }

    /** The file is full for a while, and memory above it takes the log: checkpoints are made again afterwards. */
    @Test
    void aCheckpointIsMadeOnceTheFileHasWhatItRefused() {
        FileOptions options = FileOptions.DEFAULT.with(FileOptions.Engine.POLLER);
        MemoryFiles files = new MemoryFiles();
        long done = 0;
        try (FileDevice file = FileDevice.open(storage(), 1 << 20, options);
                MemoryDevice fast = new MemoryDevice(1 << 20, 512, 32, 4 << 20);
                TieredDevice tiers = new TieredDevice(List.of(fast, file), 0);
                Arena arena = Arena.ofConfined()) {
            FarStoreBuilder how = FarStore.builder()
                    .device(tiers)
                    .pageBytes(PAGE)
                    .memory(8 * PAGE)
                    .files(files)
                    .checkpointOnClose(false)
                    .writePatience(Duration.ofMillis(1));
            MemorySegment memory = arena.allocate(8, 8);
            try (FarStore store = how.open();
                    StoreSession session = store.openSession()) {
                full.set(true);
                while (store.logBytes() < 40 * PAGE) {
                    done = put(session, memory, done, StoreStatus.DONE);
                }
                assertThrows(StoreException.class, store::checkpoint);
                full.set(false);
                await(() -> tiers.owedBytes(1) == 0);
                store.checkpoint();
            }
            try (FarStore store = how.open();
                    StoreSession session = store.openSession()) {
                assertAll(session, memory, done);
            }
        }
    }

    /**
     * The memory above the file is full, too, so it accepts no write that would drop what the file has not got:
     * operations fail after the patience, and continue once the file takes it.
     */
    @Test
    void aTierThatAcceptsNoWriteIsToldAndPasses() {
        FileOptions options = FileOptions.DEFAULT.with(FileOptions.Engine.POLLER);
        try (FileDevice file = FileDevice.open(storage(), 1 << 16, options);
                MemoryDevice fast = new MemoryDevice(1 << 16, 512, 32, 2 << 16);
                TieredDevice tiers = new TieredDevice(List.of(fast, file), 0);
                Arena arena = Arena.ofConfined();
                FarStore store = FarStore.builder()
                        .device(tiers)
                        .pageBytes(PAGE)
                        .memory(8 * PAGE)
                        .writePatience(Duration.ofMillis(1))
                        .open();
                StoreSession session = store.openSession()) {
            MemorySegment memory = arena.allocate(8, 8);
            full.set(true);
            long done = put(session, memory, 0, StoreStatus.FAILED);
            String told = store.failure().orElseThrow().getMessage();
            assertTrue(told.contains("takes no writes") && told.contains(WHY), told);
            full.set(false);
            done = put(session, memory, done, StoreStatus.DONE);
            await(() -> store.failure().isEmpty());
            assertAll(session, memory, done);
        }
    }

    /** Stores keys from one on, each with its number as value, until one of them has ended with the status. */
    private static long put(StoreSession session, MemorySegment memory, long from, int until) {
        long deadline = System.nanoTime() + TestDevice.patience(30_000_000_000L);
        long key = from;
        while (System.nanoTime() - deadline < 0) {
            memory.set(JAVA_LONG_UNALIGNED, 0, key);
            int outcome = session.upsert(key, memory, 0, 8);
            key += outcome == StoreStatus.DONE ? 1 : 0;
            if (outcome == until) {
                return key;
            }
            Calls.goOn(session);
        }
        throw new AssertionError("no operation has ended with " + StoreStatus.describe(until));
    }

    private static void await(BooleanSupplier condition) {
        long deadline = System.nanoTime() + TestDevice.patience(30_000_000_000L);
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - deadline < 0, "the store has not continued");
            Thread.onSpinWait();
        }
    }

    private static void assertAll(StoreSession session, MemorySegment memory, long keys) {
        for (long key = 0; key < keys; key++) {
            assertEquals(8, new BlockingStoreSession(session).read(key, memory, 0, 8), "key " + key);
            assertEquals(key, memory.get(JAVA_LONG_UNALIGNED, 0));
        }
    }

    private static void assertNamed(Throwable told) {
        String message = told.getMessage();
        assertTrue(message.contains(TOLD) && message.contains(WHY), message);
    }

    private Storage storage() {
        RecordingStorage storage = new RecordingStorage();
        return proxy(Storage.class, (proxy, method, arguments) -> {
            Object result = call(() -> method.invoke(storage, arguments));
            return result instanceof StoredFile file ? proxy(StoredFile.class, file(file)) : result;
        });
    }

    private InvocationHandler file(StoredFile file) {
        return (proxy, method, arguments) -> full.get() && method.getName().equals("write")
                ? -(long) Errno.ENOSPC
                : call(() -> method.invoke(file, arguments));
    }

    private interface Call {
        Object run() throws ReflectiveOperationException;
    }

    private static Object call(Call call) throws Throwable {
        try {
            return call.run();
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }
}
