package io.farheap.store;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.store.checkpoint.MemoryFiles;
import io.farheap.store.contract.StoreCompletion;
import io.farheap.store.contract.StoreException;
import io.farheap.store.contract.StoreStatus;
import io.farheap.store.log.LogThread;
import io.farheap.store.maintain.Compactor;
import io.farheap.store.operation.StoreContext;
import io.farheap.store.session.SessionOptions;
import io.farheap.testing.TestDevice;
import io.farheap.tier.Fault;
import io.farheap.tier.MemoryDevice;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** A store on a device of bounded capacity, which would write the oldest part of the log over. */
class CapacityTest {

    private static final int PAGE = 4096;
    private static final int PAGES = 64;
    private static final int RECORDS_A_PAGE = PAGE / 24;
    /** Bytes of a value: three records of this size leave no room in a page. */
    private static final int THIRD = 1300;

    /** A test that hangs fails after this time. */
    private static final Duration BOUND = Duration.ofNanos(TestDevice.patience(60_000_000_000L));

    private final MemoryDevice device = new MemoryDevice(PAGE, 512, 32, PAGES * (long) PAGE);
    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory = arena.allocate(8, 8);

    @AfterEach
    void close() {
        arena.close();
        device.close();
    }

    private FarStoreBuilder how() {
        return FarStore.builder().device(device).pageBytes(PAGE).memory(8 * PAGE);
    }

    private int put(StoreSession session, long key, long value) {
        memory.set(JAVA_LONG_UNALIGNED, 0, value);
        int outcome;
        while ((outcome = session.upsert(key, memory, 0, 8)) == StoreStatus.FULL) {
            Calls.goOn(session);
        }
        return outcome;
    }

    /** Stores keys, each with its number, until one finds no space. @return that key */
    private long putUntilFull(StoreSession session, long first) {
        long key = first;
        int outcome;
        while ((outcome = put(session, key, key)) == StoreStatus.DONE) {
            key++;
        }
        assertEquals(StoreStatus.NO_SPACE, outcome);
        return key;
    }

    private void assertHas(StoreSession session, long key, long value) {
        assertEquals(8, new BlockingStoreSession(session).read(key, memory, 0, 8), "key " + key);
        assertEquals(value, memory.get(JAVA_LONG_UNALIGNED, 0), "key " + key);
    }

    @Test
    void aLogWithoutALimitIsCompactedAndLosesNothing() {
        assertTimeoutPreemptively(BOUND, () -> {
            int keys = 10 * RECORDS_A_PAGE;
            try (FarStore store = how().open();
                    StoreSession session = store.openSession()) {
                long done = 0;
                while (done < 3L * PAGES * RECORDS_A_PAGE) {
                    assertEquals(StoreStatus.DONE, put(session, done % keys, done));
                    done++;
                }
                for (long value = done - keys; value < done; value++) {
                    assertHas(session, value % keys, value);
                }
                assertTrue(store.failure().isEmpty());
                done = putUntilFull(session, done);
                assertTrue(store.spaceBytes() <= PAGES * (long) PAGE, store.spaceBytes() + " bytes");
                for (long value = 3L * PAGES * RECORDS_A_PAGE; value < done; value++) {
                    assertHas(session, value, value);
                }
            }
        });
    }

    /** An operation that finds no place among the pending ones is refused as FULL, also if the log has no room. */
    @Test
    void aSessionWithoutAPlaceIsFullAndNotFailed() {
        assertTimeoutPreemptively(BOUND, () -> {
            try (FarStore store = how().pending(2).open();
                    StoreSession session = store.openSession()) {
                long done = 0;
                done = putUntilFull(session, done);
                List<Integer> ends = new ArrayList<>();
                StoreCompletion completion = (token, status, bytes) -> ends.add(status);
                device.faults().hold();
                // A compaction may have copied some keys to the tail, which is in memory.
                long onDevice = -1;
                for (long key = 0; session.pending() < 2; key++) {
                    boolean pending = session.read(key, memory, 0, 8, completion, 0) == StoreStatus.PENDING;
                    onDevice = pending ? key : onDevice;
                }
                int outcome = session.update(onDevice, Values.ADD, 1, completion, 0);
                device.faults().letGo();
                session.drain();
                assertEquals(StoreStatus.FULL, outcome);
                assertEquals(Collections.nCopies(2, StoreStatus.DONE), ends);
                // The page of the tail may have a little room.
                putUntilFull(session, done);
            }
        });
    }

