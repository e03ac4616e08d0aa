package io.farheap.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.Codec;
import io.farheap.store.checkpoint.MemoryFiles;
import io.farheap.store.contract.CheckpointKind;
import io.farheap.store.contract.StoreException;
import io.farheap.store.contract.StoreStatus;
import io.farheap.store.log.HybridLog;
import io.farheap.store.log.LogBound;
import io.farheap.store.operation.StoreContext;
import io.farheap.testing.Effort;
import io.farheap.testing.TestDevice;
import io.farheap.testing.Wait;
import io.farheap.tier.Fault;
import io.farheap.tier.FileDevice;
import io.farheap.tier.MemoryDevice;
import io.farheap.tier.device.FileOptions;
import io.farheap.tier.device.RecordingStorage;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A store whose space ends: it loses nothing, refuses what has no room, and continues once there is room again. */
class BoundedStoreTest {

    private static final int PAGE = 4096;
    private static final int PAGES = 64;
    private static final long CAPACITY = PAGES * (long) PAGE;
    private static final int SEGMENT = 16 * PAGE;
    private static final int RECORDS_A_PAGE = PAGE / 24;
    private static final int ROUNDS = Effort.either(4, 100);

    /** A test that hangs fails after this time. */
    private static final Duration BOUND = Duration.ofNanos(TestDevice.patience(120_000_000_000L));

    private final long seed = Long.getLong("farheap.seed", System.nanoTime());
    private final SplittableRandom random = new SplittableRandom(seed);

    private static FarStoreBuilder how() {
        return FarStore.builder()
                .pageBytes(PAGE)
                .memory(8 * PAGE)
                .expectedKeys(64)
                .writePatience(Duration.ofMinutes(1))
                .onMaintenanceFailure(cause -> {});
    }

    /**
     * The log's files never have more bytes than the limit, which is the storage's. Every other round ends without a
     * checkpoint, as if the process were killed.
     */
    @ParameterizedTest
    @CsvSource({"FOLD_OVER, false", "SNAPSHOT, true", "INCREMENTAL, false"})
    void aStoreFillsIsFreedAndContinues(CheckpointKind kind, boolean general) {
        System.out.println("seed " + seed);
        RecordingStorage storage = new RecordingStorage();
        // The file that says how large segments are has a page.
        storage.limit(96 * PAGE + PAGE);
        FileOptions options = FileOptions.DEFAULT.with(FileOptions.Engine.POLLER);
        MemoryFiles files = new MemoryFiles();
        assertTimeoutPreemptively(BOUND, () -> {
            long next = 0;
            try (BoundedHistory history = new BoundedHistory(general)) {
                for (int round = 0; round < ROUNDS; round++) {
                    try (FileDevice device = FileDevice.open(storage, SEGMENT, options)) {
                        FarStoreBuilder how = how().device(device)
                                .files(files)
                                .checkpoints(kind)
                                .checkpointOnClose(round % 2 == 0)
                                .spaceLimit(96 * PAGE);
                        if (general) {
                            how.records(8, 100);
                        }
                        try (FarStore store = how.open();
                                StoreSession session = store.openSession(BoundedHistory.NAME)) {
                            history.recovered(session);
                            history.checkBelow(session, next);
                            next = fill(session, history, next);
                            assertTrue(store.failure().isEmpty());
                            free(session, history, 0.5);
                            next = putUntilDone(session, history, next);
                            next = fill(session, history, next);
                            free(session, history, 0.1);
                            store.checkpoint();
                            next = putUntilDone(session, history, next);
                            for (long key : history.keys().subList(0, 20)) {
                                history.replace(session, key);
                            }
                            history.checkBelow(session, next);
                        }
                    }
                    assertEquals(0, storage.refused(), "writes were refused");
                }
            }
        });
    }

    /** Stores keys, of which a few exist, until one finds no space. @return the next key */
    private long fill(StoreSession session, BoundedHistory history, long first) {
        long next = first;
        while (true) {
            boolean old = next > 0 && random.nextInt(4) == 0;
            long key = old ? random.nextLong(next) : next;
            int outcome = old && history.has(key) && random.nextBoolean()
                    ? history.replace(session, key)
                    : history.put(session, key);
            if (outcome == StoreStatus.NO_SPACE) {
                return next;
            }
            assertEquals(StoreStatus.DONE, outcome);
            next += old ? 0 : 1;
        }
    }

    /** Deletes a share of the keys, at random. */
    private void free(StoreSession session, BoundedHistory history, double share) {
        List<Long> keys = history.keys();
        Collections.shuffle(keys, new Random(random.nextLong()));
        for (long key : keys.subList(0, (int) (share * keys.size()))) {
            assertEquals(StoreStatus.DONE, history.delete(session, key));
            history.check(session, key);
        }
    }

