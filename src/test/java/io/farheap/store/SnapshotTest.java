package io.farheap.store;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.store.checkpoint.MemoryFiles;
import io.farheap.store.checkpoint.SnapshotFiles;
import io.farheap.store.checkpoint.StableFiles;
import io.farheap.store.contract.CheckpointKind;
import io.farheap.store.format.StoreRecord;
import io.farheap.store.log.HybridLog;
import io.farheap.tier.Fault;
import io.farheap.tier.MemoryDevice;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The files that checkpoints write besides the log: snapshots of the mutable part, and images of the index. */
class SnapshotTest {

    private static final int PAGE = 1 << 14;
    private static final int KEYS = 4 * PAGE / 24;

    private final MemoryFiles files = new MemoryFiles();
    private final MemoryDevice device = new MemoryDevice(1 << 16, 512);
    private final Arena arena = Arena.ofConfined();
    private final MemorySegment memory = arena.allocate(8);

    @AfterEach
    void close() {
        arena.close();
        device.close();
    }

    private FarStoreBuilder how(CheckpointKind kind) {
        return FarStore.builder()
                .device(device)
                .pageBytes(PAGE)
                .memory(8 * PAGE)
                .mutableShare(1)
                .expectedKeys(KEYS)
                .checkpoints(kind)
                .checkpointOnClose(false)
                .files(files);
    }

    private void put(StoreSession session, long key, long value) {
        memory.set(JAVA_LONG_UNALIGNED, 0, value);
        new BlockingStoreSession(session).upsert(key, memory, 0, 8);
    }

    private void assertHas(StoreSession session, long key, long value) {
        assertEquals(8, new BlockingStoreSession(session).read(key, memory, 0, 8), "key " + key);
        assertEquals(value, memory.get(JAVA_LONG_UNALIGNED, 0), "key " + key);
    }

    private Set<String> names(String prefix) {
        Set<String> names = new TreeSet<>(files.files.keySet());
        names.removeIf(name -> !name.startsWith(prefix));
        return names;
    }

    private long bytes(String name) {
        return files.files.get(name).length;
    }

    /**
     * Records that are updated in place after a snapshot are recovered as the snapshot has them, and the updates do not
     * make the log grow.
     */
    @Test
    void whatIsUpdatedInPlaceIsAsItWas() {
        try (FarStore store = how(CheckpointKind.SNAPSHOT).open();
                StoreSession session = store.openSession("a")) {
            for (int key = 0; key < KEYS; key++) {
                put(session, key, key);
            }
            new BlockingStoreSession(session).delete(3);
            store.checkpoint();
            long log = store.logBytes();
            for (int key = 4; key < KEYS; key++) {
                put(session, key, -key);
            }
            new BlockingStoreSession(session).delete(5);
            // Only an update during a checkpoint copies its record, and there was none.
            assertEquals(log, store.logBytes());
            // The pages are evicted with the new values, so the device has another state of them than the snapshot.
            for (int key = KEYS; key < 5 * KEYS; key++) {
                put(session, key, key);
            }
            assertHas(session, 7, -7);
        }
        try (FarStore store = how(CheckpointKind.SNAPSHOT).open();
                StoreSession session = store.openSession("a")) {
            assertEquals(KEYS + 1, session.serial());
            for (int key = 0; key < KEYS; key++) {
                if (key != 3) {
                    assertHas(session, key, key);
                }
            }
            assertEquals(-1, new BlockingStoreSession(session).read(3, memory, 0, 8));
            assertEquals(-1, new BlockingStoreSession(session).read(KEYS, memory, 0, 8));
            put(session, 1, 100);
            store.checkpoint();
        }
        try (FarStore store = how(CheckpointKind.FOLD_OVER).open();
                StoreSession session = store.openSession("a")) {
            assertHas(session, 1, 100);
            assertHas(session, 2, 2);
        }
    }