    /**
     * A session that writes faster than compactions make room waits for them. The records that stay are in front of the
     * records that are replaced all the time, so each compaction has to copy them first.
     */
    @Test
    void whoWritesFasterThanCompactionsWaitsForThem() {
        assertTimeoutPreemptively(BOUND, () -> {
            int lasting = 20 * RECORDS_A_PAGE;
            int changing = 10 * RECORDS_A_PAGE;
            try (FarStore store = how().spaceLimit(PAGES * (long) PAGE).open();
                    StoreSession session = store.openSession()) {
                for (int key = 0; key < lasting; key++) {
                    assertEquals(StoreStatus.DONE, put(session, key, key));
                }
                long last = 6L * PAGES * RECORDS_A_PAGE;
                for (long value = 0; value < last; value++) {
                    assertEquals(StoreStatus.DONE, put(session, lasting + value % changing, value));
                }
                for (int key = 0; key < lasting; key++) {
                    assertHas(session, key, key);
                }
                for (long value = last - changing; value < last; value++) {
                    assertHas(session, lasting + value % changing, value);
                }
            }
        });
    }

    /** The index has an address that the device no longer has, although no compaction has given it back. */
    @Test
    void aReadOfWhatTheDeviceHasWrittenOverEndsAsLost() {
        assertTimeoutPreemptively(BOUND, () -> {
            try (FarStore store = how().open();
                    StoreSession session = store.openSession()) {
                fill(store, session);
                device.truncate(4 * PAGE);
                List<Integer> ends = new ArrayList<>();
                StoreCompletion completion = (token, status, bytes) -> ends.add(status);
                assertEquals(StoreStatus.PENDING, session.read(1, memory, 0, 8, completion, 0));
                assertEquals(StoreStatus.PENDING, session.update(2, Values.ADD, 1, completion, 0));
                session.drain();
                assertEquals(List.of(StoreStatus.LOST, StoreStatus.LOST), ends);
                assertThrows(StoreException.class, () -> store.compact(store.logBytes()));
                assertThrows(StoreException.class, () -> store.scan((m, k, kb, v, vb) -> true));
                assertHas(session, 5 * RECORDS_A_PAGE, 5 * RECORDS_A_PAGE);
            }
        });
    }

    /** During the close, a record that the device returns may require another read; it is called back, too. */
    @Test
    void aCloseCallsBackWhatWouldBeReadOnceMore() {
        assertTimeoutPreemptively(BOUND, () -> {
            List<Integer> ends = new ArrayList<>();
            StoreCompletion completion = (token, status, bytes) -> ends.add(status);
            try (FarStore store = how().expectedKeys(1).growingIndex(false).open()) {
                StoreSession session = store.openSession();
                fill(store, session);
                // All keys are in one bucket, so a key is behind many others in its chain, or the compaction below has
                // removed it when its read ends.
                for (long key = 0; key < 8; key++) {
                    assertEquals(StoreStatus.PENDING, session.read(key, memory, 0, 8, completion, key));
                    assertEquals(StoreStatus.PENDING, session.update(key, Values.ADD, 1, completion, key));
                }
                store.compact(4 * PAGE);
            }
            assertEquals(16, ends.size());
        });
    }

    /**
     * A compaction that moves a record, and had to read the record before it in the chain, finds no room for the copy,
     * since its pages were used up after it had looked for one. Only this compaction could make room, so it fails
     * instead of waiting.
     */
    @Test
    void aCompactionThatHasUsedUpItsPagesEnds() {
        assertTimeoutPreemptively(BOUND, () -> {
            MemorySegment value = arena.allocate(THIRD);
            try (FarStore store = how().records(8, THIRD)
                            .expectedKeys(1)
                            .growingIndex(false)
                            .onMaintenanceFailure(cause -> {})
                            .open();
                    StoreSession session = store.openSession()) {
                long moved = 1;
                long inFront = moved + 1;
                while (CompactionTest.tag(inFront) != CompactionTest.tag(moved)) {
                    inFront++;
                }
                new BlockingStoreSession(session).upsert(moved, value, 0, THIRD);
                long last = inFront;
                while (store.logBytes() < 2 * PAGE) {
                    last = otherThan(moved, last);
                    new BlockingStoreSession(session).upsert(last, value, 0, THIRD);
                }
                new BlockingStoreSession(session).upsert(inFront, value, 0, THIRD);
                while (store.logBytes() < 20 * PAGE) {
                    last = otherThan(moved, last);
                    new BlockingStoreSession(session).upsert(last, value, 0, THIRD);
                }
                long next = last + 1;
                AtomicBoolean looked = new AtomicBoolean();
                device.faults().inject((kind, address, length) -> {
                    if (kind == Fault.Kind.READ && length == PAGE && looked.compareAndSet(false, true)) {
                        useUpSpare(store, next, value);
                    }
                    return Fault.NONE;
                });
                assertThrows(StoreException.class, () -> store.compact(PAGE));
                assertEquals(THIRD, new BlockingStoreSession(session).read(moved, value, 0, THIRD));
                assertTrue(store.failure().isEmpty());
            }
        });
    }