    /** A deletion may make room only once a compaction has passed, so this tries again. */
    private long putUntilDone(StoreSession session, BoundedHistory history, long next) {
        int outcome;
        while ((outcome = history.put(session, next)) == StoreStatus.NO_SPACE) {
            session.awaitProgress();
        }
        assertEquals(StoreStatus.DONE, outcome);
        return next + 1;
    }

    /** @param churning whether keys are deleted and others made, instead of being changed */
    @ParameterizedTest
    @CsvSource({"50, false", "80, true", "90, false", "95, true", "99, false", "99, true"})
    void liveRecordsInMostOfTheSpaceAreKept(int percent, boolean churning) {
        System.out.println("seed " + seed);
        int operations = Effort.count(percent < 95 ? 20_000 : 4_000);
        assertTimeoutPreemptively(BOUND, () -> {
            try (MemoryDevice device = new MemoryDevice(PAGE, 512, 32, CAPACITY);
                    BoundedHistory history = new BoundedHistory(false);
                    FarStore store = how().device(device).open();
                    StoreSession session = store.openSession()) {
                int keys = (int) (usablePages(device) * RECORDS_A_PAGE * percent / 100);
                for (long key = 0; key < keys; key++) {
                    assertEquals(StoreStatus.DONE, history.put(session, key));
                }
                long next = keys;
                for (int i = 0; i < operations; i++) {
                    long key = random.nextLong(next);
                    int outcome;
                    if (!churning) {
                        outcome = history.put(session, key);
                    } else {
                        while (!history.has(key)) {
                            key = random.nextLong(next);
                        }
                        outcome = history.delete(session, key);
                        if (outcome == StoreStatus.DONE) {
                            outcome = history.put(session, next);
                            next += outcome == StoreStatus.DONE ? 1 : 0;
                        }
                    }
                    assertTrue(outcome == StoreStatus.DONE || outcome == StoreStatus.NO_SPACE, "status " + outcome);
                    if (outcome == StoreStatus.NO_SPACE) {
                        assertTrue(percent > 90, "no space");
                        free(session, history, 0.02);
                    }
                }
                history.checkBelow(session, next);
                assertTrue(store.failure().isEmpty());
            }
        });
    }

    private static long usablePages(MemoryDevice device) {
        return LogBound.of(device, Long.MAX_VALUE, 12).usable();
    }

    /** A scan keeps compactions away, while its visitor deletes until not even deletes have room. */
    @Test
    void deletesAloneMakeRoom() {
        assertTimeoutPreemptively(BOUND, () -> {
            try (MemoryDevice device = new MemoryDevice(PAGE, 512, 32, CAPACITY);
                    BoundedHistory history = new BoundedHistory(false);
                    FarStore store = how().device(device)
                            .writePatience(Duration.ofMillis(20))
                            .open();
                    StoreSession session = store.openSession()) {
                long next = 0;
                while (history.put(session, next) == StoreStatus.DONE) {
                    next++;
                }
                assertTrue(next > (usablePages(device) - 1) * RECORDS_A_PAGE, next + " keys");
                long[] deleted = {0};
                store.scan((memory, key, keyBytes, value, valueBytes) -> {
                    int outcome;
                    while ((outcome = history.delete(session, deleted[0])) == StoreStatus.DONE) {
                        deleted[0]++;
                    }
                    assertEquals(StoreStatus.NO_SPACE, outcome);
                    return false;
                });
                // Each took a record of its own, in two pages, as its key was in no record that is changed in place.
                assertTrue(deleted[0] >= 2 * RECORDS_A_PAGE, deleted[0] + " deletes");
                long added = 0;
                for (; added < RECORDS_A_PAGE; added++) {
                    next = putUntilDone(session, history, next);
                }
                // And again.
                free(session, history, 0.5);
                next = putUntilDone(session, history, next);
                history.checkBelow(session, next);
            }
        });
    }

