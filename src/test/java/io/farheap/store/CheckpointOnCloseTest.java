package io.farheap.store;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.Codec;
import io.farheap.store.checkpoint.MemoryFiles;
import io.farheap.store.contract.StoreCompletion;
import io.farheap.store.contract.StoreException;
import io.farheap.store.contract.StoreStatus;
import io.farheap.store.contract.Update;
import io.farheap.testing.TestDevice;
import io.farheap.tier.Fault;
import io.farheap.tier.FileDevice;
import io.farheap.tier.MemoryDevice;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The operations before a close are there after the next open, or the close throws. */
class CheckpointOnCloseTest {

    private static final int PAGE = 4096;
    private static final int KEYS = 4_000;

    /** A test that hangs fails after this time. */
    private static final Duration BOUND = Duration.ofNanos(TestDevice.patience(60_000_000_000L));

    private final MemoryFiles files = new MemoryFiles();
    private final MemoryDevice device = new MemoryDevice(1 << 16, 512);
    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory = arena.allocate(8, 8);
    private final List<Integer> ends = new ArrayList<>();

    @AfterEach
    void close() {
        arena.close();
        device.close();
    }

    private FarStoreBuilder how() {
        return FarStore.builder()
                .device(device)
                .pageBytes(PAGE)
                .memory(8 * PAGE)
                .expectedKeys(KEYS)
                .files(files);
    }

    private void put(StoreSession session, long key, long value) {
        memory.set(JAVA_LONG_UNALIGNED, 0, value);
        new BlockingStoreSession(session).upsert(key, memory, 0, 8);
    }

    private long get(StoreSession session, long key) {
        assertEquals(8, new BlockingStoreSession(session).read(key, memory, 0, 8), "key " + key);
        return memory.get(JAVA_LONG_UNALIGNED, 0);
    }

    private void fill(StoreSession session) {
        for (long key = 0; key < KEYS; key++) {
            put(session, key, key);
        }
    }

    /** Begins an update that waits for the device. */
    private void begin(StoreSession session, long key) {
        assertEquals(
                StoreStatus.PENDING,
                session.update(key, Values.ADD, 1_000, (token, status, bytes) -> ends.add(status), 0));
    }

    /** The program is that of the README's example. */
    @Test
    void aProgramThatEndsNormallyGoesOnWhereItWas(@TempDir Path directory) {
        for (long run = 1; run <= 3; run++) {
            try (FileDevice file = FileDevice.open(directory.resolve("log"), 1 << 16);
                    FarStore store = FarStore.builder()
                            .device(file)
                            .directory(directory.resolve("checkpoints"))
                            .pageBytes(PAGE)
                            .memory(8 * PAGE)
                            .records(64, 100)
                            .open()) {
                Map<String, Long> visits = store.asMap(Codec.STRING, Codec.LONG);
                assertEquals(run, visits.merge("home", 1L, Long::sum));
            }
        }
    }

    @Test
    void byOptionItDoesNot() {
        try (FarStore store = how().checkpointOnClose(false).open();
                StoreSession session = store.openSession("a")) {
            put(session, 1, 10);
            store.checkpoint();
            put(session, 1, 20);
        }
        try (FarStore store = how().open();
                StoreSession session = store.openSession("a")) {
            assertEquals(1, session.serial());
            assertEquals(10, get(session, 1));
        }
    }

    @Test
    void whereNothingWasDoneNothingIsWritten() {
        how().open().close();
        assertEquals(Map.of(), files.files);
        try (FarStore store = how().open();
                StoreSession session = store.openSession("a")) {
            put(session, 1, 10);
            store.checkpoint();
        }
        Map<String, byte[]> before = new TreeMap<>(files.files);
        try (FarStore store = how().open();
                StoreSession session = store.openSession()) {
            store.openSession("a").close();
            assertEquals(10, get(session, 1));
        }
        assertEquals(before, new TreeMap<>(files.files));
    }

    @Test
    void whatIsPendingIsDoneFirst() {
        FarStore store = how().open();
        StoreSession session = store.openSession("a");
        fill(session);
        begin(session, 1);
        begin(session, 2);
        session.read(3, memory, 0, 8, (token, status, bytes) -> ends.add(status), 0);
        long serial = session.serial();
        store.close();
        store.close();
        assertEquals(List.of(StoreStatus.DONE, StoreStatus.DONE), ends.subList(0, 2));
        assertEquals(3, ends.size());
        try (FarStore again = how().open();
                StoreSession same = again.openSession("a")) {
            assertEquals(serial, same.serial());
            assertEquals(1_001, get(same, 1));
            assertEquals(1_002, get(same, 2));
        }
    }