    /** A record has its version modulo 4,096, so a record that is that many versions old looks like a new one. */
    @Test
    void anOldRecordThatIsUpdatedMeanwhileIsAsItWas() {
        int page = 4096;
        int keys = 3 * page / 24;
        long updated = keys - 2;
        AtomicReference<Runnable> onWrite = new AtomicReference<>();
        StableFiles watched = watched(onWrite);
        FarStoreBuilder how =
                how(CheckpointKind.SNAPSHOT).pageBytes(page).memory(8 * page).files(watched);
        try (FarStore store = how.open();
                StoreSession session = store.openSession("a");
                StoreSession other = store.openSession("b")) {
            for (int key = 0; key < keys; key++) {
                put(session, key, key);
            }
            for (int i = 0; i < StoreRecord.VERSION; i++) {
                store.checkpoint();
            }
            // With this new record the snapshot has something to copy, whatever the device has.
            put(session, keys, keys);
            AtomicInteger updates = new AtomicInteger();
            onWrite.set(() -> {
                if (updates.getAndIncrement() == 0) {
                    put(other, updated, -1);
                }
            });
            assertEquals(StoreRecord.VERSION + 1, store.checkpoint());
            onWrite.set(null);
            assertTrue(updates.get() > 0);
            assertHas(session, updated, -1);
        }
        try (FarStore store = how.open();
                StoreSession session = store.openSession("a");
                StoreSession other = store.openSession("b")) {
            assertEquals(keys + 1, session.serial());
            assertEquals(0, other.serial());
            for (int key = 0; key <= keys; key++) {
                assertHas(session, key, key);
            }
        }
    }

    /** @return files that run something before each part of a snapshot is written */
    private StableFiles watched(AtomicReference<Runnable> onWrite) {
        return new StableFiles() {
            @Override
            public Output create(String name) throws IOException {
                Output output = files.create(name);
                if (!name.startsWith("snapshot-")) {
                    return output;
                }
                return new Output() {
                    @Override
                    public void write(ByteBuffer bytes) throws IOException {
                        Runnable now = onWrite.get();
                        if (now != null) {
                            now.run();
                        }
                        output.write(bytes);
                    }

                    @Override
                    public void commit() throws IOException {
                        output.commit();
                    }

                    @Override
                    public void close() throws IOException {
                        output.close();
                    }
                };
            }

            @Override
            public Input open(String name) throws IOException {
                return files.open(name);
            }

            @Override
            public List<String> names() {
                return files.names();
            }

            @Override
            public void rename(String from, String to) {
                files.rename(from, to);
            }

            @Override
            public void delete(String name) {
                files.delete(name);
            }
        };
    }

    @Test
    void anIncrementalOneHasTheBlocksThatHaveChanged() {
        try (FarStore store = how(CheckpointKind.INCREMENTAL).open();
                StoreSession session = store.openSession("a")) {
            for (int key = 0; key < KEYS; key++) {
                put(session, key, key);
            }
            store.checkpoint();
            assertEquals(store.logBytes(), bytes("snapshot-1"));
            // One record is in the first block of the log, and the other in a block in the middle.
            put(session, 0, 1_000);
            put(session, KEYS / 2, 2_000);
            store.checkpoint();
            assertEquals(2 * SnapshotFiles.BLOCK - HybridLog.FIRST, bytes("snapshot-2"), "blocks of two records");
            // Nothing has changed since, so the checkpoint writes no snapshot.
            store.checkpoint();
            assertEquals(Set.of("snapshot-1", "snapshot-2"), names("snapshot"));
            new BlockingStoreSession(session).delete(KEYS - 1);
            new BlockingStoreSession(session).update(1, Values.ADD, 5);
            store.checkpoint();
            assertEquals(Set.of("snapshot-1", "snapshot-2", "snapshot-4"), names("snapshot"));
            assertEquals(4, store.checkpoints());
            assertEquals(bytes("snapshot-1") + bytes("snapshot-2") + bytes("snapshot-4"), store.checkpointBytes());
        }
        try (FarStore store = how(CheckpointKind.INCREMENTAL).open();
                StoreSession session = store.openSession("a")) {
            assertHas(session, 0, 1_000);
            assertHas(session, 1, 6);
            assertHas(session, 2, 2);
            assertHas(session, KEYS / 2, 2_000);
            assertEquals(-1, new BlockingStoreSession(session).read(KEYS - 1, memory, 0, 8));
            store.checkpoint();
            store.checkpoint();
            // The log on the device has all records now, so the snapshots are deleted.
            assertEquals(Set.of(), names("snapshot"));
        }
    }