    /**
     * A third of the space is dead, in few large records among thousands of small ones, and the session takes each page
     * as soon as a compaction has given it back.
     */
    @Test
    void fewLargeRecordsThatAreDeadMakeRoom() {
        assertTimeoutPreemptively(BOUND, () -> {
            try (MemoryDevice device = new MemoryDevice(PAGE, 512, 32, CAPACITY);
                    Arena arena = Arena.ofShared();
                    FarStore store = how().device(device).records(8, 100).open();
                    StoreSession session = store.openSession()) {
                MemorySegment value = arena.allocate(PAGE - 200, Long.BYTES);
                HybridLog log = ((StoreContext) IndexGrowthTest.field(store, "parts")).log();
                AtomicBoolean ended = new AtomicBoolean();
                device.faults().inject((kind, address, length) -> {
                    while (kind == Fault.Kind.READ && length == PAGE && log.roomBytes() > 0 && !ended.get()) {
                        LockSupport.parkNanos(1000);
                    }
                    return Fault.NONE;
                });
                int small = 16 * PAGE / 32;
                int large = 22;
                try {
                    for (long key = 0; key < small; key++) {
                        assertEquals(StoreStatus.DONE, put(session, key, value, Long.BYTES));
                    }
                    for (int i = 0; i < 200; i++) {
                        assertEquals(StoreStatus.DONE, put(session, small + i % large, value, PAGE - 200), "put " + i);
                    }
                } finally {
                    ended.set(true);
                }
                assertTrue(store.maintenanceFailure().isEmpty(), () -> String.valueOf(store.maintenanceFailure()));
            }
        });
    }

    private static int put(StoreSession session, long key, MemorySegment value, int bytes) {
        int outcome;
        while ((outcome = session.upsert(key, value, 0, bytes)) == StoreStatus.FULL) {
            Calls.goOn(session);
        }
        return outcome;
    }

    /**
     * A key that is changed in place needs room while a checkpoint is made, and not after it: that it waits for, also
     * where there is no space.
     */
    @Test
    void aChangeInPlaceWaitsForTheEndOfACheckpoint() {
        assertTimeoutPreemptively(BOUND, () -> {
            try (MemoryDevice device = new MemoryDevice(SEGMENT, 512);
                    Arena arena = Arena.ofShared();
                    FarStore store = how().device(device)
                            .files(new MemoryFiles())
                            .checkpoints(CheckpointKind.SNAPSHOT)
                            .spaceLimit(PAGES * PAGE)
                            .open();
                    StoreSession session = store.openSession()) {
                MemorySegment value = arena.allocate(Long.BYTES, Long.BYTES);
                long next = 0;
                while (put(session, next, value, Long.BYTES) == StoreStatus.DONE) {
                    next++;
                }
                long key = next - 1;
                while (put(session, key, value, Long.BYTES) == StoreStatus.NO_SPACE) {
                    key--;
                }
                long inPlace = key;
                Thread own = Thread.currentThread();
                int[] meanwhile = {StoreStatus.DONE};
                device.faults().inject((kind, address, length) -> {
                    if (kind == Fault.Kind.SYNC && Thread.currentThread() == own) {
                        meanwhile[0] = session.upsert(inPlace, value, 0, Long.BYTES);
                    }
                    return Fault.NONE;
                });
                store.checkpoint();
                device.faults().inject(null);
                assertEquals(StoreStatus.FULL, meanwhile[0]);
                assertEquals(StoreStatus.DONE, put(session, inPlace, value, Long.BYTES));
            }
        });
    }

    /** The visitor of a scan, which keeps compactions away, would wait for one. */
    @Test
    void aVisitorThatFindsNoSpaceEnds() {
        assertTimeoutPreemptively(BOUND, () -> {
            List<Throwable> told = new CopyOnWriteArrayList<>();
            try (MemoryDevice device = new MemoryDevice(PAGE, 512, 32, CAPACITY);
                    BoundedHistory history = new BoundedHistory(false);
                    FarStore store = how().device(device)
                            .writePatience(Duration.ofMillis(1))
                            .onMaintenanceFailure(told::add)
                            .open();
                    StoreSession session = store.openSession()) {
                long[] next = {0};
                for (; next[0] < 40; next[0]++) {
                    assertEquals(StoreStatus.DONE, history.put(session, next[0]));
                }
                store.scan((memory, key, keyBytes, value, valueBytes) -> {
                    int outcome;
                    while ((outcome = history.put(session, next[0])) == StoreStatus.DONE) {
                        next[0]++;
                    }
                    assertEquals(StoreStatus.NO_SPACE, outcome);
                    return false;
                });
                // The round's verdict is there before its reason is.
                Wait.until(
                        () -> told.stream().anyMatch(each -> each.getMessage().contains("end the scan")),
                        30_000_000_000L,
                        "no reason that names the scan");
                free(session, history, 0.5);
                history.checkBelow(session, putUntilDone(session, history, next[0]));
            }
        });
    }