    /** The close throws what a pending update throws, and makes its checkpoint nevertheless. */
    @Test
    void anUpdateThatThrowsIsDone() {
        FarStore store = how().open();
        StoreSession session = store.openSession("a");
        fill(session);
        Update throwing = new Doing(() -> {
            throw new ArithmeticException("of the update");
        });
        session.update(1, throwing, 0, (token, status, bytes) -> ends.add(status), 0);
        begin(session, 2);
        assertThrows(ArithmeticException.class, store::close);
        assertEquals(2, ends.size());
        assertTrue(ends.contains(StoreStatus.THREW) && ends.contains(StoreStatus.DONE), ends::toString);
        try (FarStore again = how().open();
                StoreSession same = again.openSession("a")) {
            assertEquals(KEYS + 2, same.serial());
            assertEquals(1_002, get(same, 2));
        }
    }

    /**
     * The close runs pending updates and callbacks. They cannot close the store or their session, and the close does
     * not fail because of operations that they begin too late.
     */
    @Test
    void whatRunsInTheCloseCannotCloseItsStore() {
        assertTimeoutPreemptively(BOUND, () -> {
            FarStore store = how().open();
            StoreSession session = store.openSession("a");
            fill(session);
            List<String> told = new ArrayList<>();
            Runnable closes = () -> {
                told.add(assertThrows(IllegalStateException.class, store::close).getMessage());
                told.add(assertThrows(IllegalStateException.class, session::close)
                        .getMessage());
            };
            session.update(1, new Doing(closes), 1_000, (token, status, bytes) -> closes.run(), 0);
            StoreCompletion goesOn = (token, status, bytes) -> {
                ends.add(status);
                session.update(4, Values.ADD, 1, (t, s, b) -> {}, 0);
            };
            session.update(2, Values.ADD, 1_000, goesOn, 0);
            session.read(3, memory, 0, 8, goesOn, 0);
            store.close();
            session.close();
            assertEquals(4, told.size());
            told.forEach(message -> assertTrue(message.contains("a callback cannot close its"), message));
            assertEquals(2, ends.size());
            try (FarStore again = how().open();
                    StoreSession same = again.openSession("a")) {
                assertEquals(1_001, get(same, 1));
                assertEquals(1_002, get(same, 2));
            }
        });
    }

    /**
     * Only a session's own thread could do its pending updates. The close makes no checkpoint and throws, and the
     * updates end with {@code CLOSED}: they never happened.
     */
    @Test
    void anotherThreadsPendingUpdatesAreTold() throws Exception {
        FarStore store = how().open();
        try (ExecutorService thread = Executors.newSingleThreadExecutor()) {
            StoreSession session = thread.submit(() -> {
                        StoreSession opened = store.openSession("sleeper");
                        fill(opened);
                        store.checkpoint();
                        put(opened, 1, -1);
                        begin(opened, 2);
                        return opened;
                    })
                    .get();
            StoreException told = assertThrows(StoreException.class, store::close);
            assertTrue(told.getMessage().contains("[sleeper]"), told.getMessage());
            assertThrows(IllegalStateException.class, store::openSession);
            store.close();
            thread.submit(session::close).get();
            assertEquals(List.of(StoreStatus.CLOSED), ends);
        }
        try (FarStore again = how().open();
                StoreSession same = again.openSession("sleeper")) {
            assertEquals(KEYS, same.serial());
            assertEquals(1, get(same, 1));
        }
    }

    @Test
    void aDeviceThatFailsIsTold() {
        FarStore store = how().open();
        try (StoreSession session = store.openSession("a")) {
            put(session, 1, 10);
        }
        device.faults().inject((kind, address, length) -> kind == Fault.Kind.SYNC ? Fault.FAILED : Fault.NONE);
        StoreException told = assertThrows(StoreException.class, store::close);
        assertTrue(told.getMessage().contains("no checkpoint was made"), told.getMessage());
        assertThrows(IllegalStateException.class, store::checkpoint);
        store.close();
        assertEquals(Map.of(), files.files);
    }

    /** The close does not wait forever for the device: it throws. */
    @Test
    void aDeviceThatWritesNothingIsTold() {
        assertTimeoutPreemptively(BOUND, () -> {
            FarStore store = how().patience(Duration.ofMillis(100)).open();
            try (StoreSession session = store.openSession("a")) {
                put(session, 1, 10);
            }
            device.faults().hold();
            StoreException told = assertThrows(StoreException.class, store::close);
            assertTrue(told.getMessage().contains("has written nothing for"), told.getMessage());
        });
    }
}