    /** However many checkpoints are made, the snapshots' files have at most a few times the bytes of a full one. */
    @Test
    void snapshotsAreWrittenAnewWhenTheirFilesHaveTooMuch() {
        try (FarStore store = how(CheckpointKind.INCREMENTAL).open();
                StoreSession session = store.openSession("a")) {
            for (int key = 0; key < KEYS; key++) {
                put(session, key, key);
            }
            // Each round begins a block later than the one before, so one block of the file before stays in use.
            for (int round = 0; round < 60; round++) {
                for (int key = round % 15 * SnapshotFiles.BLOCK / 24; key < KEYS; key += 50) {
                    put(session, key, round);
                }
                store.checkpoint();
                long all = names("snapshot").stream().mapToLong(this::bytes).sum();
                assertTrue(all <= 4 * store.logBytes(), all + " bytes in " + names("snapshot"));
            }
            assertFalse(names("snapshot").contains("snapshot-1"));
        }
    }

    @Test
    void aDamagedSnapshotGivesWayToTheOneBefore() {
        try (FarStore store = how(CheckpointKind.SNAPSHOT).open();
                StoreSession session = store.openSession("a")) {
            put(session, 1, 10);
            store.checkpoint();
            put(session, 1, 20);
            store.checkpoint();
        }
        files.files.get("snapshot-2")[17] ^= 1;
        try (FarStore store = how(CheckpointKind.SNAPSHOT).open();
                StoreSession session = store.openSession("a")) {
            assertEquals(
                    "checkpoint 2 cannot be used: snapshot-2 has another checksum at 0; checkpoint 1 is recovered, and newer"
                            + " ones are set aside, in files whose names end with .damaged",
                    store.recovery());
            assertHas(session, 1, 10);
        }
        files.rename("checkpoint-2.damaged", "checkpoint-2");
        assertNotNull(files.files.remove("snapshot-2.damaged"));
        try (FarStore store = how(CheckpointKind.SNAPSHOT).open()) {
            assertTrue(store.recovery().contains("snapshot-2 cannot be read"), store.recovery());
        }
    }

    /** With an image of the index, recovery does not read the part of the log before it. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void anImageOfTheIndexSavesReading(boolean image) {
        // The index is large enough not to grow: a checkpoint writes no image of an index that is growing.
        FarStoreBuilder how =
                how(CheckpointKind.FOLD_OVER).indexInCheckpoints(image).expectedKeys(64L * KEYS);
        try (FarStore store = how.open();
                StoreSession session = store.openSession("a")) {
            for (int key = 0; key < 4 * KEYS; key++) {
                put(session, key, key);
            }
            store.checkpoint();
            put(session, 1, 100);
            store.checkpoint();
        }
        AtomicLong read = new AtomicLong();
        device.faults().inject((kind, address, length) -> {
            read.addAndGet(kind == Fault.Kind.READ ? length : 0);
            return Fault.NONE;
        });
        try (FarStore store = how.open();
                StoreSession session = store.openSession("a")) {
            assertEquals("checkpoint 2 is recovered", store.recovery());
            long log = store.logBytes();
            assertTrue(image ? read.get() <= 2 * PAGE : read.get() > log / 2, read.get() + " bytes of " + log);
            for (int key = 0; key < 4 * KEYS; key++) {
                assertHas(session, key, key == 1 ? 100 : key);
            }
        }
    }

    @Test
    void aDamagedImageOfTheIndexIsReplacedByTheLog() {
        FarStoreBuilder how = how(CheckpointKind.SNAPSHOT).indexInCheckpoints(true);
        try (FarStore store = how.open();
                StoreSession session = store.openSession("a")) {
            for (int key = 0; key < KEYS; key++) {
                put(session, key, key);
            }
            store.checkpoint();
            assertTrue(bytes("index-1") > 0);
        }
        files.files.get("index-1")[40] ^= 1;
        try (FarStore store = how.open();
                StoreSession session = store.openSession("a")) {
            assertEquals(
                    "checkpoint 1 is recovered, its index from the log: index-1 has another checksum",
                    store.recovery());
            for (int key = 0; key < KEYS; key++) {
                assertHas(session, key, key);
            }
        }
    }
}