    /** All of the log is in memory when there is no room: what is dead there is given back, too. */
    @Test
    void deadRecordsInMemoryMakeRoom() {
        assertTimeoutPreemptively(BOUND, () -> {
            try (MemoryDevice device = new MemoryDevice(PAGE, 512, 32, CAPACITY);
                    BoundedHistory history = new BoundedHistory(false);
                    FarStore store = how().device(device)
                            .memory(usablePages(device) * PAGE)
                            .mutableShare(0)
                            .open();
                    StoreSession session = store.openSession()) {
                for (int i = 0; i < 4 * PAGES * RECORDS_A_PAGE; i++) {
                    assertEquals(StoreStatus.DONE, history.put(session, i % (10 * RECORDS_A_PAGE)));
                }
                history.checkBelow(session, 10 * RECORDS_A_PAGE);
            }
        });
    }

    /** Updates that are pending and have no room would keep the checkpoint from being made that the room depends on. */
    @Test
    void pendingUpdatesAreNotInTheWayOfTheirRoom() {
        assertTimeoutPreemptively(BOUND, () -> {
            try (MemoryDevice device = new MemoryDevice(SEGMENT, 512);
                    BoundedHistory history = new BoundedHistory(false);
                    FarStore store = how().device(device)
                            .files(new MemoryFiles())
                            .mutableShare(0)
                            .patience(Duration.ofDays(1))
                            .spaceLimit(2 * PAGES * PAGE)
                            .open();
                    StoreSession session = store.openSession()) {
                int keys = 20 * RECORDS_A_PAGE;
                for (long key = 0; key < keys; key++) {
                    assertEquals(StoreStatus.DONE, history.put(session, key));
                }
                for (int i = 0; i < 4 * keys; i++) {
                    assertEquals(StoreStatus.DONE, history.replace(session, random.nextInt(keys)));
                }
                history.checkBelow(session, keys);
            }
        });
    }

    /** A map's call waits for room that the store, which is being closed, makes no more. */
    @Test
    void aCallThatWaitsForRoomEndsWithTheStore() {
        assertTimeoutPreemptively(BOUND, () -> {
            AtomicBoolean waits = new AtomicBoolean();
            try (MemoryDevice device = new MemoryDevice(PAGE, 512, 32, CAPACITY)) {
                FarStore store =
                        how().device(device).records(8, 8).expectedKeys(1 << 14).open();
                ConcurrentMap<Long, Long> map = store.asMap(Codec.LONG, Codec.LONG);
                AtomicReference<Throwable> end = new AtomicReference<>();
                map.put(-1L, 0L);
                Thread scanning = Thread.ofPlatform()
                        .start(() -> store.scan((memory, key, keyBytes, value, bytes) -> {
                            try {
                                for (long i = 0; ; i++) {
                                    waits.set(store.bytes().space() > CAPACITY / 2);
                                    map.put(i, i);
                                }
                            } catch (StoreException | IllegalStateException e) {
                                end.set(e);
                            }
                            return false;
                        }));
                while (!waits.get()) {
                    Thread.onSpinWait();
                }
                store.close();
                scanning.join();
                // The call waited for room, or the next one found the store closed.
                assertTrue(
                        end.get() instanceof IllegalStateException
                                || end.get() instanceof StoreException full && full.status() == StoreStatus.NO_SPACE,
                        () -> String.valueOf(end.get()));
            }
        });
    }

    @Test
    void aLimitIsRefusedThatTheReserveUsesUp() {
        try (MemoryDevice device = new MemoryDevice(1 << 20, 512)) {
            String message = assertThrows(
                            IllegalArgumentException.class,
                            () -> how().device(device).spaceLimit(1 << 20).open())
                    .getMessage();
            assertTrue(message.contains("1048576") && message.contains("raise the limit"), message);
        }
    }

    @Test
    void aLimitBelowTheLogIsRefused() {
        MemoryFiles files = new MemoryFiles();
        try (MemoryDevice device = new MemoryDevice(PAGE, 512);
                BoundedHistory history = new BoundedHistory(false)) {
            long next = 0;
            try (FarStore store = how().device(device).files(files).open();
                    StoreSession session = store.openSession(BoundedHistory.NAME)) {
                while (store.logBytes() < PAGES * PAGE) {
                    assertEquals(StoreStatus.DONE, history.put(session, next++));
                }
            }
            FarStoreBuilder low = how().device(device).files(files).spaceLimit(40 * PAGE);
            String message = assertThrows(StoreException.class, low::open).getMessage();
            assertTrue(message.contains("163840") && message.contains("lower the limit"), message);
            // It was not changed.
            try (FarStore store = how().device(device)
                            .files(files)
                            .spaceLimit((PAGES + 8) * PAGE)
                            .open();
                    StoreSession session = store.openSession(BoundedHistory.NAME)) {
                history.checkBelow(session, next);
                free(session, history, 0.1);
                next = putUntilDone(session, history, next);
                history.checkBelow(session, next);
            }
        }
    }
}