    /**
     * A copy is refused while a checkpoint lets no session change anything, and the compaction has no page but the one
     * that it is in: there is room for the copy.
     */
    @Test
    void aCopyInTheLastPageWaitsForACheckpoint() {
        assertTimeoutPreemptively(BOUND, () -> {
            MemorySegment value = arena.allocate(THIRD);
            try (FarStore store = how().records(8, THIRD)
                            .onMaintenanceFailure(cause -> {})
                            .open();
                    StoreSession session = store.openSession()) {
                long[] next = {0};
                while (store.logBytes() < 20 * PAGE) {
                    new BlockingStoreSession(session).upsert(next[0]++, value, 0, THIRD);
                }
                StoreContext parts = (StoreContext) IndexGrowthTest.field(store, "parts");
                int[] calls = {0};
                Compactor.Mover mover = new Compactor.Mover() {
                    @Override
                    public int move(MemorySegment page, long record, long address, StoreCompletion completion) {
                        if (calls[0]++ > 0) {
                            return StoreStatus.NOT_FOUND;
                        }
                        useUpSpare(store, next[0], value);
                        assertFalse(parts.log().hasSpare());
                        return StoreStatus.FULL;
                    }

                    @Override
                    public boolean poll() {
                        return false;
                    }

                    @Override
                    public void drain() {}
                };
                Lock compacting = ((ReadWriteLock) IndexGrowthTest.field(store, "compacting")).writeLock();
                compacting.lock();
                try {
                    new Compactor(parts, () -> {}, 0).run(mover, PAGE, null);
                } finally {
                    compacting.unlock();
                }
                assertEquals(4, calls[0]);
                assertEquals(PAGE, parts.log().marks.begin());
            }
        });
    }

    private static long otherThan(long key, long last) {
        long next = last + 1;
        while (CompactionTest.tag(next) == CompactionTest.tag(key)) {
            next++;
        }
        return next;
    }

    /** Uses up the spare pages, like a compaction whose copies are useless because other sessions were faster. */
    private static void useUpSpare(FarStore store, long first, MemorySegment value) {
        StoreContext parts;
        LogThread logThread;
        SessionOptions options;
        try {
            parts = (StoreContext) IndexGrowthTest.field(store, "parts");
            logThread = (LogThread) IndexGrowthTest.field(store, "logThread");
            options = (SessionOptions) IndexGrowthTest.field(store, "options");
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
        try (StoreSession spare = new StoreSession("", 0, ended -> {}, parts, logThread, options.forCompaction())) {
            long key = first;
            while (spare.upsert(key++, value, 0, THIRD) == StoreStatus.DONE
                    || parts.log().hasSpare()) {
                spare.awaitProgress();
            }
        }
    }

    private void fill(FarStore store, StoreSession session) {
        for (long key = 0; store.logBytes() < 20 * PAGE; key++) {
            assertEquals(StoreStatus.DONE, put(session, key, key));
        }
    }

    @Test
    void whatCannotBeKeptIsRefused() {
        String capacity = Long.toString(PAGES * (long) PAGE);
        refused(capacity, () -> how().spaceLimit((PAGES + 1) * (long) PAGE).open());
        refused(capacity, () -> how().memory(PAGES * (long) PAGE).open());
        refused("put it above a file", () -> how().files(new MemoryFiles()).open());
        refused("outlives the process", () -> how().directory(Path.of("nowhere"))
                .open());
    }

    private static void refused(String part, Executable open) {
        String message = assertThrows(RuntimeException.class, open).getMessage();
        assertTrue(message.contains(part), message);
    }
}
